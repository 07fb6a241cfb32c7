"""Two runs' vectors in; Pearson's correlation of their similarity matrices, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.metrics._rows import measured, require_pairs, unit_rows
from likewise.metrics.similarity_drift import located, sample

if TYPE_CHECKING:
    from likewise.types import Floats, Kind, Measure

kinds: tuple[Kind, ...] = ("vector",)
better: Literal["lower", "higher"] = "higher"
unit = ""


def measure(reference: Floats, candidate: Floats) -> Measure:
    """Return the correlation of the cosines of all pairs of different items, in [-1, 1].

    A row of the usual rule for embeddings (shared/reports.md, report 3), shown and never judged.

    Returns:
        None where a vector has no direction, or fewer than three items are there.

    Raises:
        ShapeError: the shapes differ, or N is 0.
    """
    require_pairs(reference, candidate)
    chosen = sample(len(reference))
    pairs = np.triu_indices(len(chosen), k=1)
    ours, theirs = (unit_rows(a[chosen]) for a in (reference, candidate))
    before, after = ((u @ u.T)[pairs] for u in (ours, theirs))
    with np.errstate(all="ignore"):
        value = np.corrcoef(before, after)[0, 1] if len(before) > 1 else np.nan
    rows = (ours * theirs).sum(axis=1)
    measure = measured("similarity_pearson", rows, float(value), unit=unit, better=better)
    return located(measure, len(reference))
