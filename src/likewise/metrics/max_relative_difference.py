"""Two runs' numbers in; the largest relative difference of an element, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from likewise.metrics._rows import by_rows, measured
from likewise.metrics.mean_relative_difference import relative

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers
    from likewise.types import Floats, Kind, Measure

kinds: tuple[Kind, ...] = ("scores", "distribution", "vector")
better: Literal["lower", "higher"] = "lower"
unit = ""


def measure(reference: Floats, candidate: Floats) -> Measure:
    """Return the maximum of |y - r| / |r| over all elements; None where it is not a finite number.

    One reading of the usual rule (error below 1 %), shown and never judged: honest rounding of
    an element near zero breaks it.

    Raises:
        ShapeError: the shapes differ, or N is 0.
    """
    largest = rows(reference, candidate)
    return measured("max_relative_difference", largest, float(largest.max()), unit=unit)


def rows(reference: Floats, candidate: Floats) -> Numbers:
    """Return (N,): each row's largest relative difference."""
    return by_rows(lambda r, y: relative(r, y).max(axis=1), reference, candidate)
