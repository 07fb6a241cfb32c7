"""Plans of one model in; a Timing of each, taken in turns so that drift hits all alike, out."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from likewise.bench.child import Job
from likewise.bench.lane import Lane, Size
from likewise.bench.machine import cores
from likewise.bench.memory import crowding
from likewise.bench.process import Process, start
from likewise.bench.watch import Reading, read_machine, troubles
from likewise.bench.workload import Workload, gather, sized
from likewise.errors import RefusedError
from likewise.model.locate import locate
from likewise.model.read import read
from likewise.outcomes import Timing
from likewise.progress import Progress, silent
from likewise.run.items import save_items
from likewise.settings import Bench, Overrides, Settings
from likewise.tasks._pick import pick
from likewise.types import Item, Json, Plan, Task

__all__ = ["INTERRUPTED", "bench", "time_plans"]

INTERRUPTED = "interrupted before it had all its samples: run it again"
"""The doubt of a timing that Ctrl-C cut short."""

PAUSE_SECONDS = 0.05
"""Rest between turns: ONNX Runtime's threads wait actively for up to so long, torch's and
OpenVINO's for less; after that an idle process takes no time from the others."""


def bench(
    source: str | Path,
    plan: Plan,
    *,
    settings: Settings | None = None,
    items: Sequence[Item] | None = None,
    progress: Progress = silent,
) -> Timing:
    """Time one plan in a fresh process.

    Args:
        source: a model folder.
        plan: how to run it.
        settings: ``settings.bench`` says how long; ``settings.model`` what is stated of the model.
        items: what to time on; None takes the built-in workload.
        progress: told what is being done.

    Raises:
        RefusedError: the plan cannot run as asked, or its process crashed or hung.
        FolderError, TaskError, ItemError: the folder cannot be read, no task fits, or no items.
    """
    timings = time_plans(source, [plan], settings=settings, items=items, progress=progress)
    if plan not in timings:
        raise KeyboardInterrupt
    timing = timings[plan]
    if isinstance(timing, RefusedError):
        raise timing
    return timing


def time_plans(
    source: str | Path,
    plans: Sequence[Plan],
    *,
    task: Task | None = None,
    settings: Settings | None = None,
    overrides: Overrides | None = None,
    items: Sequence[Item] | None = None,
    progress: Progress = silent,
) -> dict[Plan, Timing | RefusedError]:
    """Time plans side by side: a fresh process each, the same work, round after round in turns.

    Rounds go on until every plan has the passes, the seconds and the narrow interval that
    ``settings.bench`` asks for, or has used up its most seconds. Where all plans together do not
    fit into memory they are timed one after another, with a doubt that says so.

    Args:
        source: a model folder.
        plans: how to run it.
        task: already open; None picks it.
        settings: the defaults if None.
        overrides: what is stated of the model; None takes ``settings.model``.
        items: what to time on; None takes the built-in workload that suits the task.
        progress: told what is being done.

    Returns:
        By plan, its timing, or why it has none. After Ctrl-C only the plans that already had at
        least 3 samples of each scenario (with the doubt ``INTERRUPTED``) or a refusal.

    Raises:
        FolderError, TaskError, ItemError: the folder cannot be read, no task fits, or no items.
    """
    settings = settings or Settings()
    stated = overrides or settings.model
    folder = locate(source)
    task = task or pick(read(folder, stated), stated.task)
    with TemporaryDirectory(prefix="likewise-bench-") as scratch:
        race = _Race(
            Job(str(folder), "", str(Path(scratch) / "items"), scratch, 0.0, stated, task.name),
            gather(task, settings.bench, items),
            settings.bench,
            progress,
        )
        save_items(race.work.items, Path(race.job.items))
        race.run_all(list(dict.fromkeys(plans)))
        return race.results


