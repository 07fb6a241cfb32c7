"""The usual rules' figures: shown beside the verdict."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from likewise.metrics import (
    max_difference,
    mean_difference,
    mean_squared_difference,
    top1_agreement,
)
from likewise.metrics._logits import log_softmax, margins, top


def test_differences_of_known_arrays() -> None:
    ours = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    theirs = np.array([[1.0, 2.5], [3.0, 3.0]], np.float32)
    assert max_difference.measure(ours, theirs).value == 1.0
    assert max_difference.measure(ours, theirs).worst_item == 1
    assert mean_difference.measure(ours, theirs).value == 0.375
    assert mean_squared_difference.measure(ours, theirs).value == 0.3125


def test_float32_rows_are_compared_in_float64() -> None:
    ours = np.full((1, 1), 16_777_216.0, np.float32)
    theirs = np.nextafter(ours, np.float32(np.inf))
    assert max_difference.measure(ours, theirs).value == 2.0


@pytest.mark.parametrize("metric", [max_difference, mean_difference, mean_squared_difference])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_on_both_sides_is_not_zero(metric: ModuleType, bad: float) -> None:
    rows = np.ones((4, 2))
    rows[2] = bad
    measure = metric.measure(rows, rows)
    assert measure.value is None
    assert measure.worst_item == 2


def test_top1_agrees_by_index_only() -> None:
    ours = np.array([[1.0, 2.0], [2.0, 1.0], [np.nan, 1.0]])
    theirs = np.array([[1.0, 9.0], [1.0, 2.0], [np.nan, 1.0]])
    measure = top1_agreement.measure(ours, theirs)
    assert measure.value == pytest.approx(1 / 3)


def test_margins_and_tops() -> None:
    scores = np.array([[0.1, 0.7, 0.2], [0.5, 0.5, 0.0]], np.float32)
    assert margins(scores) == pytest.approx([0.5, 0.0])
    assert top(scores, 2).tolist()[0] == [1, 2]
    assert sorted(top(scores, 9)[1].tolist()) == [0, 1, 2]
    assert np.isinf(margins(scores[:, :1])).all()


def test_log_softmax_does_not_overflow() -> None:
    rows = log_softmax(np.array([[1e4, 0.0, -1e4]]))
    assert rows[0, 0] == 0.0
    assert np.isfinite(rows).all()
