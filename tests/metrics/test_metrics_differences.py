"""The usual rules' figures: shown beside the verdict."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from likewise.metrics import (
    max_difference,
    max_relative_difference,
    mean_cosine,
    mean_difference,
    mean_relative_difference,
    mean_squared_difference,
    norm_relative_difference,
    relative_mean_difference,
    top1_agreement,
    top5_agreement,
    value_pearson,
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


def test_five_readings_of_an_error_of_one_percent_are_five_numbers() -> None:
    ours = np.array([[1.0, 2.0], [4.0, 0.01]])
    theirs = np.array([[1.0, 2.0], [4.0, 0.02]])
    readings = [
        mean_relative_difference.measure(ours, theirs).value,
        max_relative_difference.measure(ours, theirs).value,
        norm_relative_difference.measure(ours, theirs).value,
        relative_mean_difference.measure(ours, theirs).value,
        1 - mean_cosine.measure(ours, theirs).value,
    ]
    norm = 0.01 / np.sqrt(1 + 4 + 16 + 0.01**2)
    cosine = (16 + 0.0002) / np.sqrt((16 + 0.0001) * (16 + 0.0004))
    assert readings == pytest.approx([0.25, 1.0, norm, 0.01 / 7.01, (1 - cosine) / 2])


def test_a_relative_difference_of_nothing_is_none_and_of_something_from_nothing_no_number() -> None:
    ours = np.array([[0.0, 1.0], [0.0, 1.0]])
    assert mean_relative_difference.measure(ours, ours).value == 0
    moved = np.array([[0.0, 1.0], [1e-9, 1.0]])
    measure = max_relative_difference.measure(ours, moved)
    assert measure.value is None
    assert measure.worst_item == 1


def test_pearson_does_not_see_an_offset_and_a_factor() -> None:
    ours = np.random.default_rng(5).standard_normal((30, 4))
    assert value_pearson.measure(ours, 3 * ours + 7).value == pytest.approx(1.0)
    assert value_pearson.measure(ours, -ours).value == pytest.approx(-1.0)


def test_the_best_five_are_a_set_and_of_five_classes_say_nothing() -> None:
    ours = np.arange(14.0).reshape(2, 7)
    theirs = ours.copy()
    theirs[0, [5, 6]] = theirs[0, [6, 5]]  # another order of the same five
    theirs[1, 0] = 99.0
    assert top5_agreement.measure(ours, theirs).value == 0.5
    few = top5_agreement.measure(ours[:, :5], theirs[:, :5])
    assert few.value is None
    assert "5 classes" in few.reason
