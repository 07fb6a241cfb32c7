"""Logits become scores, and scores become entries, without losing or inventing anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from likewise.tasks._scores import apply, best, labelled, vectors

ROWS = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 5), st.integers(1, 40)), elements=st.floats(-1e4, 1e4)
)


@given(ROWS)
def test_softmax_is_a_distribution_and_ignores_a_constant(logits: Any) -> None:
    scores = apply("softmax", logits)
    assert scores.min() >= 0
    assert scores.sum(axis=1) == pytest.approx(1)
    assert apply("softmax", logits + 7.0) == pytest.approx(scores, abs=1e-9)


@given(ROWS)
def test_sigmoid_scores_each_label_alone(logits: Any) -> None:
    scores = apply("sigmoid", logits)
    assert ((scores >= 0) & (scores <= 1)).all()
    for column in range(logits.shape[1]):
        alone = apply("sigmoid", logits[:, column : column + 1])
        assert (alone[:, 0] == scores[:, column]).all()


@pytest.mark.parametrize("activation", ["softmax", "sigmoid", "none"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_keep_the_dtype_and_leave_the_logits_alone(activation: str, dtype: type) -> None:
    logits = np.array([[1.0, -2.0, 1000.0], [0.0, 0.0, 0.0]], dtype=dtype)
    before = logits.copy()
    assert apply(activation, logits).dtype == dtype
    assert (logits == before).all()


def test_one_broken_row_does_not_break_its_neighbours() -> None:
    scores = apply("softmax", np.array([[1.0, np.nan], [1.0, 2.0], [np.inf, 0.0]]))
    assert np.isnan(scores[0]).all()
    assert np.isnan(scores[2]).any()
    answers = labelled(scores, str, None)
    assert ["error" in answer for answer in answers] == [True, False, True]
    assert "error" in vectors(np.array([[np.inf, 1.0]]))[0]


@given(ROWS, st.one_of(st.none(), st.integers(-1, 60)))
def test_the_best_are_those_of_a_full_sort(scores: Any, top: int | None) -> None:
    columns = scores.shape[1]
    count = columns if top is None else max(0, min(top, columns))
    order = best(scores, top)
    assert order.shape == (len(scores), count)
    wanted = -np.sort(-scores, axis=1)[:, :count]
    assert (np.take_along_axis(scores, order, axis=1) == wanted).all()
    assert all(len(set(row)) == count for row in order.tolist())


def test_ties_go_by_index() -> None:
    assert best(np.zeros((1, 4)), None).tolist() == [[0, 1, 2, 3]]
    assert best(np.array([[0.1, 0.4, 0.1, 0.4]]), 2).tolist() == [[1, 3]]


def test_B048_top_is_clamped_and_zero_is_honoured() -> None:
    scores = np.array([[0.2, 0.5, 0.3]])
    assert [len(labelled(scores, str, top)[0]["labels"]) for top in (0, 1, 2, 3, 99, None)] == [
        0, 1, 2, 3, 3, 3,
    ]  # fmt: skip
