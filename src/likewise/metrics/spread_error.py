"""Two runs' vectors or scores in; each row's error as a share of the reference's spread, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.metrics._logits import centred
from likewise.metrics._rows import by_rows, finite_rows, measured

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers
    from likewise.types import Floats, Kind, Measure

kinds: tuple[Kind, ...] = ("vector", "scores")
better: Literal["lower", "higher"] = "lower"
unit = "of the spread"


def measure(reference: Floats, candidate: Floats) -> Measure:
    """Return the largest ‖y - r‖ / spread over the rows.

    Args:
        reference: (N, …) floats from the reference.
        candidate: the same items in the same order.

    Returns:
        Unitless, 0 or more. None where a row is not finite or the reference rows are all alike.

    Raises:
        ShapeError: the shapes differ, or N is 0.

    Source: shared/verdict.md, gate 1 (SNE). A cosine needs the geometry of the outputs to mean
    anything; a share of the distance between different items does not.
    """
    errors = rows(reference, candidate)
    return measured("spread_error", errors, float(errors.max()), unit=unit)


def rows(
    reference: Floats,
    candidate: Floats,
    *,
    softmax: bool = False,
    spread: Numbers | None = None,
) -> Numbers:
    """Return (N,) errors; see ``spreads`` for what they are a share of.

    Args:
        reference: (N, …) floats.
        candidate: the same shape.
        softmax: centre each row first, because softmax ignores a constant.
        spread: (N,) to divide by; None takes the reference's own.
    """
    distance = by_rows(_centred_distance if softmax else _distance, reference, candidate)
    with np.errstate(all="ignore"):
        errors: Numbers = distance / (
            spreads(reference, softmax=softmax) if spread is None else spread
        )
    return errors


def spreads(reference: Floats, *, softmax: bool = False) -> Numbers:
    """Return (N,): each row's distance from the mean row, but never less than the median of them.

    Rows that are not finite have no say in mean and median, and no finite spread.

    Without that floor the error of a row that happens to lie near the mean explodes, though
    nothing is wrong with it: among 256 outputs of a two-class model the nearest is about 1/250 of
    the typical distance away (tests/metrics/test_metrics_spread_error.py; cases.md, B101).
    """
    finite = finite_rows(reference)
    if not finite.any():
        return np.full(len(reference), np.nan)
    rows = reference if finite.all() else reference[finite]
    mean = rows.mean(axis=0, dtype=np.float64)[None]
    distance = by_rows(
        _centred_distance if softmax else _distance,
        np.broadcast_to(mean, reference.shape),
        reference,
    )
    floor: Numbers = np.maximum(distance, np.median(distance[finite]))
    return floor


def _distance(reference: Numbers, candidate: Numbers) -> Numbers:
    lengths: Numbers = np.linalg.norm(candidate - reference, axis=1)
    return lengths


def _centred_distance(reference: Numbers, candidate: Numbers) -> Numbers:
    return _distance(centred(reference), centred(candidate))
