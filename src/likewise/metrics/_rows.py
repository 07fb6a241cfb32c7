"""Two arrays and a per-row formula, in; one float64 number a row, and the Measure of them, out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from likewise.errors import ShapeError
from likewise.types import Measure

if TYPE_CHECKING:
    import numpy.typing as npt

    from likewise.types import Floats, Ints

    Numbers: TypeAlias = npt.NDArray[np.float64]
    Formula: TypeAlias = Callable[[Numbers, Numbers], Numbers]

__all__ = [
    "CHUNK",
    "by_rows",
    "finite_rows",
    "measured",
    "parts",
    "require_pairs",
    "unit_rows",
    "worst_row",
]

CHUNK = 1 << 22
"""Elements turned into float64 at once: a vocabulary of 250,002 must not be copied whole."""


def require_pairs(reference: Floats, candidate: Floats) -> None:
    """Refuse two arrays that do not hold the same rows.

    Raises:
        ShapeError: the shapes differ, there is no axis of rows, or N is 0.
    """
    if reference.shape != candidate.shape or reference.ndim == 0 or len(reference) == 0:
        raise ShapeError(
            "A metric needs two runs over the same items.",
            found=f"reference {reference.shape}, candidate {candidate.shape}",
            fix="run both plans on one probe set: likewise prove MODEL --on PLAN",
        )


def by_rows(formula: Formula, reference: Floats, candidate: Floats) -> Numbers:
    """Return (N,) float64: the formula on matching rows, some rows at a time.

    Args:
        formula: two (n, D) float64 arrays in, (n,) out.
        reference: (N, …) floats; what follows the first axis is flattened to D.
        candidate: the same shape.

    Raises:
        ShapeError: the shapes differ, or N is 0.
    """
    require_pairs(reference, candidate)
    with np.errstate(all="ignore"):  # a row without a number is NaN, and NaN never compares well
        return np.concatenate(
            [formula(_flat(reference[part]), _flat(candidate[part])) for part in parts(reference)]
        )


def parts(rows: Floats) -> Iterator[slice]:
    """Yield slices over the first axis, each of about CHUNK elements."""
    step = max(1, CHUNK // max(1, rows[0].size))
    yield from (slice(start, start + step) for start in range(0, len(rows), step))


def _flat(rows: Floats) -> Numbers:
    return np.asarray(rows, np.float64).reshape(len(rows), -1)


def finite_rows(rows: Floats) -> npt.NDArray[np.bool_]:
    """Return (N,): whether a row holds neither NaN nor infinity."""
    if len(rows) == 0:
        return np.zeros(0, np.bool_)
    return np.concatenate([np.isfinite(_flat(rows[part])).all(axis=1) for part in parts(rows)])


def unit_rows(rows: Floats) -> Numbers:
    """Return (N, D) float64 rows of length 1; NaN where a row is zero or not finite."""
    flat = _flat(rows)
    with np.errstate(all="ignore"):
        units: Numbers = flat / np.linalg.norm(flat, axis=1, keepdims=True)
    return units


def worst_row(rows: Numbers, better: Literal["lower", "higher"]) -> int:
    """Return the index of the worst row; a NaN is worse than any number."""
    strange = np.flatnonzero(np.isnan(rows))
    if len(strange):
        return int(strange[0])
    return int(rows.argmax() if better == "lower" else rows.argmin())


def measured(
    metric: str,
    rows: Numbers | Ints,
    value: float,
    *,
    unit: str,
    better: Literal["lower", "higher"] = "lower",
) -> Measure:
    """Return a shown Measure; its value is None, with the reason, where it is not a number."""
    numbers = np.asarray(rows, np.float64)
    worst = worst_row(numbers, better)
    if np.isfinite(value):
        return Measure(
            metric, "", float(value), unit, len(numbers), better=better, worst_item=worst
        )
    strange = np.flatnonzero(~np.isfinite(numbers))
    where = (
        f"; {len(strange)} of {len(numbers)} rows, first row {strange[0]}" if len(strange) else ""
    )
    return Measure(
        metric,
        "",
        None,
        unit,
        len(numbers),
        better=better,
        worst_item=int(strange[0]) if len(strange) else worst,
        reason=f"not a finite number{where}",
    )
