"""Two runs' logits or probabilities in; the largest Kullback-Leibler divergence of a row, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.metrics._logits import log_softmax
from likewise.metrics._rows import by_rows, measured

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers
    from likewise.types import Floats, Kind, Measure

kinds: tuple[Kind, ...] = ("distribution",)
better: Literal["lower", "higher"] = "lower"
unit = "nat"

_LEAST = float(np.finfo(np.float32).smallest_subnormal)


def measure(reference: Floats, candidate: Floats) -> Measure:
    """Return the largest KL(reference ‖ candidate) of a row, in nats.

    Args:
        reference: (N, C) probabilities.
        candidate: the same items in the same order.

    Returns:
        0 or more. None where a row is not finite.

    Raises:
        ShapeError: the shapes differ, or N is 0.
    """
    divergences = rows(reference, candidate)
    return measured("divergence", divergences, float(divergences.max()), unit=unit)


def rows(reference: Floats, candidate: Floats) -> Numbers:
    """Return (N,) divergences of probabilities.

    Rows are scaled to sum to 1 in float64 first: sums rounded to float32 alone would put 1e-7
    into a figure whose limit is 1e-8. A probability below float32's smallest number counts as
    that number, so that an honest underflow is not infinite and a lost class still costs 100 nat.
    """
    return by_rows(_divergence, reference, candidate)


def logit_rows(reference: Floats, candidate: Floats) -> Numbers:
    """Return (N,) divergences of softmax(logits), which saturation does not hide."""
    return by_rows(_logit_divergence, reference, candidate)


def binary_rows(reference: Floats, candidate: Floats) -> Numbers:
    """Return (N,): the largest divergence of a row's independent yes/no probabilities."""
    return by_rows(_binary_divergence, reference, candidate)


def _divergence(reference: Numbers, candidate: Numbers) -> Numbers:
    ours, theirs = (a / a.sum(axis=1, keepdims=True) for a in (reference, candidate))
    total: Numbers = _terms(ours, theirs).sum(axis=1)
    return total


def _logit_divergence(reference: Numbers, candidate: Numbers) -> Numbers:
    ours, theirs = log_softmax(reference), log_softmax(candidate)
    total: Numbers = (np.exp(ours) * (ours - theirs)).sum(axis=1)
    return np.maximum(total, 0.0)


def _binary_divergence(reference: Numbers, candidate: Numbers) -> Numbers:
    both = _terms(reference, candidate) + _terms(1.0 - reference, 1.0 - candidate)
    largest: Numbers = both.max(axis=1)
    return largest


def _terms(reference: Numbers, candidate: Numbers) -> Numbers:
    """Return p log(p / q) + q - p: each term is 0 or more, and their sum is the divergence."""
    floor = np.maximum(reference, _LEAST), np.maximum(candidate, _LEAST)
    terms: Numbers = reference * np.log(floor[0] / floor[1]) + candidate - reference
    return np.maximum(terms, 0.0)
