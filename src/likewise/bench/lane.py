"""One plan's process and the raw seconds it has given so far, in; its Timing, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone

from likewise.bench.doubts import doubts
from likewise.bench.process import Process
from likewise.bench.stats import is_steady, passes_of, steady_from, summarise, width
from likewise.bench.workload import Workload
from likewise.outcomes import Samples, Timing
from likewise.settings import Bench
from likewise.types import Json, Plan

__all__ = ["FEW", "Lane", "Scenario", "Size"]

FEW = 3
"""Samples without which there is no timing at all, however long one takes."""

LEAST_SINGLES = 30
"""Single calls under which a 90th percentile rests on fewer than three of them."""

MOST_WARMUPS = 10
"""Passes after which a plan that is still not steady is timed as it is, with a doubt."""

PADDED = 0.2
"""Share of padding in the batches of a short pass above which a long job would be faster."""

UNSEEN = 0.1
"""Share of the time until the answers came that the child's own clock may leave unexplained."""


@dataclass(frozen=True)
class Size:
    """How much work a turn is; the same for every plan."""

    count: int  # items of a pass: the workload's first so many
    block: int  # single calls in a row: the workload's first so many items


@dataclass
class Scenario:
    """Raw samples of one way to use a plan."""

    name: str
    least: int  # samples asked for
    items: int  # items in each sample
    cycle: int  # samples after which the same work comes again
    warmups: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def samples(self) -> Samples:
        """Return the samples so far, with what follows from them."""
        return summarise(self.seconds, warmups=self.warmups, items=self.items, cycle=self.cycle)

    def few(self) -> bool:
        """Tell whether there are too few samples for any figure."""
        return len(self._steady()) < FEW

    def enough(self, settings: Bench) -> bool:
        """Tell whether count, time and the width of the interval are all as asked for."""
        steady = self._steady()
        return (
            len(steady) >= self.least
            and sum(steady) >= settings.seconds
            and width(passes_of(steady, self.cycle).tolist()) <= settings.width
        )

    def full(self, settings: Bench) -> bool:
        """Tell whether the time for this scenario is used up."""
        return not self.few() and sum(self._steady()) >= settings.most_seconds

    def _steady(self) -> list[float]:
        return self.seconds[steady_from(self.seconds, cycle=self.cycle) :]


@dataclass
class Lane:
    """One plan among those that are timed in turns."""

    plan: Plan
    process: Process
    settings: Bench
    size: Size
    opened: dict[str, Json]  # open_seconds, first_result_seconds
    offline: Scenario
    single: Scenario
    looked: dict[str, Json] = field(default_factory=dict)  # the last answer to "look"
    seen_seconds: float = 0.0  # by the child's clock, in timed turns
    waited_seconds: float = 0.0  # by ours
    doubts: list[str] = field(default_factory=list)

    @staticmethod
    def of(
        plan: Plan, process: Process, settings: Bench, size: Size, opened: dict[str, Json]
    ) -> Lane:
        """Return a lane with nothing measured yet."""
        offline = Scenario("offline", settings.passes, size.count, 1)
        single = Scenario("single", LEAST_SINGLES, 1, size.block)
        return Lane(plan, process, settings, size, opened, offline, single)

    def warm_up(self) -> None:
        """Pass over the work until it is steady, then once more item by item.

        Raises:
            RefusedError: the process crashed or is overdue.
        """
        warmups = self.offline.warmups
        while not is_steady(warmups):
            self.looked, _ = self.process.ask(f"look {self.size.count}")
            warmups.append(self.looked["seconds"])
            spent = sum(warmups) >= self.settings.most_seconds
            if len(warmups) > 1 and (spent or len(warmups) >= MOST_WARMUPS):
                break
        if not is_steady(warmups):
            self.doubts.append(
                f"not known to be steady after {len(warmups)} warm-up pass(es): raise "
                "bench.most_seconds"
            )
        reply, _ = self.process.ask(f"single {self.size.block}")
        self.single.warmups += [reply["wake"], *reply["seconds"]]

    def scenario(self, name: str) -> Scenario:
        """Return offline or single."""
        return self.single if name == "single" else self.offline

    def turn(self, name: str) -> None:
        """Take one sample of offline, or one block of single.

        Raises:
            RefusedError: the process crashed or is overdue.
        """
        if name == "offline":
            reply, waited = self.process.ask(f"offline {self.size.count}")
            taken = [reply["seconds"]]
        else:
            reply, waited = self.process.ask(f"single {self.size.block}")
            taken = reply["seconds"]
            self.single.warmups.append(reply["wake"])
        self.scenario(name).seconds += taken
        self.seen_seconds += sum(taken) + reply.get("wake", 0.0)
        self.waited_seconds += waited

    def most_seconds_left(self) -> float:
        """Return how long this plan may still take in turns, unless one turn takes longer."""
        most = self.settings.most_seconds
        return sum(max(0.0, most - sum(s.seconds)) for s in (self.offline, self.single))

    def timing(self, work: Workload, more_doubts: Sequence[str] = ()) -> Timing:
        """Return what was measured; every figure follows from the raw samples beside it."""
        offline, single = self.offline.samples(), self.single.samples()
        looked = self.looked
        return Timing(
            plan=str(self.plan),
            workload=work.describe(self.size.count, self.size.block, looked["tokens"]),
            offline=offline,
            single=single,
            items_per_second=self.size.count / offline.median,
            phases={name: s / looked["seconds"] for name, s in looked["phases"].items()},
            open_seconds=self.opened["open_seconds"],
            first_result_seconds=self.opened["first_result_seconds"],
            peak_bytes=self.process.peak_bytes,
            doubts=(
                *self._doubts_about(self.offline, offline),
                *self._doubts_about(self.single, single),
                *self._work_doubts(len(work.items), work.least),
                *self.doubts,
                *more_doubts,
            ),
            facts=looked["facts"],
            made_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        )

    def _doubts_about(self, scenario: Scenario, samples: Samples) -> list[str]:
        return doubts(
            scenario.name,
            samples,
            self.settings,
            least=scenario.least,
            cycle=scenario.cycle,
        )

    def _work_doubts(self, available: int, least: int) -> list[str]:
        found = []
        problems, count = self.looked["problems"], self.size.count
        if problems:
            found.append(
                f"{problems} of {count} items have no answer, and cost less for it: leave them out"
            )
        if count < least:
            found.append(f"a pass is only {count} item(s): give at least {least}")
        padding = self.looked["facts"].get("batching", {}).get("padding_share", 0.0)
        if padding > PADDED and count < available:
            found.append(
                f"a pass of {count} items leaves {padding:.0%} padding in its batches, a longer "
                "job less: raise bench.pass_seconds"
            )
        unseen = 1 - self.seen_seconds / max(self.waited_seconds, 1e-9)
        if unseen > UNSEEN:
            found.append(
                f"{unseen:.0%} of the time until answers came is not in the figures: the engine "
                "may answer late, or other work got in between; end it and repeat"
            )
        return found
