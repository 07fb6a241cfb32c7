"""Runs of one model in; the matching rows of reference and candidate, and known noise, out.

The reference of an item is the truth (CPU float64) where that ran, else the yardstick (CPU
float32, eager, one item at a time). Noise is what an honest run of the plan's class is off by:
that of the yardstick for float32, and of an emulation of the precision for every other class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from likewise.metrics._rows import finite_rows
from likewise.prove.limits import Limits
from likewise.prove.pairs import Pairs
from likewise.types import Json, Kind, Model, Outcome, Plan, Probe, Run

if TYPE_CHECKING:
    import numpy.typing as npt

    from likewise.types import Floats, Ints

__all__ = ["Canaries", "Evidence", "LabelledRuns", "Other"]


@dataclass(frozen=True)
class Canaries:
    """What the verdict made of planted faults and of honest runs, on this very model."""

    faults: Mapping[str, Outcome]  # by name; none of them may pass
    honest: Mapping[str, Outcome]  # by plan; each of them must


@dataclass(frozen=True, eq=False)
class LabelledRuns:
    """Both sides over labelled items."""

    gold: tuple[float, ...]  # see likewise.prove.labelled
    reference: Run
    candidate: Run


@dataclass(frozen=True, eq=False)
class Other:
    """What a plan is compared with where that is no reference but another run."""

    run: Run  # over all items
    named: str  # its folder and plan
    facts: Mapping[str, Json]  # what it is, and where the noise comes from
    unlike: tuple[int, ...] = ()  # items that the two sides read as other inputs


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that a verdict is made from."""

    model: Model
    kinds: Mapping[str, Kind]  # what the task's outputs are, by name
    probes: tuple[Probe, ...]
    limits: Limits
    least_items: int
    truth: Run | None  # CPU float64 over some items; None where it could not run
    truth_items: tuple[int, ...]  # which of the probes they are, rising
    yardstick: Run  # over all items
    candidate: Run  # over all items
    emulated: tuple[Run, ...] = ()  # of a lossy class: its rounding on a CPU, over all items
    variants: tuple[Run, ...] = ()  # where there is no truth: other honest float32 runs, all items
    truth_missing: str = ""  # why there is no truth
    labelled: LabelledRuns | None = None  # where the user has labels
    canaries: Canaries | None = None  # None: too few items; see canaries_asked
    canaries_asked: bool = False  # False for a canary itself
    effort: str = ""  # quick | standard | thorough; "" for a canary itself
    added: Mapping[str, Json] = field(default_factory=dict)  # probes beside those of the mix
    other: Other | None = None  # two runs are compared: truth and yardstick give the noise alone

    @property
    def plan(self) -> Plan:
        """The plan that is judged."""
        return self.candidate.plan

    @property
    def reference(self) -> Run:
        """The run whose items, rows and answers the candidate's are held against."""
        return self.other.run if self.other else self.yardstick

    @property
    def contract(self) -> Mapping[str, Json]:
        """The task's own facts: its name, activation, pooling, labels."""
        return self.reference.facts.get("task") or {}

    @property
    def guessed(self) -> bool:
        """Whether noise is how far apart a few runs are: another honest one may be further off."""
        return self.other is not None and self.truth is None

    def tiny(self, pairs: Pairs) -> bool:
        """Whether noise is guessed, and no error is over what its class allows at all."""
        most = float(pairs.errors.max())
        return self.guessed and most <= self.limits["spread_error"].value

    @property
    def allowance(self) -> float:
        """How many times the noise of its class an honest run may reach."""
        name = "amplification_max" if self.limits.exact else "amplification_median"
        return self.limits[name].value

    def references(self) -> list[tuple[str, Run]]:
        """Return every reference run, named: yardstick, truth, emulation, variant."""
        truth = [("truth", self.truth)] if self.truth else []
        emulated = [("emulation", run) for run in self.emulated]
        variants = [("variant", run) for run in self.variants]
        other = self.other.run if self.other else self.yardstick
        others = [("other", other)] if other is not self.yardstick else []
        return [("yardstick", self.yardstick), *others, *truth, *emulated, *variants]

    @cached_property
    def comparable(self) -> bool:
        """Whether the candidate's rows match the yardstick's, one to one."""
        return _match(self.reference, self.candidate, self.kinds)

    @cached_property
    def pairs(self) -> dict[str, Pairs]:
        """Every output's matching rows; {} where they do not match or fewer than two are finite."""
        if not self.comparable or not _match(self.reference, self.yardstick, self.kinds):
            return {}
        made = {name: self._pairs(name, kind) for name, kind in self.kinds.items()}
        return {name: pairs for name, pairs in made.items() if len(pairs.items) > 1}

    @cached_property
    def judged(self) -> dict[str, Pairs]:
        """The outputs that are held to the noise floor: probabilities only where no logits are.

        A saturated softmax hides its logits: an error of 1.0 at probability 0.999 is unseen.
        """
        exact = {n: p for n, p in self.pairs.items() if self.kinds[n] in ("logits", "vector")}
        return exact or self.pairs

    def merged(self, name: str) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Return the reference of every row, (R, …), and whether it is the truth, (R,)."""
        rows = self.yardstick.arrays[name]
        true = np.isin(self.yardstick.owners, self.truth_items)
        found = self.truth.arrays.get(name) if self.truth else None
        # Where the count is another, load and shapes say what is wrong with the reference.
        if found is None or len(found) != true.sum():
            return rows, np.zeros(len(rows), np.bool_)
        whole = rows.astype(np.float64)
        whole[true] = found  # both are in item order, and an item's rows keep theirs
        return whole, true

    def _pairs(self, name: str, kind: Kind) -> Pairs:
        centre, true = self.merged(name)
        reference = self.other.run.arrays[name] if self.other else centre
        honest, known = self._honest(name, true)
        kept = finite_rows(reference) & finite_rows(self.yardstick.arrays[name])
        kept &= finite_rows(centre)
        for rows in honest:
            kept[known] &= finite_rows(rows)
        exclusive = self.contract.get("activation", "softmax") == "softmax"
        return Pairs(
            name=name,
            kind="scores" if kind == "logits" and not exclusive else kind,
            reference=_taken(reference, kept),
            candidate=_taken(self.candidate.arrays[name], kept),
            centre=_taken(centre, kept),
            honest=tuple(_taken(rows, kept[known]) for rows in honest),
            known=known[kept],
            items=self.yardstick.owners[kept],
        )

    def _honest(
        self, name: str, true: npt.NDArray[np.bool_]
    ) -> tuple[list[Floats], npt.NDArray[np.bool_]]:
        """Return the rows of honest runs of the class, (K, …) each, and which K of R they are."""
        if not self.limits.exact:
            emulated = [r for r in self.emulated if _match(self.yardstick, r, self.kinds)]
            if emulated:
                return [run.arrays[name] for run in emulated], np.ones(len(true), np.bool_)
            return self._varied(name) if self.guessed else ([], np.zeros(len(true), np.bool_))
        if true.any():
            variants, _ = self._varied(name)
            return [self.yardstick.arrays[name][true], *(rows[true] for rows in variants)], true
        return self._varied(name)

    def _varied(self, name: str) -> tuple[list[Floats], npt.NDArray[np.bool_]]:
        """Return the rows of the variants, and that they are known of every row."""
        variants = [v for v in self.variants if _match(self.yardstick, v, self.kinds)]
        rows = [v.arrays[name] for v in variants]
        if self.guessed:  # runs of one engine may agree on every bit: one rounding is honest too
            rows.append(np.nextafter(self.yardstick.arrays[name], np.float32(np.inf)))
        return rows, np.ones(len(self.yardstick.owners), np.bool_)


def _taken(rows: Floats, kept: npt.NDArray[np.bool_]) -> Floats:
    """Return the rows that are kept; the very same array where all are, for it may be large."""
    return rows if kept.all() else rows[kept]


def _match(one: Run, other: Run, names: Mapping[str, Kind]) -> bool:
    owners: tuple[Ints, Ints] = one.owners, other.owners
    return np.array_equal(*owners) and all(
        name in one.arrays
        and name in other.arrays
        and one.arrays[name].shape == other.arrays[name].shape
        for name in names
    )
