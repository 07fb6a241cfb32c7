"""A Report in; what every rendering shows, spelled and in order, out. Pure: nothing is measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from likewise.outcomes import Entry, Report, Verdict
from likewise.report import numbers
from likewise.report.cards import Card, PlanRow, card, plan_row
from likewise.report.derived import (
    SHAPES,
    in_order,
    largest_error,
    largest_floor,
    outcome,
    throughput,
)
from likewise.report.facts import Pairs, pairs
from likewise.report.record import settled
from likewise.report.words import Words
from likewise.types import Json

__all__ = ["Headline", "Page", "Section", "Tile", "WeightRow", "page"]


@dataclass(frozen=True)
class Headline:
    """The outcome in one sentence: ``before``, the plan, ``after``."""

    outcome: str  # a key of SHAPES
    shape: str
    word: str
    before: str
    plan: str  # "" where nothing was chosen
    after: str
    why: str


@dataclass(frozen=True)
class Tile:
    """One large figure, with the small print that belongs to it."""

    label: str
    value: str
    note: str


@dataclass(frozen=True)
class WeightRow:
    """One file of weights."""

    path: str
    format: str
    size: str
    sha256: str
    used: str


@dataclass(frozen=True)
class Section:
    """A titled list of facts."""

    key: str
    title: str
    facts: Pairs


@dataclass(frozen=True)
class Page:
    """Everything that is shown, in order."""

    title: str
    subtitle: str
    headline: Headline
    interrupted: str  # "" where it was not
    tiles: tuple[Tile, ...]
    rows: tuple[PlanRow, ...]
    front: str
    cautions: tuple[tuple[str, str], ...]  # plan or "", and the sentence
    cards: tuple[Card, ...]
    sections: tuple[Section, ...]
    weights: tuple[WeightRow, ...]
    fingerprints: Pairs
    not_run: tuple[tuple[str, str], ...]  # plan or "", and why
    made: str
    command: str


def page(report: Report, words: Words) -> Page:
    """Return what both renderings show.

    Rows stand in the order of choosing: the chosen plan, the others that passed, fastest first,
    then the rest as they were tried.

    Raises:
        LikewiseError: the report cannot be recorded, and so cannot be shown.
    """
    report = settled(report)
    entries = in_order(report)
    chosen = report.choice.plan
    front = ", ".join(report.choice.front)
    return Page(
        title=_title(report.model),
        subtitle=_subtitle(report),
        headline=_headline(report, words),
        interrupted=words["interrupted"] if report.interrupted else "",
        tiles=_tiles(report, words),
        rows=tuple(plan_row(e, words, chosen=e.plan == chosen) for e in entries),
        front=words["front"].format(plans=front) if front else "",
        cautions=_cautions(report),
        cards=tuple(card(e, words, chosen=e.plan == chosen) for e in entries if e.refusal is None),
        sections=_sections(report, words),
        weights=_weights(report.model, words),
        fingerprints=_fingerprints(report, words),
        not_run=tuple(_not_run(report, words)),
        made=words["made"].format(
            version=report.likewise,
            made_at=report.made_at,
            seconds=numbers.seconds(report.seconds),
        ),
        command=report.command,
    )


def _title(model: Mapping[str, Json]) -> str:
    folder = str(model.get("folder") or "").replace("\\", "/")
    return str(model.get("name") or PurePath(folder).name or model.get("architecture") or "?")


def _subtitle(report: Report) -> str:
    parts = (
        report.task.get("name"),
        report.model.get("architecture") or report.model.get("family"),
        report.machine.get("processor"),
    )
    return " · ".join(str(part) for part in parts if part)


def _headline(report: Report, words: Words) -> Headline:
    entry = _chosen(report)
    if entry is None:
        counts = Counter(outcome(e) for e in report.entries)
        listed = ", ".join(f"{counts[o]} {words[o]}" for o in SHAPES if counts[o])
        text = words["none_chosen"].format(counts=listed or words["no_plans"])
        state = next((o for o in ("outside", "undecided", "refused") if counts[o]), "unjudged")
        return Headline(state, SHAPES[state], words[state], text, "", "", report.choice.reason)
    state = outcome(entry)
    timing, verdict = entry.timing, entry.verdict
    speed = numbers.number(timing.items_per_second) if timing else ""
    phrase = words[f"chosen_{state}" if state in ("equal", "within") else "chosen_other"]
    before, _, after = phrase.partition("{plan}")
    fill = {
        "n": numbers.number(verdict.n if verdict is not None else None),
        "budget": verdict.budget if verdict is not None else "",
        "outcome": words[state],
        "speed": words["at_speed"].format(speed=speed) if speed else "",
    }
    return Headline(
        state,
        SHAPES[state],
        words[state],
        before.format(**fill),
        entry.plan,
        after.format(**fill),
        report.choice.reason,
    )


def _chosen(report: Report) -> Entry | None:
    return next((e for e in report.entries if e.plan == report.choice.plan), None)


def _tiles(report: Report, words: Words) -> tuple[Tile, ...]:
    entry = _chosen(report)
    if entry is None:
        return ()
    tiles: list[Tile] = []
    if entry.timing:
        timing = entry.timing
        low, high = map(numbers.number, throughput(timing.offline))
        tiles += [
            Tile(
                words["items_per_second"],
                numbers.number(timing.items_per_second),
                words["interval"].format(low=low, high=high),
            ),
            Tile(
                words["p90_one"],
                numbers.seconds(timing.single.p90),
                words["of_calls"].format(n=numbers.number(timing.single.n)),
            ),
            Tile(
                words["peak_memory"],
                f"{numbers.mebibytes(timing.peak_bytes)} MiB",
                words["of_process"],
            ),
            Tile(
                words["first_result"],
                numbers.seconds(timing.first_result_seconds),
                words["from_start"],
            ),
        ]
    return (*tiles, *(_verdict_tiles(entry.verdict, words) if entry.verdict is not None else ()))


def _verdict_tiles(verdict: Verdict, words: Words) -> tuple[Tile, ...]:
    floor = largest_floor(verdict)
    decisive = numbers.number(verdict.decisive)
    return (
        Tile(
            words["largest_error"],
            numbers.number(largest_error(verdict)),
            words["floor_is"].format(floor=numbers.number(floor)) if floor is not None else "",
        ),
        Tile(
            words["items_compared"],
            numbers.number(verdict.n),
            words["decisive_of"].format(decisive=decisive) if verdict.decisive is not None else "",
        ),
    )


def _cautions(report: Report) -> tuple[tuple[str, str], ...]:
    doubts = [(e.plan, d) for e in report.entries if e.timing for d in e.timing.doubts]
    return (*(("", warning) for warning in report.warnings), *doubts)


def _sections(report: Report, words: Words) -> tuple[Section, ...]:
    return (
        Section("references", words["references"], pairs(report.references, words)),
        Section("probes", words["probes"], pairs(report.probes, words, without=("fingerprint",))),
        Section(
            "model",
            words["model"],
            pairs(report.model, words, without=("weight_files", "fingerprint", "warnings")),
        ),
        Section("task", words["task"], pairs(report.task, words)),
        Section("environment", words["environment"], pairs(report.machine, words)),
        Section("settings", words["settings"], pairs(report.settings, words)),
    )


def _weights(model: Mapping[str, Json], words: Words) -> tuple[WeightRow, ...]:
    files = model.get("weight_files")
    return tuple(
        WeightRow(
            path=str(file.get("path", "")),
            format=str(file.get("format", "")),
            size=numbers.mebibytes(file.get("size")),
            sha256=str(file.get("sha256") or numbers.MISSING),
            used=words["yes"] if file.get("used") else words["no"],
        )
        for file in (files if isinstance(files, list) else ())
        if isinstance(file, Mapping)
    )


def _fingerprints(report: Report, words: Words) -> Pairs:
    found = (
        (words["model"], report.model.get("fingerprint")),
        (words["probes"], report.probes.get("fingerprint")),
    )
    return tuple((label, str(value)) for label, value in found if value)


def _not_run(report: Report, words: Words) -> Iterator[tuple[str, str]]:
    if report.interrupted:
        yield "", words["interrupted"]
    for entry in report.entries:
        if entry.refusal is not None:
            yield entry.plan, f"{words['refused']}: {entry.refusal}"
        elif entry.verdict is None:
            yield entry.plan, words["timed_not_proven" if entry.timing else "not_reached"]
        elif entry.timing is None:
            yield entry.plan, words["proven_not_timed"]
    for entry in report.entries:
        if entry.verdict is not None:
            yield from _not_measured(entry.plan, entry.verdict, words)


def _not_measured(plan: str, verdict: Verdict, words: Words) -> Iterator[tuple[str, str]]:
    for measure in verdict.measures:
        if measure.value is None:
            reason = measure.reason or words["not_measured"]
            yield plan, f"{measure.metric.replace('_', ' ')} ({measure.on}): {reason}"
