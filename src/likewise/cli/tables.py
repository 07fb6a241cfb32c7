"""Values in; what a person reads in a terminal, or JSON, on stdout, out. Exit statuses too."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from likewise.cli.screen import draw_error, print_json, print_pairs, say, stdout
from likewise.errors import RefusedError, SettingsError

if TYPE_CHECKING:
    from likewise.outcomes import Report, Timing, Verdict
    from likewise.types import Plan

__all__ = [
    "EXITS", "print_cache", "print_offers", "print_report", "print_timings", "print_verdict",
    "print_verdicts", "render",
]  # fmt: skip

EXITS = {"equal": 0, "within": 0, "outside": 1, "undecided": 3}


def print_offers(*, as_json: bool) -> None:
    """Print every engine and device: ready, or why not and what to type."""
    from rich.table import Table
    from rich.text import Text

    from likewise import find
    from likewise.port.plans import engine

    offers = [offer for name in find.names("engines") for offer in engine(name).offers()]
    if as_json:
        print_json([asdict(offer) for offer in offers])
        return
    table = Table("engine", "device", "state", "precisions", "versions, or what to type")
    for offer in offers:
        versions = ", ".join(f"{k} {v}" for k, v in offer.versions.items())
        row = (
            offer.engine,
            offer.device,
            "ready" if offer.reason is None else f"no: {offer.reason}",
            ", ".join(offer.dtypes),
            versions if offer.reason is None else offer.fix,
        )
        # As Text: in a plain string rich would read the brackets of likewise[port] as markup.
        table.add_row(*(Text(cell) for cell in row))
    stdout().print(table)


def print_verdicts(verdicts: Sequence[Verdict], *, as_json: bool) -> int:
    """Print one verdict's card, or several; return the exit status, of several the worst."""
    if as_json:
        made = [msgspec.to_builtins(verdict, enc_hook=str) for verdict in verdicts]
        print_json(made[0] if len(made) == 1 else made)
    else:
        for verdict in verdicts:
            print_verdict(verdict)
    statuses = {EXITS[verdict.outcome] for verdict in verdicts}
    return next(status for status in (1, 3, 0) if status in statuses)


def print_verdict(verdict: Verdict) -> None:
    """Print a verdict's card."""
    from likewise.outcomes import Entry
    from likewise.report.cards import card
    from likewise.report.words import words

    view = card(Entry(verdict.candidate, verdict=verdict), words("en"), chosen=False)
    console = stdout()
    console.print(f"{view.row.shape} {view.row.word}  {view.row.plan}", markup=False)
    if verdict.against:
        ours, theirs = verdict.against["candidate"]["named"], verdict.against["named"]
        console.print(f"  {ours}, compared with {theirs}", markup=False, soft_wrap=True)
    for line in (*verdict.reasons, verdict.scope):
        if line:
            console.print(f"  {line}", markup=False)
    print_pairs(view.evidence)
    for row in view.measures:
        limit = f"  ({row.limit})" if row.limit.strip() else ""
        console.print(
            f"  {row.shape or ' '} {row.gate:<3} {row.measure:<44} {row.value}{limit}", markup=False
        )
    for worst in view.worst[:3]:
        console.print(f"  item {worst.item}: {worst.shown}  {worst.error}", markup=False)
        for who, lines in (("reference", worst.reference), ("this plan", worst.candidate)):
            console.print(f"    {who}: {'; '.join(lines)}", markup=False)


def print_timings(timings: Mapping[Plan, Timing | RefusedError], *, as_json: bool) -> int:
    """Print timings side by side, then each in full; return the exit status."""
    from likewise.outcomes import Entry
    from likewise.report.cards import card
    from likewise.report.words import words

    done = {str(p): t for p, t in timings.items() if not isinstance(t, RefusedError)}
    refused = {str(p): t for p, t in timings.items() if isinstance(t, RefusedError)}
    if as_json:
        print_json(
            {
                **{p: msgspec.to_builtins(t, enc_hook=str) for p, t in done.items()},
                **{p: {"refusal": str(t)} for p, t in refused.items()},
            }
        )
    else:
        _print_plans([Entry(p, timing=t) for p, t in done.items()], chosen=None)
        for plan, timing in done.items():
            stdout().print(plan, markup=False)
            print_pairs(card(Entry(plan, timing=timing), words("en"), chosen=False).timing)
        for plan, timing in done.items():
            for doubt in timing.doubts:
                say(f"{plan}: {doubt}")
    for plan, error in refused.items():
        say(f"{plan}: refused")
        draw_error(error)
    return 4 if refused and not done else 0


