"""Similarities of vectors: drift, correlation, neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from likewise.metrics import similarity_drift, similarity_pearson
from likewise.metrics._logits import gaps


def vectors(seed: int, rows: int = 60, width: int = 12) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((rows, width))


def test_a_rotation_moves_no_similarity_inside_but_breaks_a_migration() -> None:
    """All vectors turned alike: a search inside the candidate is right, a mixed index is not."""
    rows = vectors(1)
    turn, _ = np.linalg.qr(vectors(2, 12, 12))
    assert similarity_drift.measure(rows, rows @ turn).value > 0.5


def test_a_scale_moves_nothing() -> None:
    rows = vectors(3)
    assert similarity_drift.measure(rows, rows * 3.0).value == pytest.approx(0.0, abs=1e-12)


def test_the_worst_item_is_named() -> None:
    rows = vectors(4)
    wrong = rows.copy()
    wrong[17] *= -1
    measure = similarity_drift.measure(rows, wrong)
    assert measure.worst_item == 17
    assert measure.value == pytest.approx(2.0, abs=0.8)


def test_the_worst_item_is_a_row_of_all_not_of_the_sample() -> None:
    rows = vectors(5, 3000, 4)
    looked_at = similarity_drift.sample(3000)
    assert len(looked_at) <= similarity_drift.MOST_ROWS
    wrong = rows.copy()
    wrong[looked_at[700]] *= -1
    assert similarity_drift.measure(rows, wrong).worst_item == looked_at[700]


def test_a_zero_vector_on_both_sides_is_the_same_but_on_one_side_is_no_number() -> None:
    rows = vectors(6)
    rows[3] = 0.0
    assert similarity_drift.measure(rows, rows).value == pytest.approx(0.0, abs=1e-12)
    wrong = rows.copy()
    wrong[3] = 1.0
    assert similarity_drift.measure(rows, wrong).value is None


def test_nan_on_both_sides_is_no_number() -> None:
    rows = vectors(7)
    rows[3, 0] = np.nan
    assert similarity_drift.measure(rows, rows).value is None
    assert similarity_pearson.measure(rows, rows).value is None


def test_pearson_of_the_same_is_one_and_of_shuffled_is_not() -> None:
    rows = vectors(8)
    assert similarity_pearson.measure(rows, rows).value == pytest.approx(1.0)
    shuffled = rows[np.random.default_rng(9).permutation(len(rows))]
    assert similarity_pearson.measure(rows, shuffled).value < 0.5


def test_two_vectors_have_no_correlation() -> None:
    rows = vectors(10, 2)
    assert similarity_pearson.measure(rows, rows).value is None


def test_gaps_say_how_much_worse_the_chosen_ones_are() -> None:
    ours = np.array([[5.0, 4.0, 3.0, 1.0]])
    assert gaps(ours, ours, 2).tolist() == [[0.0, 0.0]]
    assert gaps(ours, np.array([[5.0, 1.0, 4.0, 0.0]]), 2).tolist() == [[0.0, 1.0]]
    assert gaps(ours, np.array([[4.0, 5.0, 3.0, 0.0]]), 2).tolist() == [[0.0, 0.0]]


def test_a_tie_is_no_gap() -> None:
    ours = np.zeros((1, 4))
    assert gaps(ours, np.array([[0.0, 1.0, 2.0, 3.0]]), 1).tolist() == [[0.0]]
