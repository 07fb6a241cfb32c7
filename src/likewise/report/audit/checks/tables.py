"""Do the columns of a table follow from each other: energy, throughput, speed-up?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from likewise.report.audit.figures import Figure
from likewise.report.audit.finding import Finding
from likewise.report.audit.records import Record, records
from likewise.report.audit.subject import Subject

__all__ = ["check"]

_SLACK = 0.05  # a throughput may be a mean of ratios, and a time a median
_MOST = 200  # rows of a table; each may be held to each


@dataclass(frozen=True)
class _Range:
    """What a figure may be, given how its parts were rounded."""

    low: float
    high: float
    middle: float  # of the figures as they stand


def check(subject: Subject) -> Iterator[Finding]:
    """Yield rows whose figures contradict the others of the same row, or of the base row."""
    for table in subject.sheet.tables:
        rows = records(table)[:_MOST]
        for row in rows:
            yield from _energy(row)
            yield from _throughput(row)
        yield from _stated(rows, "speed-up", ("batch", "time", "throughput"))
        yield from _stated(rows, "ratio", ("energy",))


def _energy(row: Record) -> Iterator[Finding]:
    parts = [row.figures.get(role) for role in ("power", "time", "energy")]
    power, seconds, energy = parts
    if power is None or seconds is None or energy is None:
        return
    made = _product(power, seconds)
    if not energy.may_be(made.low, made.high, 0.01):
        yield _finding(row, ("power", "time", "energy"), f"{made.middle:.4g} J = power times time")


def _throughput(row: Record) -> Iterator[Finding]:
    batch, seconds, throughput = (row.figures.get(r) for r in ("batch", "time", "throughput"))
    if batch is None or seconds is None or throughput is None or seconds.value <= 0:
        return
    possible = [_quotient(batch, seconds), _quotient(_one(), seconds)]
    if not any(throughput.may_be(p.low, p.high, _SLACK) for p in possible):
        said = f"{possible[0].middle:.4g} per second = batch / time"
        yield _finding(row, ("batch", "time", "throughput"), said)


def _stated(rows: tuple[Record, ...], stated: str, parts: tuple[str, ...]) -> Iterator[Finding]:
    """Yield rows whose stated ratio follows from no base: the row that says 1, or else any."""
    rows = tuple(row for row in rows if any(part in row.figures for part in parts))
    saying = [row for row in rows if stated in row.figures]
    bases = [row for row in saying if row.figures[stated].value == 1] or list(rows)
    for row in saying:
        ratios = [r for base in bases if base is not row for r in _ratios(base, row, parts)]
        figure = row.figures[stated]
        if ratios and not any(figure.may_be(r.low, r.high, 0.03) for r in ratios):
            listed = ", ".join(dict.fromkeys(f"{r.middle:.3g}" for r in ratios))
            roles = tuple(role for role in (*parts, stated) if role in row.figures)
            yield _finding(row, roles, f"{listed} times, from the rows of the table")


def _ratios(base: Record, row: Record, parts: tuple[str, ...]) -> Iterator[_Range]:
    """Yield by how much a row may be better than another: by time, by item, by throughput."""
    ours, theirs = row.figures, base.figures
    for part in parts:
        if part != "batch" and part in ours and part in theirs:
            pair = (ours[part], theirs[part])
            plain = _quotient(*(pair if part == "throughput" else pair[::-1]))
            yield plain
            if part == "time" and "batch" in ours and "batch" in theirs:
                more = ours["batch"].value / max(theirs["batch"].value, 1.0)
                yield _Range(plain.low * more, plain.high * more, plain.middle * more)


def _finding(row: Record, roles: tuple[str, ...], recomputed: str) -> Finding:
    said = ", ".join(f"{role} {row.figures[role].text}" for role in roles)
    lines = tuple(sorted({row.lines[role] for role in roles}))
    return Finding("tables", "wrong", lines, f"{row.label}: {said}", recomputed)


def _product(one: Figure, other: Figure) -> _Range:
    low = max(one.value - one.half, 0) * max(other.value - other.half, 0)
    high = (one.value + one.half) * (other.value + other.half)
    return _Range(low, high, one.value * other.value)


def _quotient(one: Figure, other: Figure) -> _Range:
    least = max(other.value - other.half, other.value * 0.1, 1e-300)
    return _Range(
        max(one.value - one.half, 0) / (other.value + other.half + 1e-300),
        (one.value + one.half) / least,
        one.value / max(other.value, 1e-300),
    )


def _one() -> Figure:
    return Figure(1.0, 0.0, "", 0, 0, "1")
