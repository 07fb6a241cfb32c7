"""The main job: a folder in; every plan refused, or proven and timed; a choice, and DIR, out."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

from likewise.bench.machine import machine
from likewise.bench.rounds import INTERRUPTED
from likewise.errors import FolderError, LikewiseError, RefusedError
from likewise.outcomes import SCHEMA, Entry, Report, Timing
from likewise.port.choice import choose
from likewise.port.folder import stem_of, write_model
from likewise.port.plans import engine, list_plans, needs
from likewise.port.timed import time_once
from likewise.progress import Progress, silent
from likewise.prove.proof import Context, prepare, prove_plan
from likewise.prove.subject import Subject, open_subject
from likewise.report import html, markdown, record
from likewise.run.ported import is_ported
from likewise.settings import Settings, read_settings
from likewise.types import Item, Plan

__all__ = ["port"]


def port(
    source: str | Path,
    *,
    out: str | Path,
    to: str | None = None,
    settings: Settings | None = None,
    items: Sequence[Item] | None = None,
    progress: Progress = silent,
    command: str = "likewise.port(…)",
) -> Report:
    """Try every plan of the settings; prove and time each; keep the fastest that passes.

    A plan that crashes, hangs, runs out of memory or would not run as asked becomes a refusal;
    the others go on. After Ctrl-C the report holds what was finished, marked as interrupted.

    Args:
        source: a model folder.
        out: the folder to write: report.json, report.md, report.html, model/.
        to: the device, over what the settings say.
        settings: None reads ``likewise.toml`` in the working folder, if there is one.
        items: the user's own texts or pictures, for proof and timing; None takes the probes.
        progress: told the phase and what is being done.
        command: recorded in the report.

    Raises:
        LikewiseError: the folder, task or settings cannot be used at all.
    """
    chosen = settings or read_settings()
    if to is not None:
        chosen = replace(chosen, plans=replace(chosen.plans, devices=(to,)))
    subject = open_subject(source, items=items, settings=chosen)
    folder = _writable(Path(out), subject.model.folder)
    work = _Work(subject, folder, items, progress, command)
    work.do()
    return work.report()


@dataclass
class _Work:
    """What is known so far; the report can be made of it at any moment."""

    subject: Subject
    out: Path
    items: Sequence[Item] | None
    progress: Progress
    command: str
    began: float = field(default_factory=time.monotonic)
    context: Context | None = None  # None until the references are there
    entries: dict[Plan, Entry] = field(default_factory=dict)
    interrupted: bool = False

    def do(self) -> None:
        """Refuse what cannot run, prove the rest, time what passed, and write all of it."""
        plans = list_plans(self.subject.settings.plans)
        self.entries = {
            plan: Entry(str(plan), refusal=self._reason_against(plan)) for plan in plans
        }
        able = [plan for plan, entry in self.entries.items() if entry.refusal is None]
        try:
            if able:
                self._prove_all(able)
                self._time([p for p in able if _passes(self.entries[p])])
        except KeyboardInterrupt:
            self.interrupted = True
            self.progress("interrupted", "keeping what was finished")
        for plan in able:
            if self.entries[plan] == Entry(str(plan)):
                self.entries[plan] = Entry(str(plan), refusal="interrupted before it was done")
        self._write()

    def _reason_against(self, plan: Plan) -> str | None:
        try:
            subject = self.subject
            return engine(plan.engine).refuse(subject.model, subject.task.network, plan)
        except LikewiseError as error:  # there is no such engine
            return _sentence(error)

    def _prove_all(self, plans: list[Plan]) -> None:
        self.context = prepare(self.subject, self.progress)
        for place, plan in enumerate(plans):
            self.progress("prove", f"{plan} ({place + 1} of {len(plans)})")
            self.entries[plan] = _prove(self.context, plan)

    def _time(self, plans: list[Plan]) -> None:
        if not plans or self.context is None:
            return
        self.progress("time", f"{len(plans)} plan(s) in alternating rounds")
        timings, reused = time_once(self.context, plans, items=self.items, progress=self.progress)
        self.interrupted = len(timings) < len(plans) or any(
            isinstance(timing, Timing) and INTERRUPTED in timing.doubts
            for timing in timings.values()
        )
        for plan, timing in timings.items():
            entry = self.entries[plan]
            if isinstance(timing, RefusedError):
                self.entries[plan] = Entry(str(plan), refusal=_sentence(timing))
            else:
                self.entries[plan] = replace(entry, timing=timing, reused=entry.reused and reused)

    def _write(self) -> None:
        self.progress("report", str(self.out))
        report = self.report()
        subject = self.subject
        try:
            stem = stem_of(report, self.out)
            record.save(report, self.out / f"{stem}.json")
            _replace(self.out / f"{stem}.md", markdown.render(report))
            _replace(self.out / f"{stem}.html", html.render(report))
            write_model(
                subject.model, subject.task, report, overrides=subject.settings.model, out=self.out
            )
        except OSError as error:
            raise FolderError(
                f"{self.out} could not be written to the end.",
                found=error.strerror or str(error),
                fix="make room, and run the same command again: what was computed is kept",
            ) from None

    def _left(self) -> list[str]:
        """Say so where an earlier port's model stays in the folder because none was chosen."""
        passed = any(_passes(e) and e.timing for e in self.entries.values())
        there = is_ported(self.out) and not passed
        return ["nothing was chosen, so model/ is still as an earlier port left it"] * there

    def report(self) -> Report:
        """Return the record of all that is known."""
        model, task, settings = self.subject.model, self.subject.task, self.subject.settings
        probes = {"source": self.subject.said, "n": len(self.subject.probes)}
        entries = tuple(self.entries.values())
        return Report(
            schema=SCHEMA,
            likewise=version("likewise"),
            made_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            command=self.command,
            model={**asdict(model), "folder": str(model.folder)},
            task={"name": task.name, **task.facts()},
            machine=machine(),
            settings=asdict(settings),
            probes=self.context.probes_facts() if self.context else probes,
            references=self.context.references_facts() if self.context else {},
            entries=entries,
            choice=choose(entries, goal=settings.bench.goal),
            warnings=tuple(dict.fromkeys((*model.warnings, *task.assumptions, *self._left()))),
            interrupted=self.interrupted,
            seconds=time.monotonic() - self.began,
        )


