"""Gate 0, is the test meaningful: what each check must catch, and what it must let through."""

from __future__ import annotations

from typing import Any

import fabricate
import numpy as np
import pytest
from fabricate import arrays_of, changed, evidence, failing, measure, told

from likewise import find
from likewise.prove.evidence import Evidence
from likewise.prove.verdict import judge
from likewise.types import Run


@pytest.mark.parametrize("name", find.names("prove/checks"))
def test_a_check_says_its_gate_and_returns_measures(name: str) -> None:
    module = find.load("prove/checks", name)
    assert module.gate in ("G0", "G1", "G2", "G3", "G4", "shown")
    measures = module.check(evidence())
    assert all(m.holds is True for m in measures if m.limit is not None)
    assert all((m.limit is None) == (m.source == "") for m in measures)


@pytest.mark.parametrize(
    "loading",
    [
        {**fabricate.LOADING, "missing": ["classifier.weight"]},
        {**fabricate.LOADING, "unexpected": ["lora.A"]},
        {**fabricate.LOADING, "checked": 1},
        {**fabricate.LOADING, "sha256": "other"},
        None,
    ],
    ids=["missing", "unexpected", "changed", "drawn at random", "unsaid"],
)
@pytest.mark.parametrize("side", ["truth", "yardstick"])
def test_a_reference_that_did_not_load_the_checkpoint_decides_nothing(
    loading: dict[str, Any] | None, side: str
) -> None:
    verdict = judge(told(evidence(), side, loading=loading))
    assert verdict.outcome == "undecided"
    assert {m.check for m in verdict.measures if m.limit is not None and m.holds is None} == {
        "load"
    }


def test_a_candidate_with_a_missing_tensor_is_outside() -> None:
    loading = {**fabricate.LOADING, "missing": ["encoder.layer.1.output"]}
    verdict = judge(told(evidence(), "candidate", loading=loading))
    assert verdict.outcome == "outside"
    assert "encoder.layer.1.output" in verdict.reasons[0]


def test_a_candidate_made_from_another_checkpoint_is_outside() -> None:
    loading = {**fabricate.LOADING, "sha256": "an older one"}
    verdict = judge(told(evidence(), "candidate", loading=loading))
    assert verdict.outcome == "outside"
    assert "other weights" in verdict.reasons[0]


def test_a_reference_that_never_gives_the_same_twice_decides_nothing() -> None:
    verdict = judge(told(evidence(), "yardstick", repeat_equal=False))
    assert verdict.outcome == "undecided"
    assert "random" in verdict.reasons[0]


@pytest.mark.parametrize(
    "facts",
    [
        {"device": "cuda:0"},
        {"dtype": "bfloat16"},
        {"dtype": "bfloat16 float32"},
        {"engine": "torch"},
        {"device": None},
        {"fallbacks": ["LayerNorm"]},
    ],
    ids=str,
)
def test_a_candidate_that_ran_otherwise_than_planned_is_outside(facts: dict[str, Any]) -> None:
    verdict = judge(told(evidence(), "candidate", **facts))
    assert verdict.outcome == "outside"
    assert set(failing(verdict)) == {"ran"}


def test_a_plan_for_another_device_that_ran_on_the_cpu_is_outside() -> None:
    """Case B093: a perfect score, because it is the reference."""
    made = evidence(plan="torch/npu/float32/b16/t2")
    perfect = changed(made, "candidate", arrays=made.yardstick.arrays)
    verdict = judge(told(perfect, "candidate", device="cpu"))
    assert verdict.outcome == "outside"
    assert "the plan says device npu, what ran says cpu" in verdict.reasons[0]


def test_a_device_with_a_number_is_the_device() -> None:
    made = evidence(plan="torch/npu/float32/b16/t2")
    assert judge(told(made, "candidate", device="npu:0")).outcome == "equal"


