"""Two runs' rows in; the lowest cosine between matching rows, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.metrics._rows import by_rows, measured

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers
    from likewise.types import Floats, Kind, Measure

kinds: tuple[Kind, ...] = ("logits", "distribution", "vector")
better: Literal["lower", "higher"] = "higher"
unit = ""


def measure(reference: Floats, candidate: Floats) -> Measure:
    """Return the lowest cosine between matching rows; the worst row decides.

    A mean hides it: one reversed row among 10,000 perfect ones still averages 0.9998.

    Args:
        reference: (N, D) floats, N items by D features.
        candidate: (N, D) floats, the same items in the same order.

    Returns:
        Unitless, in [-1, 1]. None if a row is zero or not finite: no direction, no number.

    Raises:
        ShapeError: the shapes differ, or N is 0.

    Source: float64 throughout; in float32 a row's cosine with itself is off by up to
    1.2e-7 (tests/metrics/test_metrics_cosine.py::test_float32_would_drift).

    >>> measure(np.array([[3.0, 4.0]]), np.array([[6.0, 8.0]])).value
    1.0
    """
    cosines = rows(reference, candidate)
    return measured("worst_cosine", cosines, float(cosines.min()), unit=unit, better=better)


def rows(reference: Floats, candidate: Floats) -> Numbers:
    """Return (N,) cosines; NaN where a row is zero or not finite."""
    return by_rows(_cosines, reference, candidate)


def _cosines(reference: Numbers, candidate: Numbers) -> Numbers:
    lengths = np.linalg.norm(reference, axis=1) * np.linalg.norm(candidate, axis=1)
    cosines: Numbers = (reference * candidate).sum(axis=1) / lengths
    return cosines