def _replace(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _prove(context: Context, plan: Plan) -> Entry:
    try:
        proven = prove_plan(context, plan)
    except LikewiseError as error:  # refused, crashed, out of memory or time
        return Entry(str(plan), refusal=_sentence(error))
    return Entry(str(plan), verdict=proven.verdict, reused=proven.reused, needs=needs(str(plan)))


def _passes(entry: Entry) -> bool:
    return entry.verdict is not None and entry.verdict.passes


def _writable(out: Path, source: Path) -> Path:
    """Return the folder, made; refuse before any work is done if it cannot be written."""
    if out.resolve() in (source.resolve(), source.resolve().parent / "model"):
        raise FolderError(f"{out} is the model itself.", fix="-o another DIR")
    _refuse_foreign(out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / ".likewise-can-write"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise FolderError(
            f"{out} cannot be written.", found=error.strerror or str(error), fix="-o another DIR"
        ) from None
    return out


def _refuse_foreign(out: Path) -> None:
    """Refuse to replace what an earlier port did not write."""
    strange = ["model"] if (out / "model").exists() and not is_ported(out) else []
    if not (out / record.FILE).is_file():
        strange += [name for name in ("report.md", "report.html") if (out / name).exists()]
    if strange:
        raise FolderError(
            f"{out} holds what likewise did not write, and would replace.",
            found=", ".join(strange),
            fix="-o another DIR",
        )


def _sentence(error: LikewiseError) -> str:
    return " ".join(part.strip() for part in str(error).splitlines())
