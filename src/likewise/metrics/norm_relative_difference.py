"""Two runs' numbers in; the length of their difference over the reference's, out."""

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
    """Return ‖y - r‖ / ‖r‖ of all elements as one vector; None where it is not a finite number.

    One reading of the usual rule (error below 1 %), shown and never judged: one wrong item
    among many disappears in it.

    Raises:
        ShapeError: the shapes differ, or N is 0.
    """
    squares = by_rows(_squares, reference, candidate)
    apart, size = squares.sum(axis=0)
    with np.errstate(all="ignore"):
        rows = np.sqrt(squares[:, 0] / squares[:, 1])
        value = np.sqrt(apart / size) if apart else 0.0 * apart
    return measured("norm_relative_difference", rows, float(value), unit=unit)


def _squares(reference: Numbers, candidate: Numbers) -> Numbers:
    """Return (n, 2): each row's sum of squares of the difference, and of the reference."""
    apart = np.square(candidate - reference).sum(axis=1)
    both: Numbers = np.stack([apart, np.square(reference).sum(axis=1)], axis=1)
    return both
