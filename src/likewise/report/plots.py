"""A Report in; three plots as inline SVG, and what could not be drawn, out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from likewise.outcomes import Entry, Report, Verdict
from likewise.report import numbers, strips
from likewise.report.derived import SHAPES, in_order, largest_error, outcome
from likewise.report.facts import visible
from likewise.report.record import settled
from likewise.report.scatter import MOST_NAMES, Point, scatter
from likewise.report.strips import Strip
from likewise.report.svg import COLOURS, MUTED
from likewise.report.words import Words, words

__all__ = ["Plot", "errors", "latency", "pareto"]


@dataclass(frozen=True)
class Plot:
    """One plot, and what it does not show."""

    name: str
    title: str
    svg: str  # "" where there was nothing to draw
    note: str  # how to read it
    missing: tuple[tuple[str, str], ...]  # plan, and what of it is not drawn


def pareto(report: Report, language: str = "en") -> Plot:
    """Draw speed against error: a point a plan, and the line of those that no other beats.

    A plan that was not timed, or has no error to show, is named and not drawn.

    Raises:
        SettingsError: likewise does not speak the language.
    """
    report, text = settled(report), words(language)
    points: list[Point] = []
    missing: list[tuple[str, str]] = []
    for entry in in_order(report):
        error = largest_error(entry.verdict) if entry.verdict is not None else None
        if entry.timing is None or error is None:
            missing.append((entry.plan, _why_missing(entry, text)))
            continue
        state, speed = outcome(entry), entry.timing.items_per_second
        chosen, ahead = entry.plan == report.choice.plan, entry.plan in report.choice.front
        points.append(Point(visible(entry.plan), state, speed, error, chosen, ahead))
        if error == 0:
            missing.append((entry.plan, text["error_zero"]))
    picture = scatter(points, text) if points else ""
    note = text["note_pareto"]
    if len(points) > MOST_NAMES:
        note = f"{note} {text['note_crowd']}"
    return Plot("pareto", text["plot_pareto"], picture, note, tuple(missing))


def latency(report: Report, language: str = "en") -> Plot:
    """Draw the time that one item takes: a row a plan, a tick a call, median and p90 marked.

    Raises:
        SettingsError: likewise does not speak the language.
    """
    report, text = settled(report), words(language)
    rows: list[Strip] = []
    missing: list[tuple[str, str]] = []
    for entry in in_order(report):
        if entry.timing is None or not entry.timing.single.seconds:
            missing.append((entry.plan, _state(entry, text, "no_timing")))
            continue
        single = entry.timing.single
        caption = text["latency_is"].format(
            median=numbers.seconds(single.median), p90=numbers.seconds(single.p90)
        )
        values = tuple(sorted(s * 1e3 for s in single.seconds))
        rows.append(_strip(entry, values, single.p90 * 1e3, caption))
        missing += _thinned(entry.plan, values, text)
    title = text["plot_latency"]
    picture = strips.draw("latency", title, rows, axis=text["axis_latency"]) if rows else ""
    return Plot("latency", title, picture, text["note_latency"], tuple(missing))


def errors(report: Report, language: str = "en") -> Plot:
    """Draw the error of each item: a row a plan, a tick an item, the worst item marked.

    The first row is the yardstick, CPU float32. Items without an error, and items whose error is
    exactly 0 (which a logarithmic scale cannot hold), are counted in words.

    Raises:
        SettingsError: likewise does not speak the language.
    """
    report, text = settled(report), words(language)
    rows: list[Strip] = []
    missing: list[tuple[str, str]] = []
    floor = next(
        (e.verdict.floor for e in report.entries if e.verdict is not None and e.verdict.floor), ()
    )
    known = _above_zero(floor)
    if known:
        caption = text["largest_is"].format(error=numbers.number(known[-1]))
        rows.append(Strip("·", text["yardstick"], MUTED, known, known[-1], caption))
    for entry in in_order(report):
        if entry.verdict is None or not entry.verdict.errors:
            missing.append((entry.plan, _state(entry, text, "no_errors")))
            continue
        missing += [(entry.plan, said) for said in _left_out(entry.verdict, text)]
        known = _above_zero(entry.verdict.errors)
        if known:
            rows.append(_error_strip(entry, entry.verdict, known, text))
            missing += _thinned(entry.plan, known, text)
    title = text["plot_errors"]
    picture = strips.draw("errors", title, rows, axis=text["axis_errors"], log=True) if rows else ""
    return Plot("errors", title, picture, text["note_errors"], tuple(missing))


def _strip(entry: Entry, values: tuple[float, ...], mark: float, caption: str) -> Strip:
    state = outcome(entry)
    colour = COLOURS.get(state, MUTED)
    return Strip(SHAPES[state], visible(entry.plan), colour, values, mark, caption)


def _error_strip(entry: Entry, verdict: Verdict, known: tuple[float, ...], text: Words) -> Strip:
    item = _where(verdict.errors)
    caption = text["worst_is"].format(error=numbers.number(known[-1]), item=item)
    limit = next((m.limit for m in verdict.measures if m.metric == "spread_error"), None)
    if limit:
        caption = text["limit_is"].format(caption=caption, limit=numbers.number(limit))
    return replace(_strip(entry, known, known[-1], caption), limit=limit or None)


def _above_zero(errors: tuple[float | None, ...]) -> tuple[float, ...]:
    return tuple(sorted(e for e in errors if e is not None and e > 0))


def _where(errors: tuple[float | None, ...]) -> str:
    """Return the number of the item whose error is largest."""
    return str(max(range(len(errors)), key=lambda n: errors[n] or 0.0))


def _left_out(verdict: Verdict, text: Words) -> list[str]:
    total, said = f"{len(verdict.errors):,}", []
    absent, zero = verdict.errors.count(None), verdict.errors.count(0.0)
    if absent:
        reason = verdict.absent.get("errors", text["not_measured"])
        said.append(text["no_error"].format(n=f"{absent:,}", total=total, reason=reason))
    if zero:
        said.append(text["zero_error"].format(n=f"{zero:,}", total=total))
    return said


def _thinned(plan: str, values: tuple[float, ...], text: Words) -> list[tuple[str, str]]:
    if len(values) <= strips.MOST_TICKS:
        return []
    shown, total = f"{strips.MOST_TICKS:,}", f"{len(values):,}"
    return [(plan, text["thinned"].format(shown=shown, total=total))]


def _why_missing(entry: Entry, text: Words) -> str:
    verdict = entry.verdict
    if entry.timing is not None and verdict is not None and verdict.errors:
        return _left_out(verdict, text)[0]
    return _state(entry, text, "no_timing" if entry.timing is None else "no_errors")


def _state(entry: Entry, text: Words, otherwise: str) -> str:
    return text["refused" if entry.refusal is not None else otherwise]