def test_the_very_bits_of_the_reference_from_another_engine_are_suspicious() -> None:
    made = evidence()
    verdict = judge(changed(made, "candidate", arrays=made.yardstick.arrays))
    assert verdict.outcome == "undecided"
    assert "every bit" in verdict.reasons[0]


def test_a_reference_in_another_precision_than_it_claims_decides_nothing() -> None:
    verdict = judge(told(evidence(), "yardstick", dtype="float16"))
    assert verdict.outcome == "undecided"


def test_token_ids_that_transformers_reads_otherwise_leave_it_undecided() -> None:
    said = {"n": 131, "unlike": ["Naïve Café"], "count": 3, "missing": ""}
    verdict = judge(told(evidence(), "yardstick", token_ids=said))
    assert verdict.outcome == "undecided"
    assert "3 texts have other token ids in transformers" in verdict.reasons[0]
    assert "Naïve Café" in verdict.reasons[0]


def test_a_tokenizer_that_transformers_cannot_read_is_said_and_decides_nothing() -> None:
    said = {"n": 0, "unlike": [], "count": 0, "missing": "transformers cannot read it: ValueError"}
    verdict = judge(told(evidence(), "yardstick", token_ids=said))
    assert verdict.passes
    assert measure(verdict, "token_ids").reason == said["missing"]


def test_other_items_are_not_compared() -> None:
    verdict = judge(changed(evidence(), "candidate", items_fingerprint="other"))
    assert verdict.outcome == "outside"
    assert "same items" in verdict.reasons[0]


def test_a_missing_output_is_outside() -> None:
    """Fault M04: outputs matched by intersection."""
    made = evidence()
    only = {"logits": made.candidate.arrays["logits"]}
    verdict = judge(changed(made, "candidate", arrays=only))
    assert verdict.outcome == "outside"
    assert "scores" in verdict.reasons[0]


def test_fewer_rows_are_outside() -> None:
    made = evidence()
    fewer = {n: rows[:-1] for n, rows in made.candidate.arrays.items()}
    made = changed(made, "candidate", arrays=fewer, owners=made.candidate.owners[:-1])
    verdict = judge(made)
    assert verdict.outcome == "outside"
    assert "shapes differ" in verdict.reasons[0]
    assert verdict.errors == ()
    assert "could not be compared" in verdict.absent["errors"]


def test_rows_of_other_items_are_outside() -> None:
    made = evidence()
    owners = made.candidate.owners.copy()
    owners[-1] = 0
    assert judge(changed(made, "candidate", owners=owners)).outcome == "outside"


def test_an_item_cut_shorter_is_outside() -> None:
    made = evidence()
    tokens = made.candidate.tokens.copy()
    tokens[9] = 3
    verdict = judge(changed(made, "candidate", tokens=tokens))
    assert verdict.outcome == "outside"
    assert "item 9 has 3 tokens where the reference has 7" in verdict.reasons[0]


def test_fewer_answers_than_items_are_outside() -> None:
    made = evidence()
    verdict = judge(changed(made, "candidate", answers=made.candidate.answers[:-1]))
    assert "255 answers for 256 items" in verdict.reasons[0]


def test_an_answer_of_another_item_is_outside() -> None:
    made = evidence()
    swapped = list(made.candidate.answers)
    swapped[4], swapped[5] = swapped[5], swapped[4]
    verdict = judge(changed(made, "candidate", answers=swapped))
    assert verdict.outcome == "outside"
    assert verdict.reasons[0] == "2 answers are not what the numbers say: item(s) 4, 5"


@pytest.mark.parametrize("activation", ["softmax", "sigmoid", "none", "vector"])
def test_answers_follow_from_the_numbers(activation: str) -> None:
    made = evidence(activation, outputs=4)
    assert measure(judge(made), "answers").holds
    last = [*made.candidate.answers[:-1], made.candidate.answers[0]]
    assert judge(changed(made, "candidate", answers=last)).outcome == "outside"


