"""Two runs' numbers in; the mean absolute difference, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.metrics._rows import by_rows, measured

if TYPE_CHECKING:
    from likewise.types import Floats, Kind, Measure

kinds: tuple[Kind, ...] = ("logits", "scores", "distribution", "vector")
better: Literal["lower", "higher"] = "lower"
unit = ""


def measure(reference: Floats, candidate: Floats) -> Measure:
    """Return the mean of |y - r|, in the output's own unit; None where one is not finite.

    A row of the usual rule (mean difference < 0.005), shown and never judged: a mean hides the
    one wrong item.

    Raises:
        ShapeError: the shapes differ, or N is 0.
    """
    means = by_rows(lambda r, y: np.abs(y - r).mean(axis=1), reference, candidate)
    return measured("mean_difference", means, float(means.mean()), unit=unit)
