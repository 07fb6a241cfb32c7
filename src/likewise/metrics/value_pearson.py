"""Two runs' numbers in; Pearson's correlation of all of them, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.metrics._rows import by_rows, measured

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers
    from likewise.types import Floats, Kind, Measure

kinds: tuple[Kind, ...] = ("scores", "distribution", "vector")
better: Literal["lower", "higher"] = "higher"
unit = ""


def measure(reference: Floats, candidate: Floats) -> Measure:
    """Return the correlation of the two runs' elements, in [-1, 1]; None where it has none.

    A row of the usual rule, shown and never judged: an offset and a factor leave it at 1.

    Raises:
        ShapeError: the shapes differ, or N is 0.
    """
    ours, theirs = by_rows(_means, reference, candidate).mean(axis=0)

    def moments(r: Numbers, y: Numbers) -> Numbers:
        r, y = r - ours, y - theirs
        three: Numbers = np.stack([(r * y).mean(axis=1), (r * r).mean(1), (y * y).mean(1)], axis=1)
        return three

    rows = by_rows(moments, reference, candidate)
    covariance, *variances = rows.mean(axis=0)
    with np.errstate(all="ignore"):
        value = covariance / np.prod(np.sqrt(variances))
    worst = -by_rows(lambda r, y: np.square(y - r).sum(axis=1), reference, candidate)
    return measured("value_pearson", worst, float(value), unit=unit, better=better)


def _means(reference: Numbers, candidate: Numbers) -> Numbers:
    both: Numbers = np.stack([reference.mean(axis=1), candidate.mean(axis=1)], axis=1)
    return both
