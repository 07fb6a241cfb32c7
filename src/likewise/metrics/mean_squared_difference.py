"""Two runs' numbers in; the mean squared difference, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.metrics._rows import by_rows, measured

if TYPE_CHECKING:
    from likewise.types import Floats, Kind, Measure

kinds: tuple[Kind, ...] = ("scores", "distribution", "vector")
better: Literal["lower", "higher"] = "lower"
unit = ""


def measure(reference: Floats, candidate: Floats) -> Measure:
    """Return the mean of (y - r)², in the output's unit squared; None where one is not finite.

    A row of the usual rule (shared/reports.md, report 3), shown and never judged.

    Raises:
        ShapeError: the shapes differ, or N is 0.
    """
    means = by_rows(lambda r, y: np.square(y - r).mean(axis=1), reference, candidate)
    return measured("mean_squared_difference", means, float(means.mean()), unit=unit)
