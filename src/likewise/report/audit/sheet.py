"""A report in Markdown in; its prose, tables and code with their headings and lines, out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Cell", "Line", "Sheet", "Table", "read_sheet"]

_FENCE = re.compile(r"\s*(```+|~~~+)\s*(\w*)")
_RULE = re.compile(r"\s*\|?(\s*:?-+:?\s*\|)+\s*:?-*:?\s*|\s*\|\s*:?-+:?\s*\|\s*")
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
_PIPE = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Line:
    """One line of prose or code."""

    number: int  # from 1
    text: str
    headings: tuple[str, ...]  # those above it, the title left out
    code: str | None = None  # the language of its fence, "" where unsaid; None for prose


@dataclass(frozen=True)
class Cell:
    """One cell of a table."""

    line: int
    text: str


@dataclass(frozen=True)
class Table:
    """A table with its head; every row is as long as the head."""

    head: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    headings: tuple[str, ...]

    def turned(self) -> Table:
        """Return the table with rows for columns."""
        columns = [*zip(self.head, *self.rows, strict=True)]
        return Table(columns[0], tuple(columns[1:]), self.headings)


@dataclass(frozen=True)
class Sheet:
    """A whole report."""

    prose: tuple[Line, ...]
    code: tuple[Line, ...]
    tables: tuple[Table, ...]

    def lines(self) -> Iterator[Line]:
        """Yield prose, and the rows of tables as if they were prose."""
        yield from self.prose
        for table in self.tables:
            for row in (table.head, *table.rows):
                yield Line(row[0].line, " | ".join(c.text for c in row), table.headings)


def read_sheet(text: str) -> Sheet:
    """Read a report; front matter and HTML comments are left out, HTML tags are not read."""
    lines = _plain(text).split("\n")
    prose: list[Line] = []
    code: list[Line] = []
    tables: list[Table] = []
    for line in _lines(lines):
        (prose if line.code is None else code).append(line)
    prose, tables = _tables(prose)
    return Sheet(tuple(prose), tuple(code), tuple(tables))


def _plain(text: str) -> str:
    """Return the text with as many lines, without front matter and comments, entities read."""

    def blank(found: re.Match[str]) -> str:
        return "\n" * found[0].count("\n")

    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = re.sub(r"\A---\n.*?\n---\n", blank, text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.DOTALL)
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&amp;", "&")):
        text = text.replace(entity, character)
    return text


def _lines(lines: Sequence[str]) -> Iterator[Line]:
    above: dict[int, str] = {}
    fence, language = "", ""
    for number, text in enumerate(lines, 1):
        found = _FENCE.match(text)
        if fence:
            if found and found[1].startswith(fence):
                fence = ""
            else:
                yield Line(number, text, _path(above), language)
        elif found:
            fence, language = found[1], found[2].lower()
        elif heading := _HEADING.match(text):
            level = len(heading[1])
            yield Line(number, heading[2], _path(above))
            above = {k: v for k, v in above.items() if k < level} | {level: heading[2]}
        elif text.strip():
            yield Line(number, text, _path(above))


def _path(above: dict[int, str]) -> tuple[str, ...]:
    return tuple(above[level] for level in sorted(above) if level > 1)


def _tables(prose: list[Line]) -> tuple[list[Line], list[Table]]:
    """Split tables from prose: a line of cells, a rule under it, and lines of cells."""
    kept: list[Line] = []
    tables: list[Table] = []
    place = 0
    while place < len(prose):
        below = prose[place + 1] if place + 1 < len(prose) else None
        if "|" in prose[place].text and below and "-" in below.text and _RULE.fullmatch(below.text):
            end = place + 2
            while end < len(prose) and "|" in prose[end].text and _follows(prose, end):
                end += 1
            head = _cells(prose[place])
            rows = [_cells(line) for line in prose[place + 2 : end]]
            fitted = tuple(_fitted(row, len(head)) for row in rows)
            tables.append(Table(tuple(head), fitted, prose[place].headings))
            place = end
        else:
            kept.append(prose[place])
            place += 1
    return kept, tables


def _follows(prose: list[Line], place: int) -> bool:
    return prose[place].number == prose[place - 1].number + 1


def _cells(line: Line) -> list[Cell]:
    text = line.text.strip()
    text = text.removeprefix("|")
    text = text[:-1] if text.endswith("|") and not text.endswith("\\|") else text
    return [Cell(line.number, re.sub(r"[*\\]|<br/?>", " ", c).strip()) for c in _PIPE.split(text)]


def _fitted(row: list[Cell], width: int) -> tuple[Cell, ...]:
    padded = [*row, *(Cell(row[0].line, "") for _ in range(width - len(row)))]
    return tuple(padded[:width])
