"""Two runs' rows in; the mean cosine between matching rows, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from likewise.metrics import worst_cosine
from likewise.metrics._rows import measured

if TYPE_CHECKING:
    from likewise.types import Floats, Kind, Measure

kinds: tuple[Kind, ...] = ("logits", "scores", "distribution", "vector")
better: Literal["lower", "higher"] = "higher"
unit = ""


def measure(reference: Floats, candidate: Floats) -> Measure:
    """Return the mean cosine of matching rows, in [-1, 1]; None if a row has no direction.

    A row of the usual rule (cosine > 0.99), shown and never judged: it means nothing without the
    cosine between *different* items, and it hides the one wrong row.

    Raises:
        ShapeError: the shapes differ, or N is 0.
    """
    cosines = worst_cosine.rows(reference, candidate)
    return measured("mean_cosine", cosines, float(cosines.mean()), unit=unit, better=better)
