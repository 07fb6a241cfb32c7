"""Error as a share of the distance between items."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.metrics import logits_error, spread_error


def drawn(seed: int, rows: int = 200, width: int = 8) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((rows, width))


def test_an_error_as_large_as_the_distance_between_items_is_one() -> None:
    rows = drawn(1)
    swapped = rows.copy()
    swapped[5] = rows.mean(axis=0)  # the error of row 5 is its distance from the mean
    distance = np.linalg.norm(rows - rows.mean(axis=0), axis=1)
    expected = distance[5] / max(distance[5], np.median(distance))
    measure = spread_error.measure(rows, swapped)
    assert measure.value == pytest.approx(expected, rel=1e-12)
    assert measure.worst_item == 5


def test_a_large_common_offset_hides_nothing() -> None:
    """Raw mean-pooled vectors look alike by cosine; their spread does not."""
    rows = drawn(2) * 1e-3 + 100.0
    wrong = rows[::-1]
    cosine = (rows * wrong).sum(1) / np.linalg.norm(rows, axis=1) / np.linalg.norm(wrong, axis=1)
    assert cosine.min() > 0.999_999
    assert spread_error.measure(rows, wrong).value > 1.0


def test_a_row_near_the_mean_does_not_explode() -> None:
    """Case B101: the nearest of 256 scores is 1/250 of the usual distance from the mean."""
    scores = np.random.default_rng(3).standard_normal((256, 1))
    nearest = int(np.abs(scores - scores.mean()).argmin())
    off = scores.copy()
    off[nearest] += 1e-6
    plain = 1e-6 / np.abs(scores - scores.mean())[nearest, 0]
    assert plain > 1e-4  # would break the limit of CPU float32
    assert spread_error.measure(scores, off).value < 2e-6


@given(shift=st.floats(-1e3, 1e3), seed=st.integers(0, 50))
def test_logits_ignore_a_constant_added_to_a_row(shift: float, seed: int) -> None:
    logits = drawn(seed)
    moved = logits + shift
    assert logits_error.measure(logits, moved).value == pytest.approx(0.0, abs=1e-11)
    if abs(shift) > 0.1:
        assert spread_error.measure(logits, moved).value > 0.01


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_number_that_is_none_is_not_compared_well(bad: float) -> None:
    rows = drawn(4)
    wrong = rows.copy()
    wrong[7, 3] = bad
    measure = spread_error.measure(rows, wrong)
    assert measure.value is None
    assert "1 of 200 rows, first row 7" in measure.reason


def test_rows_that_are_all_alike_give_no_number() -> None:
    rows = np.ones((5, 3))
    assert spread_error.measure(rows, rows).value is None


def test_a_vocabulary_is_not_copied_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of any size give the same numbers."""
    rows, wrong = drawn(5, 64, 32), drawn(6, 64, 32)
    whole = spread_error.rows(rows, wrong)
    monkeypatch.setattr("likewise.metrics._rows.CHUNK", 100)
    np.testing.assert_array_equal(spread_error.rows(rows, wrong), whole)
