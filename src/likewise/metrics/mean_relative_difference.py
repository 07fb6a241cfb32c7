"""Two runs' numbers in; the mean relative difference of their elements, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.metrics._rows import by_rows, measured

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers
    from likewise.types import Floats, Kind, Measure

kinds: tuple[Kind, ...] = ("scores", "distribution", "vector")
better: Literal["lower", "higher"] = "lower"
unit = ""


def measure(reference: Floats, candidate: Floats) -> Measure:
    """Return the mean of |y - r| / |r| over all elements; None where it is not a finite number.

    One reading of the usual rule (error below 1 %), shown and never judged: elements near zero
    decide it, though nobody sees them.

    Raises:
        ShapeError: the shapes differ, or N is 0.
    """
    means = rows(reference, candidate)
    return measured("mean_relative_difference", means, float(means.mean()), unit=unit)


def rows(reference: Floats, candidate: Floats) -> Numbers:
    """Return (N,): each row's mean relative difference."""
    return by_rows(lambda r, y: relative(r, y).mean(axis=1), reference, candidate)


def relative(reference: Numbers, candidate: Numbers) -> Numbers:
    """Return |y - r| / |r|, element by element; 0 / 0 is no difference, x / 0 is infinite."""
    apart = np.abs(candidate - reference)
    shares: Numbers = np.where(apart == 0, 0.0, apart / np.abs(reference))
    return shares
