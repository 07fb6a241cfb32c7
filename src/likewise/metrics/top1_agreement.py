"""Two runs' logits or probabilities in; the share of rows with the same best class, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.metrics._rows import measured, require_pairs

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers
    from likewise.types import Floats, Kind, Measure

kinds: tuple[Kind, ...] = ("logits", "distribution")
better: Literal["lower", "higher"] = "higher"
unit = ""


def measure(reference: Floats, candidate: Floats) -> Measure:
    """Return the share of rows whose largest entry stands at the same index, in [0, 1].

    A row of the usual rule, shown and never judged: it calls a tie that fell the other way a
    fault. The check ``flips`` knows ties. A row that is not finite agrees with nothing.

    Raises:
        ShapeError: the shapes differ, or N is 0.
    """
    same = rows(reference, candidate)
    return measured("top1_agreement", same, float(same.mean()), unit=unit, better=better)


def rows(reference: Floats, candidate: Floats) -> Numbers:
    """Return (N,): 1 where both rows are finite and have the same best index, else 0."""
    require_pairs(reference, candidate)
    ours, theirs = (a.reshape(len(a), -1) for a in (reference, candidate))
    finite = np.isfinite(ours).all(axis=1) & np.isfinite(theirs).all(axis=1)
    agree: Numbers = (finite & (ours.argmax(axis=1) == theirs.argmax(axis=1))).astype(np.float64)
    return agree
