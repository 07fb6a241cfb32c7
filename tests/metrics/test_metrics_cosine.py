"""Cosine between matching rows: the worst row decides."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from likewise.errors import ShapeError
from likewise.metrics import mean_cosine, worst_cosine


def test_one_reversed_row_decides() -> None:
    rows = np.random.default_rng(7).standard_normal((10_000, 16))
    bad = rows.copy()
    bad[613] *= -1
    assert worst_cosine.measure(rows, rows).value == pytest.approx(1.0, abs=1e-12)
    measure = worst_cosine.measure(rows, bad)
    assert measure.value == pytest.approx(-1.0, abs=1e-12)
    assert measure.worst_item == 613


def test_a_mean_hides_the_reversed_row() -> None:
    rows = np.random.default_rng(7).standard_normal((10_000, 16))
    bad = rows.copy()
    bad[613] *= -1
    assert mean_cosine.measure(rows, bad).value == pytest.approx(0.9998, abs=1e-6)


@pytest.mark.parametrize("row", [np.zeros(3), np.full(3, np.nan), np.full(3, np.inf)], ids=str)
@pytest.mark.parametrize("metric", [worst_cosine, mean_cosine])
def test_a_row_with_no_direction_gives_no_number(metric: ModuleType, row: np.ndarray) -> None:
    run = np.vstack([np.ones(3), row])
    measure = metric.measure(run, run)
    assert measure.value is None
    assert "first row 1" in measure.reason
    assert measure.worst_item == 1


def test_float32_would_drift() -> None:
    rows = np.random.default_rng(7).standard_normal((10_000, 384)).astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1)
    with_itself = (rows * rows).sum(axis=1) / (lengths * lengths)
    assert np.abs(with_itself - 1).max() > 1e-7
    assert worst_cosine.measure(rows, rows).value == pytest.approx(1.0, abs=1e-15)


def test_scaling_a_row_changes_nothing() -> None:
    rows = np.random.default_rng(3).standard_normal((20, 5))
    assert worst_cosine.measure(rows, rows * 1e-30).value == pytest.approx(1.0, abs=1e-12)


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ShapeError, match="same items"):
        worst_cosine.measure(np.ones((3, 2)), np.ones((2, 2)))