def print_report(report: Report, out: Path, *, as_json: bool) -> int:
    """Print the table of plans, the choice and where the report is; return the exit status."""
    from likewise.port.folder import stem_of

    stem = stem_of(report, out)
    if as_json:
        sys.stdout.write((out / f"{stem}.json").read_text(encoding="utf-8"))
    else:
        ranked = {plan: place for place, plan in enumerate(report.choice.ranking)}
        entries = sorted(report.entries, key=lambda e: ranked.get(e.plan, len(ranked)))
        _print_plans(entries, chosen=report.choice.plan)
        console = stdout()
        for entry in entries:
            why = entry.refusal or (
                entry.verdict.reasons[0]
                if entry.verdict is not None and not entry.verdict.passes and entry.verdict.reasons
                else ""
            )
            if why:
                console.print(f"{entry.plan}: {why}", markup=False)
        again = [entry.plan for entry in entries if entry.reused]
        if again:
            say(f"from an earlier port, as nothing it depends on has changed: {', '.join(again)}")
        console.print(
            f"chosen: {report.choice.plan or 'none'} ({report.choice.reason})", markup=False
        )
        if stem != "report":
            say(f"{out}/model and {out}/report.* are still those of an earlier port")
        console.print(f"report: {out / f'{stem}.html'}", markup=False, soft_wrap=True)
        if report.choice.plan:
            console.print(f"next:   likewise run {out} …", markup=False, soft_wrap=True)
    return _status(report)


def render(folder: Path, to: str) -> str:
    """Return a rendering of the record in a folder.

    Raises:
        SettingsError: there is no such rendering.
    """
    from likewise.report import record

    report = record.load(folder)
    if to == "json":
        return (folder / record.FILE).read_text(encoding="utf-8")
    if to == "md":
        from likewise.report import markdown

        return markdown.render(report)
    if to == "html":
        from likewise.report import html

        return html.render(report)
    raise SettingsError(f"There is no rendering {to!r}.", fix="--to md, --to html or --to json")


def print_cache(act: str, *, days: float, as_json: bool) -> int:
    """List, verify or prune the cache; return the exit status: 1 if an entry is damaged."""
    from likewise import cache

    acts: dict[str, Callable[[], list[cache.Entry]]] = {
        "list": cache.entries,
        "verify": cache.verify,
        "prune": lambda: cache.prune(days=days),
    }
    if act not in acts:
        raise SettingsError(f"The cache cannot {act!r}.", fix=f"one of: {', '.join(acts)}")
    found = acts[act]()
    if as_json:
        print_json(msgspec.to_builtins(found, enc_hook=str))
    else:
        sys.stdout.write(f"{cache.root()}\n")
        for one in found:
            state = "removed" if act == "prune" else one.problem or "whole"
            name = f"{one.kind}/{one.folder.name[:16]}"
            sys.stdout.write(f"{name:<28} {one.size:>14,} bytes  {state}\n")
        sys.stdout.write(f"{len(found)} entries, {sum(e.size for e in found):,} bytes\n")
    return int(act == "verify" and any(one.problem for one in found))


def _status(report: Report) -> int:
    if report.choice.plan:
        return 0
    outcomes = {e.verdict.outcome for e in report.entries if e.verdict is not None}
    if report.interrupted:
        return 130
    if "undecided" in outcomes:
        return 3
    return 1 if "outside" in outcomes else 4


def _print_plans(entries: Any, *, chosen: str | None) -> None:
    from rich.table import Table

    from likewise.report.cards import plan_row
    from likewise.report.words import words

    table = Table("plan", "verdict", pad_edge=False, padding=(0, 1))
    for head in ("items/s", "p90 ms", "MiB", "error"):
        table.add_column(head, justify="right")
    text = words("en")
    for entry in entries:
        row = plan_row(entry, text, chosen=entry.plan == chosen)
        mark = "> " if row.chosen else "  "
        table.add_row(
            mark + row.plan, f"{row.shape} {row.word}", row.speed, row.p90, row.memory, row.error
        )
    stdout().print(table)
