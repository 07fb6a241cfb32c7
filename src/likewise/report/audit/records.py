"""A table in; its rows as figures by what they are figures of, whichever way it lies, out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from likewise.report.audit.figures import Figure, figures, unit_of
from likewise.report.audit.sheet import Cell, Table

__all__ = ["Record", "records"]

_ROLES = (
    ("speed-up", re.compile(r"speed-?\s?up|加速|提速|faster|倍", re.IGNORECASE)),
    ("ratio", re.compile(r"ratio|relative|比例|效率|能效|efficien", re.IGNORECASE)),
    ("throughput", re.compile(r"through-?put|吞吐|per second|/\s?s\b|qps|fps", re.IGNORECASE)),
    ("energy", re.compile(r"energy|能耗|joule", re.IGNORECASE)),
    ("power", re.compile(r"power|功耗|功率|watt", re.IGNORECASE)),
    ("batch", re.compile(r"batch|\bbs\b|批", re.IGNORECASE | re.ASCII)),
    ("time", re.compile(r"latency|time|duration|seconds|延迟|时延|耗时|时间", re.IGNORECASE)),
)
_UNITS = {"x": "speed-up", "/s": "throughput", "J": "energy", "W": "power", "s": "time"}
_OTHER_TIME = re.compile(r"p9\d|p50|max|min|first|load|compile|per item|std|最大|首", re.IGNORECASE)


@dataclass(frozen=True)
class Record:
    """One row: its figures by role, and its label."""

    label: str
    line: int
    figures: dict[str, Figure]
    lines: dict[str, int]


Records: TypeAlias = tuple[Record, ...]


def records(table: Table) -> Records:
    """Return the rows of a table; turned where its first column, not its head, names the figures.

    A role that two columns have is given up: which of them is meant cannot be told.
    """
    roles = _roles(table.head)
    turned = _roles(tuple(row[0] for row in table.rows))
    if sum(r != "" for r in turned) >= 2 and sum(r != "" for r in roles) == 0:
        table = table.turned()
        roles = _roles(table.head)
    return tuple(_record(table.head, row, roles) for row in table.rows)


def _roles(head: tuple[Cell, ...]) -> list[str]:
    found = [_role(cell.text) for cell in head]
    return [role if found.count(role) == 1 else "" for role in found]


def _role(label: str) -> str:
    unit = unit_of(label)[0]
    for role, pattern in _ROLES:
        if pattern.search(label):
            wanted = {v: k for k, v in _UNITS.items()}.get(role)
            fits = not unit or wanted is None or wanted == unit
            return role if fits and not (role == "time" and _OTHER_TIME.search(label)) else ""
    return ""


def _record(head: tuple[Cell, ...], row: tuple[Cell, ...], roles: list[str]) -> Record:
    found = dict(_figures(head, row, roles))
    return Record(
        label=row[0].text,
        line=row[0].line,
        figures={role: figure for role, (figure, _) in found.items()},
        lines={role: line for role, (_, line) in found.items()},
    )


def _figures(
    head: tuple[Cell, ...], row: tuple[Cell, ...], roles: list[str]
) -> Iterator[tuple[str, tuple[Figure, int]]]:
    units = {role: unit for unit, role in _UNITS.items()}
    for cell, column, role in zip(row, head, roles, strict=True):
        listed = figures(cell.text) if role else []
        if len(listed) == 1:
            figure = listed[0].in_unit(*unit_of(column.text))
            if figure.unit in ("", units.get(role, "x")):
                yield role, (figure, cell.line)
