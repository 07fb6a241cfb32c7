"""Two runs' vectors in; by how much the cosine of any two items moved, out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.metrics._rows import measured, require_pairs, unit_rows

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers
    from likewise.types import Floats, Ints, Kind, Measure

kinds: tuple[Kind, ...] = ("vector",)
better: Literal["lower", "higher"] = "lower"
unit = ""

MOST_ROWS = 1024
"""Pairs grow with the square: of more rows, this many are taken, evenly spaced."""


def measure(reference: Floats, candidate: Floats) -> Measure:
    """Return max |S_C - S_R| over all pairs of items, S the cosine of two vectors.

    Both what a search inside the candidate sees (both vectors from it) and what a migration sees
    (queries from the candidate, documents from the reference) count.

    Args:
        reference: (N, D) floats.
        candidate: the same items in the same order.

    Returns:
        In [0, 2]. None where a vector is zero or not finite on one side alone.

    Raises:
        ShapeError: the shapes differ, or N is 0.
    """
    drifts = rows(reference, candidate)
    measure = measured("similarity_drift", drifts, float(drifts.max()), unit=unit)
    return located(measure, len(reference))


def rows(reference: Floats, candidate: Floats) -> Numbers:
    """Return (N,), or (MOST_ROWS,) of them: the largest drift of each item with any other."""
    require_pairs(reference, candidate)
    chosen = sample(len(reference))
    ours, theirs = unit_rows(reference[chosen]), unit_rows(candidate[chosen])
    alike = (reference[chosen] == candidate[chosen]).reshape(len(chosen), -1).all(axis=1)
    both_zero = alike & np.isnan(ours).any(axis=1) & np.isfinite(reference[chosen]).all(axis=1)
    ours[both_zero] = theirs[both_zero] = 0.0
    strange = np.isnan(ours).any(axis=1) | np.isnan(theirs).any(axis=1)
    ours[strange] = theirs[strange] = 0.0  # its own row tells; it must not spoil the others'
    before = ours @ ours.T
    inside = np.abs(theirs @ theirs.T - before).max(axis=1)
    across = np.abs(theirs @ ours.T - before).max(axis=1)
    drifts: Numbers = np.maximum(inside, across)
    drifts[strange] = np.nan
    return drifts


def sample(count: int) -> Ints:
    """Return the indices of the rows that are looked at, rising."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST_ROWS)).astype(np.int64))


def located(measure: Measure, count: int) -> Measure:
    """Turn a place in the sample into the row's place among all."""
    assert measure.worst_item is not None
    return replace(measure, worst_item=int(sample(count)[measure.worst_item]))
