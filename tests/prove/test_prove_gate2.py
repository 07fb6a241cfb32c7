"""Gate 2, what a person sees: the fault each check must catch, the honest thing it lets through."""

from __future__ import annotations

from dataclasses import replace

import fabricate
import numpy as np
import pytest
from fabricate import arrays_of, changed, evidence, failing, measure, with_arrays

from likewise.metrics._logits import deviations
from likewise.metrics._rows import by_rows
from likewise.prove.choices import near_tie as near_tie_of
from likewise.prove.evidence import Evidence
from likewise.prove.verdict import judge
from likewise.types import Run


def near_tie(gap: float, lead: int) -> Evidence:
    """Item 16: the best two logits ``gap`` apart in the reference; ``lead`` wins in the candidate.

    The candidate moves its logits by no more than the yardstick's own noise.
    """
    made = evidence()
    sides = {}
    for side in ("truth", "yardstick", "candidate"):
        run: Run = getattr(made, side)
        raw = run.arrays["logits"].copy()
        row = made.truth_items.index(16) if side == "truth" else 16
        raw[row] = [1.0, 1.0 - gap, -2.0]
        if side == "candidate" and lead == 1:
            raw[row, :2] = raw[row, 1::-1]
        sides[side] = with_arrays(run, fabricate.finish("softmax", raw))
    return replace(made, **sides)


def test_a_tie_within_noise_that_falls_the_other_way_is_no_flip() -> None:
    """Case B101."""
    verdict = judge(near_tie(1e-7, 1))
    assert verdict.outcome == "equal", verdict.reasons
    assert measure(verdict, "top1_flips").value == 0
    assert measure(verdict, "top1_agreement", "logits").value < 1  # the usual rule objects
    assert measure(verdict, "decisive").value == 255
    assert verdict.decisive == 255


def test_a_flip_beyond_noise_is_outside() -> None:
    verdict = judge(near_tie(1e-3, 1))
    assert verdict.outcome == "outside"
    assert "item 16" in failing(verdict)["flips"]


def lossy(gap: float) -> Evidence:
    """Item 16: the best two logits ``gap`` apart, the other way round in the candidate."""
    made = evidence(plan="onnx/cpu/float16/b16/t2")
    rounded = made.emulated[0].arrays["logits"] - made.yardstick.arrays["logits"]
    row = np.array([1.0, 1.0 - gap, -2.0])
    for side in ("truth", "yardstick", "candidate"):
        raw = arrays_of(made, side)["logits"].copy()
        place = made.truth_items.index(16) if side == "truth" else 16
        raw[place] = row[[1, 0, 2]] if side == "candidate" else row
        made = changed(made, side, arrays=fabricate.finish("softmax", raw))
    raw = made.emulated[0].arrays["logits"].copy()
    raw[16] = row + rounded[16]
    emulation = with_arrays(made.emulated[0], fabricate.finish("softmax", raw))
    return replace(made, emulated=(emulation,))


def test_another_draw_of_lossy_noise_is_no_flip_and_more_than_that_is() -> None:
    """One emulation is one draw: real float16 changed an answer at 1.02 times twice its noise."""
    made = lossy(0.01)
    pairs = made.pairs["logits"]
    tie = float(near_tie_of(made, pairs)[16])
    own = pairs.noise(lambda r, y: by_rows(deviations, r, y))[16]
    assert tie == pytest.approx(6 * own)
    for share, flips in ((0.4, 0), (0.9, 0), (1.1, 1)):
        assert measure(judge(lossy(share * tie)), "top1_flips").value == flips, share


