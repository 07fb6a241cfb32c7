"""Two runs' numbers in; the largest absolute difference, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.metrics._rows import by_rows, measured

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers
    from likewise.types import Floats, Kind, Measure

kinds: tuple[Kind, ...] = ("logits", "scores", "distribution", "vector")
better: Literal["lower", "higher"] = "lower"
unit = ""


def measure(reference: Floats, candidate: Floats) -> Measure:
    """Return max |y - r|, in the output's own unit; None where one is not finite.

    Raises:
        ShapeError: the shapes differ, or N is 0.
    """
    largest = rows(reference, candidate)
    return measured("max_difference", largest, float(largest.max()), unit=unit)


def rows(reference: Floats, candidate: Floats) -> Numbers:
    """Return (N,): each row's largest absolute difference."""
    return by_rows(lambda r, y: np.abs(y - r).max(axis=1), reference, candidate)
