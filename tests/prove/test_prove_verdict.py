"""The outcome follows from the measures, and says why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import fabricate
import numpy as np
import pytest
from fabricate import evidence, failing, measure, with_arrays

from likewise.outcomes import Verdict
from likewise.prove.verdict import judge

CASES = [
    ("softmax", 2),
    ("softmax", 3),
    ("softmax", 200),
    ("sigmoid", 1),
    ("sigmoid", 5),
    ("none", 1),
    ("none", 3),
    ("vector", 32),
]


def spoilt(change: Callable[[np.ndarray], None], activation: str = "softmax") -> fabricate.Spoil:
    """Change the raw output, and finish it as the task would."""

    def spoil(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        raw = arrays["vector" if activation == "vector" else "logits"]
        change(raw)
        return fabricate.finish(activation, raw)

    return spoil


def swap(raw: np.ndarray) -> None:
    raw[[40, 41]] = raw[[41, 40]]


@pytest.mark.parametrize(("activation", "outputs"), CASES)
@pytest.mark.parametrize("seed", range(3))
def test_another_order_of_summation_is_equal(activation: str, outputs: int, seed: int) -> None:
    arrays = {
        name: fabricate.compute(256, outputs, dtype, order=order, seed=seed)
        for name, dtype, order in (
            ("truth", np.float64, 1),
            ("yardstick", np.float32, 1),
            ("candidate", np.float32, -1),
        )
    }
    made = evidence(activation, outputs=outputs)
    arrays["truth"] = arrays["truth"][list(made.truth_items)]
    made = replace(
        made,
        **{
            name: with_arrays(getattr(made, name), fabricate.finish(activation, rows))
            for name, rows in arrays.items()
        },
    )
    verdict = judge(made)
    assert verdict.outcome == "equal", verdict.reasons


@pytest.mark.parametrize(("activation", "outputs"), CASES)
def test_two_answers_that_changed_places_are_outside(activation: str, outputs: int) -> None:
    verdict = judge(evidence(activation, outputs=outputs, spoil=spoilt(swap, activation)))
    assert verdict.outcome == "outside"
    assert "faithful" in failing(verdict)
    assert {w.item for w in verdict.worst[:2]} == {40, 41}


def test_a_better_candidate_is_equal() -> None:
    made = evidence(plan="torch/cpu/float64/b16/t2")
    exact = fabricate.finish("softmax", fabricate.compute(256, 3, np.float64))
    verdict = judge(replace(made, candidate=with_arrays(made.candidate, exact)))
    assert verdict.outcome == "equal"
    assert all(verdict.errors[item] == 0 for item in made.truth_items)


def test_a_verdict_says_what_it_is_made_from() -> None:
    verdict = judge(evidence())
    assert verdict.n == 256
    assert verdict.decisive == 256
    assert 1e-8 < verdict.noise_floor < 1e-6
    assert verdict.reference == "torch/cpu/float64/b1/t2"
    assert verdict.candidate == "onnx/cpu/float32/b16/t2"
    assert len(verdict.errors) == 256
    assert sum(f is not None for f in verdict.floor) == 64
    assert "sample" in verdict.absent["floor"]
    assert verdict.absent.keys() == {"floor"}
    assert all(m.source for m in verdict.measures if m.limit is not None)
    assert all(m.gate and m.check for m in verdict.measures)


def test_the_scope_says_what_was_tried_and_what_follows() -> None:
    scope = judge(evidence()).scope
    assert "256 items (128 chinese, 128 english), in batches of up to 16" in scope
    assert "at least 98.84 %" in scope
    assert "rounding of float32" in scope


def test_nothing_is_signed_for_a_plan_that_is_outside() -> None:
    assert "Nothing can be signed" in judge(evidence(spoil=spoilt(swap))).scope


def test_a_wrong_row_outside_the_sample_of_float64_is_seen() -> None:
    made = evidence()
    item = 101
    assert item not in made.truth_items

    def nudge(raw: np.ndarray) -> None:
        raw[item, 0] += 1e-4

    verdict = judge(evidence(spoil=spoilt(nudge)))
    assert verdict.outcome == "outside"
    assert verdict.worst[0].item == item
    assert f"item {item}" in verdict.reasons[0]


def test_between_the_limits_is_undecided() -> None:
    def nudge(raw: np.ndarray) -> None:
        raw[8, 0] += 1.1e-5  # item 8 has float64; some twenty times the noise

    verdict = judge(evidence(spoil=spoilt(nudge)))
    assert verdict.outcome == "undecided"
    assert 17 < measure(verdict, "amplification_max").value < 30
    assert "more items would tell" in verdict.reasons[0]


def test_a_failure_beats_a_doubt() -> None:
    assert judge(evidence(items=20, truth_items=20)).outcome == "undecided"
    made = evidence(items=20, truth_items=20)
    rolled = {n: np.roll(a, 1, axis=0) for n, a in made.candidate.arrays.items()}
    verdict = judge(replace(made, candidate=with_arrays(made.candidate, rolled)))
    assert verdict.outcome == "outside"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8"])
def test_a_lossy_plan_is_within_never_equal(dtype: str) -> None:
    verdict = judge(evidence(plan=f"onnx/cpu/{dtype}/b16/t2"))
    assert verdict.outcome == "within"
    assert measure(verdict, "amplification_max").value < 1  # it is nearer than its class asks for
    assert "cannot be seen at this precision" in verdict.scope


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8"])
def test_a_lossy_plan_that_is_further_off_than_its_rounding_is_outside(dtype: str) -> None:
    """However small that is beside the budget."""

    def spoil(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        honest = fabricate.coarse(arrays["logits"], dtype, seed=5)
        return fabricate.finish("softmax", arrays["logits"] + 40 * (honest - arrays["logits"]))

    verdict = judge(evidence(plan=f"onnx/cpu/{dtype}/b16/t2", spoil=spoil, budget="relaxed"))
    assert verdict.outcome == "outside"
    assert f"than honest {dtype} is" in verdict.reasons[0]


def test_a_lossy_plan_without_its_emulation_is_undecided() -> None:
    verdict = judge(evidence(plan="onnx/cpu/bfloat16/b16/t2", emulated=()))
    assert verdict.outcome == "undecided"
    assert "what an honest run is off by is not known" in verdict.reasons[0]


def test_a_lossy_plan_over_its_budget_is_outside() -> None:
    def coarse(raw: np.ndarray) -> None:
        raw += 0.2 * np.random.default_rng(1).standard_normal(raw.shape)

    verdict = judge(evidence(plan="onnx/cpu/float16/b16/t2", spoil=spoilt(coarse)))
    assert verdict.outcome == "outside"


def test_too_few_items_for_a_rate_is_undecided_not_outside() -> None:
    verdict = judge(evidence(plan="onnx/cpu/bfloat16/b16/t2", budget="strict"))
    flips = measure(verdict, "top1_flips")
    assert flips.value == pytest.approx(0.0116, abs=1e-4)  # no flip at all in 256
    assert flips.holds is None
    assert verdict.outcome == "undecided"


def test_a_budget_scales_lossy_limits_and_leaves_float32_alone() -> None:
    def limit(plan: str, budget: str) -> float | None:
        return measure(judge(evidence(plan=plan, budget=budget)), "spread_error", "logits").limit

    assert limit("onnx/cpu/float16/b16/t2", "strict") == pytest.approx(0.0475)
    assert limit("onnx/cpu/float16/b16/t2", "relaxed") == pytest.approx(0.19)
    assert limit("onnx/cpu/float32/b16/t2", "relaxed") == pytest.approx(1e-4)


def test_without_float64_the_spread_of_honest_runs_is_the_noise() -> None:
    made = evidence()
    variant = fabricate.run(
        "torch/cpu/float32/b16/t2",
        fabricate.finish("softmax", fabricate.compute(256, 3, np.float32, order=-1)),
    )
    blocked = fabricate.compute(256, 3, np.float32)[:, ::-1].copy()[:, ::-1]
    blocked += np.random.default_rng(2).choice([-1e-7, 1e-7], blocked.shape).astype(np.float32)
    candidate = with_arrays(made.candidate, fabricate.finish("softmax", blocked))
    why = "CPU float64 could not run: no memory"
    honest = replace(
        made,
        truth=None,
        truth_items=(),
        truth_missing=why,
        variants=(variant,),
        candidate=candidate,
    )
    verdict = judge(honest)
    assert verdict.outcome == "equal", verdict.reasons
    assert verdict.reference == "torch/cpu/float32/b1/t2"
    rolled = {n: np.roll(a, 1, axis=0) for n, a in candidate.arrays.items()}
    assert judge(replace(honest, candidate=with_arrays(candidate, rolled))).outcome == "outside"


def test_without_any_noise_floor_nothing_passes() -> None:
    made = replace(evidence(), truth=None, truth_items=(), truth_missing="no memory")
    verdict = judge(made)
    assert verdict.outcome == "undecided"
    assert any("not known" in reason for reason in verdict.reasons)


def test_a_verdict_with_no_check_passed_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("likewise.prove.verdict._checks", list)
    verdict = judge(evidence())
    assert verdict.outcome == "undecided"
    assert "never a pass" in verdict.reasons[0]


def test_a_verdict_has_no_truth_value() -> None:
    verdict: Verdict = judge(evidence())
    with pytest.raises(TypeError, match="passes"):
        bool(verdict)
    assert verdict.passes


def test_an_honest_run_of_several_sets_the_noise_by_the_worst_of_them() -> None:
    """int8 steps are those of a whole batch: alone, an item may be lucky."""
    made = evidence(plan="onnx/cpu/int8/b16/t2")
    one = made.emulated[0]
    rng = np.random.default_rng(3)
    far = {n: a + rng.normal(size=a.shape).astype(a.dtype) for n, a in one.arrays.items()}
    both = replace(made, emulated=(one, with_arrays(one, far)))
    floors = [e.pairs["logits"].floor for e in (made, both)]
    assert (floors[1] > floors[0]).all()
    assert both.pairs["logits"].amplification.max() < made.pairs["logits"].amplification.max()
