"""Kullback-Leibler divergence of a row, from logits or from probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.metrics import divergence


def softmax(logits: np.ndarray) -> np.ndarray:
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def logits(seed: int, rows: int = 30, classes: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((rows, classes)) * 3


@given(seed=st.integers(0, 30), other=st.integers(31, 60))
def test_logits_and_probabilities_agree(seed: int, other: int) -> None:
    ours, theirs = logits(seed), logits(other)
    from_logits = divergence.logit_rows(ours, theirs)
    from_scores = divergence.rows(softmax(ours), softmax(theirs))
    np.testing.assert_allclose(from_logits, from_scores, rtol=1e-9, atol=1e-13)
    assert (from_logits >= 0).all()


def test_a_known_value() -> None:
    ours, theirs = np.array([[0.5, 0.5]]), np.array([[0.9, 0.1]])
    expected = 0.5 * np.log(0.5 / 0.9) + 0.5 * np.log(0.5 / 0.1)
    assert divergence.measure(ours, theirs).value == pytest.approx(expected, rel=1e-12)


def test_rounding_of_the_sum_is_not_divergence() -> None:
    """Probabilities in float32 sum to 1 ± 1e-7; the limit of float32 is 1e-8."""
    exact = softmax(logits(1, 100, 1000))
    rounded = exact.astype(np.float32)
    naive = (exact * np.log(exact / rounded)).sum(axis=1)
    assert np.abs(naive).max() > 1e-9
    assert divergence.rows(exact, rounded).max() < 1e-12


def test_an_honest_underflow_is_not_infinite() -> None:
    exact = np.array([[1.0, 1e-60]])
    assert divergence.rows(exact, exact.astype(np.float32)).max() < 1e-12


def test_a_lost_class_costs_much() -> None:
    assert divergence.rows(np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]]))[0] > 10


def test_saturation_hides_a_logit_error_only_from_probabilities() -> None:
    ours = np.array([[20.0, 0.0, -3.0]])
    theirs = ours + np.array([[0.0, 1.0, 0.0]])
    assert divergence.rows(softmax(ours), softmax(theirs))[0] < 1e-8
    assert divergence.logit_rows(ours, theirs)[0] > 1e-9


def test_independent_labels_are_compared_one_by_one() -> None:
    ours, theirs = np.array([[0.9, 0.5]]), np.array([[0.9, 0.2]])
    expected = 0.5 * np.log(0.5 / 0.2) + 0.5 * np.log(0.5 / 0.8)
    assert divergence.binary_rows(ours, theirs)[0] == pytest.approx(expected, rel=1e-12)


def test_a_nan_is_no_agreement() -> None:
    ours = np.array([[0.5, 0.5], [np.nan, 0.5]])
    assert divergence.measure(ours, ours).value is None
