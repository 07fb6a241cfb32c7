"""Two runs' numbers in; their mean difference as a share of the reference's mean size, out."""

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
    """Return mean |y - r| / mean |r|; None where it is not a finite number.

    One reading of the usual rule (error below 1 %), shown and never judged: a mean hides the
    one wrong item.

    Raises:
        ShapeError: the shapes differ, or N is 0.
    """
    sums = by_rows(_sums, reference, candidate)
    apart, size = sums.sum(axis=0)
    with np.errstate(all="ignore"):
        value = apart / size if apart else 0.0 * apart
    return measured("relative_mean_difference", sums[:, 0], float(value), unit=unit)


def _sums(reference: Numbers, candidate: Numbers) -> Numbers:
    """Return (n, 2): each row's sum of |y - r|, and of |r|."""
    apart = np.abs(candidate - reference).sum(axis=1)
    both: Numbers = np.stack([apart, np.abs(reference).sum(axis=1)], axis=1)
    return both
