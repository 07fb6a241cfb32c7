"""What came of it: Verdict, Timing, Choice and the Report that holds them all.

Their fields are the record, ``report.json``; every rendering is made from these alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from likewise.types import Json, Measure, Outcome

__all__ = [
    "SCHEMA", "Choice", "Entry", "Report", "Rule", "Samples", "Stratum", "Timing", "Verdict",
    "WorstItem",
]  # fmt: skip


@dataclass(frozen=True)
class WorstItem:
    """An item on which the two runs differ most, with both answers."""

    item: int
    shown: str  # the item, cut to a line
    error: float | None  # None where it is not finite: then reason says why
    metric: str
    reference: Json
    candidate: Json
    reason: str = ""


@dataclass(frozen=True)
class Stratum:
    """Some of the items taken together: a fault in one kind of them is not averaged away here."""

    by: str  # label | tokens | content
    name: str  # a label, as the reference answers; a band of lengths; a group of probes
    n: int  # rows: items, or masks of them; every one of them for a label that stands on its own
    differ: int | None  # rows with another answer, near-ties too; None where no classes
    flips: int | None  # of those, the ones beyond noise
    error: float | None  # the largest, as a share of the spread between items
    worst_item: int | None
    reason: str = ""  # why one of them is None


@dataclass(frozen=True)
class Rule:
    """What a usual rule of published reports says of the same two runs: no part of the verdict."""

    name: str
    on: str  # the output it is taken on
    value: float | None  # None where it has none: then reason says why
    n: int  # rows it is made from
    better: Literal["lower", "higher"]
    threshold: float | None  # None where no threshold is usual
    passes: bool | None  # None where it cannot be asked
    reason: str = ""


@dataclass(frozen=True)
class Verdict:
    """Is it the same? Ask ``passes``; a verdict has no truth value of its own."""

    outcome: Outcome
    measures: tuple[Measure, ...]
    n: int  # items compared
    decisive: int | None  # items whose reference margin is above the noise; None where no classes
    noise_floor: float | None  # median spread-normalised error of honest rounding
    reference: str  # the plan of the reference
    candidate: str  # the plan that was judged
    budget: str  # strict | standard | relaxed
    reasons: tuple[str, ...]  # why, in words; the first decides
    worst: tuple[WorstItem, ...] = ()
    facts: Mapping[str, Json] = field(default_factory=dict)  # what really ran
    scope: str = ""  # the sentence that can be signed
    errors: tuple[float | None, ...] = ()  # raw: spread-normalised error of each item, in order
    floor: tuple[float | None, ...] = ()  # raw: the same for the float32 reference
    strata: tuple[Stratum, ...] = ()  # per label, band of lengths and kind of content
    rules: tuple[Rule, ...] = ()  # the usual rules, beside the verdict
    blame: Mapping[str, Json] = field(default_factory=dict)  # where an outside plan goes wrong
    absent: Mapping[str, str] = field(default_factory=dict)  # field: why it is None, or holds one
    effort: Mapping[str, Json] = field(default_factory=dict)  # items tried, and what that excludes
    against: Mapping[str, Json] = field(default_factory=dict)  # two runs compared: the other one

    @property
    def passes(self) -> bool:
        """True for ``equal`` and ``within``."""
        return self.outcome in ("equal", "within")

    def __bool__(self) -> bool:
        raise TypeError("A verdict is not a truth value: ask verdict.passes or verdict.outcome.")


@dataclass(frozen=True)
class Samples:
    """Raw timings of one thing, and what follows from them."""

    seconds: tuple[float, ...]  # one per pass or call, in order
    warmups: tuple[float, ...]  # the same, before it was steady; not in the figures
    items: int  # items in each
    n: int
    median: float
    p90: float
    p99: float | None  # None under 100 samples
    low: float  # 95 % interval of the median
    high: float


@dataclass(frozen=True)
class Timing:
    """How fast a plan is on a stated workload, with its doubts."""

    plan: str
    workload: Mapping[str, Json]  # name, items, tokens {median, p90, max}, fingerprint
    offline: Samples  # passes over the workload, end to end
    single: Samples  # one item at a time, end to end
    items_per_second: float  # workload items ÷ offline median
    phases: Mapping[str, float]  # share of offline time in encode, compute, finish
    open_seconds: float  # process start to session open
    first_result_seconds: float  # process start to the first answer
    peak_bytes: int  # of the process
    doubts: tuple[str, ...]
    facts: Mapping[str, Json] = field(default_factory=dict)
    made_at: str = ""


@dataclass(frozen=True)
class Entry:
    """What became of one plan."""

    plan: str
    refusal: str | None = None  # the reason; then there is no verdict
    verdict: Verdict | None = None
    timing: Timing | None = None
    reused: bool = False  # from an earlier run whose inputs are all unchanged
    needs: tuple[str, ...] = ()  # packages that running it takes


@dataclass(frozen=True)
class Choice:
    """The plan that was picked, and why."""

    plan: str | None  # None where nothing passed
    reason: str
    front: tuple[str, ...]  # plans that no other beats on both speed and error
    ranking: tuple[str, ...]  # plans that passed, fastest first


SCHEMA = 1  # of report.json: goes up when a field leaves or changes its meaning


@dataclass(frozen=True)
class Report:
    """Everything, once; renderings add nothing."""

    schema: int  # SCHEMA
    likewise: str  # version
    made_at: str  # ISO 8601, UTC
    command: str
    model: Mapping[str, Json]
    task: Mapping[str, Json]
    machine: Mapping[str, Json]
    settings: Mapping[str, Json]
    probes: Mapping[str, Json]  # source, n, fingerprint, classes, token lengths
    references: Mapping[str, Json]  # truth and yardstick: plans, n, seconds, what really ran
    entries: tuple[Entry, ...]
    choice: Choice
    warnings: tuple[str, ...] = ()
    interrupted: bool = False
    seconds: float = 0.0