@dataclass
class _Race:
    """What the plans that are timed together share."""

    job: Job  # of no plan yet
    work: Workload
    settings: Bench
    progress: Progress
    before: Reading = field(default_factory=read_machine)
    size: Size | None = None  # set by the first plan that opens
    results: dict[Plan, Timing | RefusedError] = field(default_factory=dict)

    def run_all(self, plans: list[Plan]) -> None:
        crowded = crowding(Path(self.job.source), plans)
        groups = [[plan] for plan in plans] if crowded else [plans]
        try:
            for group in groups:
                self._run(group, [crowded] if crowded else [])
        except KeyboardInterrupt:
            self.progress("time", "interrupted: keeping what is complete enough")

    def _run(self, plans: list[Plan], doubts: list[str]) -> None:
        """Time the plans of one group in turns."""
        lanes: list[Lane] = []
        begun = self.before
        try:
            for plan in plans:
                with self._refusals(plan):
                    lanes.append(self._enter(plan))
            begun = _reading(lanes)
            self._take_turns(lanes)
        except KeyboardInterrupt:
            doubts.append(INTERRUPTED)
            raise
        finally:
            doubts += troubles(self.before, begun, _reading(lanes))
            for lane in lanes:
                self._close(lane, doubts)

    def _enter(self, plan: Plan) -> Lane:
        """Open a plan and warm it.

        Raises:
            RefusedError: it cannot run, or its process crashed or hung; it has ended then.
        """
        self.progress("time", f"{plan}: opening")
        process, opened = self._open(plan)
        with _ended_on_error(process):
            self.progress("time", f"{plan}: warming up")
            self.size = self.size or self._sized(process)
            lane = Lane.of(plan, process, self.settings, self.size, opened)
            lane.warm_up()
        if plan.threads > cores():
            lane.doubts.append(
                f"{plan.threads} threads on {cores()} core(s) wait for one another: use t{cores()}"
            )
        return lane

    def _open(self, plan: Plan) -> tuple[Process, dict[str, Json]]:
        """Start a plan's process; twice, where opening it first made an artefact.

        An export is made once a model, and is no part of a cold start.
        """
        out = Path(self.job.out) / plan.slug
        out.mkdir(exist_ok=True)
        job = replace(self.job, plan=str(plan), out=str(out))
        began = time.time()
        process, opened = self._started(job)
        artefact = Path(opened["artefact"])
        if artefact.is_file() and artefact.stat().st_mtime >= began:
            process.leave()
            process, opened = self._started(job)
        return process, opened

    def _started(self, job: Job) -> tuple[Process, dict[str, Json]]:
        process = start(job, timeout=self.settings.timeout_seconds)
        with _ended_on_error(process):
            return process, process.wait()

    def _sized(self, process: Process) -> Size:
        """Return how much work a turn is, from what this plan takes for it."""
        most, wanted, least = len(self.work.items), self.settings.pass_seconds, self.work.least
        count = min(least, most)
        process.ask(f"look {count}")  # the first shapes are slow
        for _ in range(5):  # more items leave less padding, so that even more fit
            looked, _ = process.ask(f"look {count}")
            fitting = sized(count, looked["seconds"], wanted=wanted, most=most, least=least)
            near = abs(fitting - count) <= count // 4
            count = fitting
            if near:
                break
        few = min(least, count)
        process.ask(f"single {few}")
        reply, _ = process.ask(f"single {few}")
        return Size(
            count, sized(few, sum(reply["seconds"]), wanted=wanted, most=count, least=least)
        )

    def _take_turns(self, lanes: list[Lane]) -> None:
        """Go round the lanes until each has enough of both scenarios; drop those that fail."""
        for turn in itertools.count(1):
            wanted = [n for n in ("offline", "single") if any(self._wants(x, n) for x in lanes)]
            if not wanted:
                return
            self.progress("time", self._outlook(turn, lanes))
            for lane in tuple(lanes):
                with self._refusals(lane.plan):
                    for name in wanted:
                        if not lane.scenario(name).full(self.settings):
                            lane.turn(name)
                if lane.plan in self.results:
                    lanes.remove(lane)
                time.sleep(PAUSE_SECONDS if len(lanes) > 1 else 0)

    def _wants(self, lane: Lane, name: str) -> bool:
        scenario = lane.scenario(name)
        return not scenario.enough(self.settings) and not scenario.full(self.settings)

    def _outlook(self, turn: int, lanes: list[Lane]) -> str:
        left = sum(lane.most_seconds_left() for lane in lanes)
        return f"round {turn} over {len(lanes)} plan(s), at most {left:.0f} s more"

    def _close(self, lane: Lane, doubts: list[str]) -> None:
        if INTERRUPTED in doubts:
            lane.process.kill()
        elif trouble := lane.process.leave():
            doubts = [*doubts, trouble]
        if not lane.offline.few() and not lane.single.few():
            self.results[lane.plan] = lane.timing(self.work, doubts)

    @contextmanager
    def _refusals(self, plan: Plan) -> Iterator[None]:
        """Keep a refusal as the plan's result: the other plans go on."""
        try:
            yield
        except RefusedError as error:
            self.results[plan] = error


@contextmanager
def _ended_on_error(process: Process) -> Iterator[None]:
    try:
        yield
    except BaseException:
        process.kill()
        raise


def _reading(lanes: Sequence[Lane]) -> Reading:
    return read_machine([lane.process.child.pid for lane in lanes])
