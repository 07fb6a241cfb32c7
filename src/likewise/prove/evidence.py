"""Three runs of one model in; matching rows of reference, yardstick and candidate, out.

The truth (CPU float64) covers some items, the yardstick (CPU float32) all. The reference of a row
is the truth where there is one, else the yardstick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from likewise.metrics import spread_error
from likewise.metrics._rows import by_rows
from likewise.prove.limits import Limits
from likewise.types import Json, Kind, Model, Plan, Probe, Run

if TYPE_CHECKING:
    import numpy.typing as npt

    from likewise.metrics._rows import Numbers
    from likewise.types import Floats, Ints

    Rows: TypeAlias = Callable[[Floats, Floats], Numbers]

__all__ = ["Evidence", "Pairs"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """One output: the rows on which reference and yardstick are finite, R of them."""

    name: str
    kind: Kind
    softmax: bool  # logits of exclusive classes: a constant added to a row changes nothing
    reference: Floats  # (R, …): float64 where there is truth, else the yardstick's
    yardstick: Floats  # (R, …) CPU float32
    candidate: Floats  # (R, …)
    true: npt.NDArray[np.bool_]  # (R,) whether the row's reference is the truth
    items: Ints  # (R,) which item each row belongs to

    def noise(self, rows: Rows) -> Numbers:
        """Return (R,): what CPU float32 itself is off by, as ``rows`` measures it.

        Rows without truth have the largest noise seen on the others; without any truth, 0.
        """
        noise = np.zeros(len(self.true))
        if self.true.any():
            noise[self.true] = rows(self.reference[self.true], self.yardstick[self.true])
            noise[~self.true] = noise[self.true].max()
        return noise

    @cached_property
    def spread(self) -> Numbers:
        """(R,) the distances that errors are a share of; see metrics/spread_error.py."""
        return spread_error.spreads(self.reference, softmax=self.softmax)

    @cached_property
    def errors(self) -> Numbers:
        """(R,) spread-normalised error of the candidate."""
        return self._errors(self.candidate)

    @cached_property
    def floor(self) -> Numbers:
        """(R,) the same of the yardstick where there is truth; 0 elsewhere."""
        return self._errors(self.yardstick)

    @cached_property
    def amplification(self) -> Numbers:
        """(R,) error ÷ the noise of CPU float32 on that row, at least its median."""
        known = self.floor[self.true]
        noise = np.full(len(self.true), known.max() if len(known) else np.nan)
        noise[self.true] = known
        least = max(float(np.median(known)) if len(known) else np.nan, _TINY)
        return self.errors / np.maximum(noise, least)

    def _errors(self, rows: Floats) -> Numbers:
        return spread_error.rows(self.reference, rows, softmax=self.softmax, spread=self.spread)


_TINY = 2.0**-53
"""Half the distance from 1 to the next float64: nothing is known to be nearer than that."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that a verdict is made from."""

    model: Model
    task: str
    kinds: Mapping[str, Kind]  # of each output
    contract: Mapping[str, Json]  # the task's facts: activation, pooling …
    probes: tuple[Probe, ...]
    limits: Limits
    least_items: int
    truth: Run | None  # CPU float64 over some items; None where it could not run
    truth_items: tuple[int, ...]  # which of the probes they are
    yardstick: Run  # CPU float32, eager, one item at a time, over all
    candidate: Run
    truth_missing: str = ""  # why there is no truth

    @property
    def plan(self) -> Plan:
        """The plan that is judged."""
        return self.candidate.plan

    @cached_property
    def comparable(self) -> bool:
        """Whether the candidate's rows match the yardstick's, one to one."""
        ours, theirs = self.yardstick, self.candidate
        return np.array_equal(ours.owners, theirs.owners) and all(
            name in theirs.arrays and theirs.arrays[name].shape == ours.arrays[name].shape
            for name in self.kinds
        )

    @cached_property
    def pairs(self) -> dict[str, Pairs]:
        """Every output's matching rows; {} where they do not match or fewer than two are finite."""
        if not self.comparable:
            return {}
        made = {name: self._pairs(name, kind) for name, kind in self.kinds.items()}
        return {name: pairs for name, pairs in made.items() if len(pairs.items) > 1}

    @cached_property
    def judged(self) -> dict[str, Pairs]:
        """The outputs that are held to the noise floor: probabilities only where no logits are.

        A saturated softmax hides its logits: an error of 1.0 at probability 0.999 is unseen.
        """
        exact = {n: p for n, p in self.pairs.items() if p.kind in ("logits", "vector")}
        return exact or self.pairs

    def merged(self, name: str) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Return the reference of every row, (R, …), and whether it is the truth, (R,)."""
        rows = self.yardstick.arrays[name]
        true = np.zeros(len(rows), np.bool_)
        if self.truth is None or name not in self.truth.arrays:
            return rows, true
        owners = np.asarray(self.truth_items)[self.truth.owners]
        places, found = _places(self.yardstick.owners, owners)
        whole = rows.astype(np.float64)
        whole[places] = self.truth.arrays[name][found]
        true[places] = True
        return whole, true

    def _pairs(self, name: str, kind: Kind) -> Pairs:
        reference, true = self.merged(name)
        yardstick = self.yardstick.arrays[name]
        finite = finite_rows(reference) & finite_rows(yardstick)
        kept = slice(None) if finite.all() else finite
        return Pairs(
            name=name,
            kind=kind,
            softmax=kind == "logits" and self.contract.get("activation", "softmax") == "softmax",
            reference=reference[kept],
            yardstick=yardstick[kept],
            candidate=self.candidate.arrays[name][kept],
            true=true[kept],
            items=self.yardstick.owners[kept],
        )


def finite_rows(rows: Floats) -> npt.NDArray[np.bool_]:
    """Return (R,): whether a row holds neither NaN nor infinity."""
    counts = by_rows(lambda _, y: np.isfinite(y).all(axis=1).astype(np.float64), rows, rows)
    return counts.astype(np.bool_)


def _places(owners: Ints, some: Ints) -> tuple[Ints, Ints]:
    """Return where the rows of some items stand among all, and which of the given rows they are.

    Args:
        owners: (R,) items of all rows, rising.
        some: (r,) items of the rows to place; an item's rows keep their order.
    """
    place = {}
    for index, owner in enumerate(owners.tolist()):
        place.setdefault(owner, []).append(index)
    taken: dict[int, int] = {}
    places, found = [], []
    for index, owner in enumerate(some.tolist()):
        nth = taken.get(owner, 0)
        taken[owner] = nth + 1
        if nth < len(place.get(owner, ())):
            places.append(place[owner][nth])
            found.append(index)
    return np.asarray(places, np.int64), np.asarray(found, np.int64)
