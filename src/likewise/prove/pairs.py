"""One output of reference and candidate in; errors, noise and their ratio, row by row, out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from likewise.metrics import spread_error
from likewise.types import Kind

if TYPE_CHECKING:
    import numpy.typing as npt

    from likewise.metrics._rows import Numbers
    from likewise.types import Floats, Ints

    Rows: TypeAlias = Callable[[Floats, Floats], Numbers]

__all__ = ["Pairs"]

_TINY = 2.0**-53
"""Half the distance from 1 to the next float64: nothing is known to be nearer than that."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """The R rows of one output on which reference and honest runs are finite."""

    name: str
    kind: Kind  # logits: of exclusive classes; those of independent ones are scores
    reference: Floats  # (R, …): float64 where there is truth, else float32
    candidate: Floats  # (R, …)
    centre: Floats  # (R, …) what honest runs are off from: the reference, or the truth beside it
    honest: tuple[Floats, ...]  # (K, …) each: honest runs, whose distance from it is noise
    known: npt.NDArray[np.bool_]  # (R,) the K rows on which that is known
    items: Ints  # (R,) which item each row belongs to

    @property
    def softmax(self) -> bool:
        """Whether a constant added to a row changes nothing."""
        return self.kind == "logits"

    @property
    def obstacle(self) -> str:
        """Why errors cannot be compared with noise; "" where they can."""
        if not self.honest or not self.known.any():
            return "what an honest run is off by is not known"
        if self.spread.min() == 0:
            return "most of the reference's rows are one and the same"
        return ""

    def noise(self, rows: Rows) -> Numbers:
        """Return (R,): what an honest run is off by, as ``rows`` measures it; see ``_filled``."""
        centre = self.centre[self.known]
        return self._filled([rows(centre, run) for run in self.honest])

    @cached_property
    def spread(self) -> Numbers:
        """(R,) the distances that errors are a share of; see metrics/spread_error.py."""
        return spread_error.spreads(self.reference, softmax=self.softmax)

    @cached_property
    def errors(self) -> Numbers:
        """(R,) spread-normalised error of the candidate."""
        return spread_error.rows(
            self.reference, self.candidate, softmax=self.softmax, spread=self.spread
        )

    @cached_property
    def floor(self) -> Numbers:
        """(K,) the same of the honest runs, on the known rows."""
        centre, spread = self.centre[self.known], self.spread[self.known]
        errors = [
            spread_error.rows(centre, run, softmax=self.softmax, spread=spread)
            for run in self.honest
        ]
        largest: Numbers = np.max(errors, axis=0)
        return largest

    @cached_property
    def amplification(self) -> Numbers:
        """(R,) error ÷ noise: how many times further from the truth than an honest run."""
        return self.errors / np.maximum(self._filled([self.floor]), _TINY)

    @cached_property
    def distances(self) -> Numbers:
        """(R,) what an honest error is worth on each row, as a distance between outputs."""
        return np.maximum(self._filled([self.floor]), _TINY) * self.spread

    def _filled(self, known: list[Numbers]) -> Numbers:
        """Return (R,) noise from that of the K known rows.

        A row's own noise may be tiny by luck, so it counts as at least the median of all; a row
        without truth has the largest that was seen.
        """
        largest = np.max(known, axis=0)
        noise = np.full(len(self.known), largest.max())
        noise[self.known] = np.maximum(largest, np.median(largest))
        return noise