def test_all_logits_equal_is_no_flip() -> None:
    made = evidence()
    for side in ("truth", "yardstick", "candidate"):
        arrays = arrays_of(made, side)
        arrays["logits"][8 // 4 if side == "truth" else 8] = 0.25
        made = changed(made, side, arrays=arrays)
    assert judge(made).outcome == "equal"


def test_the_candidates_own_noise_excuses_nothing() -> None:
    """Fault M05: a noisy candidate must not make its flips look like ties."""
    made = evidence()
    raw = arrays_of(made)["logits"]
    raw += np.random.default_rng(3).standard_normal(raw.shape).astype(np.float32)
    made = changed(made, "candidate", arrays=fabricate.finish("softmax", raw))
    verdict = judge(made)
    assert measure(verdict, "top1_flips").value > 10


def test_the_best_five_of_many_are_held_as_a_set() -> None:
    made = evidence(outputs=200)
    raw = arrays_of(made)["logits"]
    order = np.argsort(-raw[30])
    raw[30, [order[4], order[20]]] = raw[30, [order[20], order[4]]]
    verdict = judge(changed(made, "candidate", arrays=fabricate.finish("softmax", raw)))
    assert measure(verdict, "top1_flips").value == 0
    assert measure(verdict, "top5_flips").value == 1
    assert measure(verdict, "top5_flips").worst_item == 30


def test_a_label_that_crosses_one_half_is_a_flip() -> None:
    made = evidence("sigmoid", outputs=5)
    raw = arrays_of(made)["logits"]
    raw[12, 3] *= -1
    made = changed(made, "candidate", arrays=fabricate.finish("sigmoid", raw))
    flips = measure(judge(made), "label_flips")
    assert (flips.value, flips.worst_item) == (1, 12)


def test_a_logit_error_that_saturation_hides_is_seen() -> None:
    made = evidence()
    for side in ("truth", "yardstick", "candidate"):
        raw = arrays_of(made, side)["logits"] * 1000
        if side == "candidate":
            raw[:, 2] += 1.0
        made = changed(made, side, arrays=fabricate.finish("softmax", raw))
    verdict = judge(made)
    assert measure(verdict, "worst_cosine", "scores").value > 0.99
    assert verdict.outcome == "outside"


def test_a_softer_softmax_diverges() -> None:
    made = evidence()
    raw = arrays_of(made)["logits"] * np.float32(0.9)
    verdict = judge(changed(made, "candidate", arrays=fabricate.finish("softmax", raw)))
    assert measure(verdict, "top1_flips").value == 0
    assert "divergence" in failing(verdict)


@pytest.mark.parametrize("activation", ["sigmoid", "none"])
def test_scores_that_are_off_by_a_little_are_outside(activation: str) -> None:
    made = evidence(activation, outputs=5)
    arrays = arrays_of(made)
    arrays["scores"][20, 1] += 0.01  # the logits are right: only the scores are wrong
    verdict = judge(changed(made, "candidate", arrays=arrays))
    assert verdict.outcome == "outside"
    assert "item 20" in failing(verdict)["scores"]


def test_a_reversed_vector_loses_its_neighbours() -> None:
    made = evidence("vector", outputs=32)
    arrays = arrays_of(made)
    arrays["vector"][50] *= -1
    verdict = judge(changed(made, "candidate", arrays=arrays))
    reasons = failing(verdict)
    assert {"faithful", "neighbours"} <= set(reasons)
    overlap = measure(verdict, "neighbour_overlap")
    assert overlap.worst_item == 50
    assert overlap.value < 1


def test_neighbours_that_are_equally_near_may_change_places() -> None:
    """Twins: two items with the same vector; which of them comes first is chance."""
    made = evidence("vector", outputs=32)
    for side in ("truth", "yardstick", "candidate"):
        rows = arrays_of(made, side)["vector"]
        step = 2 if side != "truth" else 1
        for at in range(0, len(rows) - step, 2 * step):
            rows[at + step] = rows[at]
        made = changed(made, side, arrays={"vector": rows})
    verdict = judge(made)
    assert verdict.outcome in ("equal", "undecided"), verdict.reasons
    assert measure(verdict, "neighbour_overlap").value == 1.0