def test_labels_that_changed_names_only_are_outside() -> None:
    task = {"name": "fabricated", "activation": "softmax"}
    made = told(evidence(), "yardstick", task={**task, "labels": ["L0", "L1", "L2"]})
    made = told(made, "candidate", task={**task, "labels": ["L1", "L0", "L2"]})
    verdict = judge(made)
    assert verdict.outcome == "outside"
    assert "labels is ['L1', 'L0', 'L2']" in verdict.reasons[0]


def nan_rows(made: Evidence, side: str, rows: slice, bad: float = np.nan) -> Evidence:
    arrays = arrays_of(made, side)
    for array in arrays.values():
        array[rows, 0] = bad
    return changed(made, side, arrays=arrays)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("rows", [slice(5, 6), slice(None)], ids=["one row", "all rows"])
def test_a_candidate_that_is_not_finite_is_outside(bad: float, rows: slice) -> None:
    verdict = judge(nan_rows(evidence(), "candidate", rows, bad))
    assert verdict.outcome == "outside"
    assert set(failing(verdict)) == {"finite"}
    assert measure(verdict, "not_finite", "logits").worst_item in (0, 5)
    assert all(e is None or np.isfinite(e) for e in verdict.errors)


@pytest.mark.parametrize("side", ["truth", "yardstick"])
def test_a_reference_that_is_not_finite_is_undecided(side: str) -> None:
    verdict = judge(nan_rows(evidence(), side, slice(4, 5)))
    assert verdict.outcome == "undecided"
    assert "NaN or infinity" in verdict.reasons[0]


@pytest.mark.parametrize("rows", [slice(8, 9), slice(None)], ids=["one row", "all rows"])
def test_nan_on_both_sides_is_undecided_and_reported(rows: slice) -> None:
    """Case B100."""
    made = nan_rows(nan_rows(evidence(), "yardstick", rows), "candidate", rows)
    verdict = judge(made)
    assert verdict.outcome == "undecided"
    assert "item(s)" in verdict.reasons[0]


def test_ten_items_are_too_few() -> None:
    verdict = judge(evidence(items=10, truth_items=10))
    assert verdict.outcome == "undecided"
    assert "only 10 items" in verdict.reasons[0]


@pytest.mark.parametrize("scatter", [0.0, 1e-7])
def test_outputs_that_are_all_alike_do_not_separate(scatter: float) -> None:
    """A mix-up of equal answers cannot be seen; the same constant on both sides is no proof."""
    made = evidence()
    random = np.random.default_rng(5)
    for side in ("truth", "yardstick", "candidate"):
        run: Run = getattr(made, side)
        raw = np.tile(np.float32([[1.0, 2.0, -1.0]]), (run.count, 1))
        raw = raw + (scatter * random.standard_normal(raw.shape)).astype(np.float32)
        made = changed(made, side, arrays=fabricate.finish("softmax", raw))
    verdict = judge(made)
    assert verdict.outcome == "undecided"


def test_a_constant_candidate_is_outside() -> None:
    made = evidence()
    constant = {n: np.repeat(rows[:1], 256, axis=0) for n, rows in arrays_of(made).items()}
    assert judge(changed(made, "candidate", arrays=constant)).outcome == "outside"


@pytest.mark.parametrize(
    ("entries", "contract", "holds"),
    [
        ([(2, 0.9)], {"threshold": 0.8}, True),
        ([], {"threshold": 0.95}, True),
        ([], {"threshold": 0.8}, False),
        ([], {}, False),
        ([(1, 0.3), (None, None)], {"targets": ["a", "b"]}, True),
        ([(None, None)], {"targets": ["b"]}, True),
        ([(1, 0.4)], {"targets": ["a"]}, False),
    ],
)
def test_answers_follow_the_numbers_with_thresholds_and_targets_too(entries, contract, holds):
    from likewise.prove.checks.answers import _best_first

    row = np.array([0.1, 0.3, 0.9])
    listed = [{"index": index, "score": score} for index, score in entries]
    assert bool(_best_first(listed, row, contract)) is holds
