"""Two runs' logits in; each row's error as a share of the reference's spread, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from likewise.metrics import spread_error
from likewise.metrics._rows import measured

if TYPE_CHECKING:
    from likewise.types import Floats, Kind, Measure

kinds: tuple[Kind, ...] = ("logits",)
better: Literal["lower", "higher"] = "lower"
unit = spread_error.unit


def measure(reference: Floats, candidate: Floats) -> Measure:
    """Return the largest spread error of rows centred to mean 0, as softmax sees them.

    Args:
        reference: (N, C) logits.
        candidate: the same items in the same order.

    Returns:
        Unitless, 0 or more. None where a row is not finite or the reference rows are all alike.

    Raises:
        ShapeError: the shapes differ, or N is 0.

    Source: shared/verdict.md, gate 1.
    """
    errors = spread_error.rows(reference, candidate, softmax=True)
    return measured("logits_error", errors, float(errors.max()), unit=unit)
