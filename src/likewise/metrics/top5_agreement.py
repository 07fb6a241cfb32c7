"""Two runs' logits or probabilities in; the share of rows with the same best five classes, out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.metrics._logits import top
from likewise.metrics._rows import finite_rows, measured, require_pairs

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers
    from likewise.types import Floats, Kind, Measure

kinds: tuple[Kind, ...] = ("logits", "distribution")
better: Literal["lower", "higher"] = "higher"
unit = ""

_BEST = 5


def measure(reference: Floats, candidate: Floats) -> Measure:
    """Return the share of rows whose best five are the same set, in [0, 1].

    A row of the usual rule, shown and never judged. A row that is not finite agrees with nothing.

    Returns:
        None under six classes, of which the best five are all or nearly all.

    Raises:
        ShapeError: the shapes differ, or N is 0.
    """
    require_pairs(reference, candidate)
    classes = reference[0].size
    if classes <= _BEST:
        made = measured("top5_agreement", np.zeros(len(reference)), np.nan, unit=unit)
        reason = f"{classes} classes: the best five are all of them"
        return replace(made, better=better, reason=reason)
    same = rows(reference, candidate)
    return measured("top5_agreement", same, float(same.mean()), unit=unit, better=better)


def rows(reference: Floats, candidate: Floats) -> Numbers:
    """Return (N,): 1 where both rows are finite and have the same best five, else 0."""
    ours, theirs = (a.reshape(len(a), -1) for a in (reference, candidate))
    best = [np.sort(top(a, _BEST), axis=1) for a in (ours, theirs)]
    finite = finite_rows(ours) & finite_rows(theirs)
    agree: Numbers = (finite & (best[0] == best[1]).all(axis=1)).astype(np.float64)
    return agree
