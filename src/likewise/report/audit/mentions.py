"""A read report in; every figure of a known thing with what sets it apart, out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from likewise.report.audit.figures import Figure, figures, unit_of
from likewise.report.audit.sheet import Cell, Line, Sheet, Table
from likewise.report.audit.things import (
    OUTPUT,
    PICTURE,
    THINGS,
    Thing,
    apart,
    apart_in,
    named,
    under,
    words_of,
)

__all__ = ["Mention", "mentions", "sentences"]


@dataclass(frozen=True)
class Mention:
    """One figure of one thing."""

    thing: Thing
    figure: Figure
    line: int
    apart: frozenset[str]  # two mentions with the same words here are of the same thing
    rough: bool = False  # "about", "~"


_SENTENCE = re.compile(r"(?<=[.!?])\s+|[。！？;；]")
_CLAUSE = re.compile(r",\s+|，|、|\band\b|\bwith\b|[()（）]| - |[:：](?=\s)")
_NOT_A_FIGURE = re.compile(
    r"[<>≤≥]|\bflip|\bdiffer\b|thresholds?|limits?|targets?|budgets?|at (?:least|most)"
    r"|less than|more than|under\b"
    r"|below|above|up to|within|requires?|required|expect|should|must|typical|better|worse|gain"
    r"|improve|reduc|drop|fell|lower|higher|faster|slower|\bto\b|vs\.?|→|阈值|要求|小于|大于|不超过"
    r"|以内|允许|提升|降低|减少|低于|高于",
    re.IGNORECASE,
)
_NO_VALUE = re.compile(
    r"\bitems?\b|\bn\b|count|limit|threshold|gate|source|\bid\b|#|样本|阈值",
    re.IGNORECASE | re.ASCII,
)
_LONGEST_CELL = 24  # characters; a longer one is prose
_ROUGH = re.compile(r"about|around|roughly|approx|some |nearly|[~≈]|约|左右|大约", re.IGNORECASE)
_SQUARE = re.compile(r"(?<![\d×x*])(\d{2,4})\s?[×x*]\s?\1(?!\s?[\d×x*])")
_PIXELS = re.compile(r"[\[(]\s*(?:\d+|[A-Z]\w*)\s*,\s*3\s*,\s*(\d{2,4})\s*,\s*\1\s*[\])]")
_WIDTH = re.compile(r"[\[(]\s*(?:\d{1,3}|[BN]|batch)\s*,\s*(\d{2,6})\s*[\])]")
_NOT_A_SHAPE = re.compile(r"resiz|crop|original|instead of|rather than|not |from .* to |patch|缩放")
_NEAR = 16  # characters between a count and what it counts


def mentions(sheet: Sheet) -> list[Mention]:
    """Return all of them, in the order of lines."""
    found = [m for line in sheet.prose for m in _of_prose(line)]
    found += [m for table in sheet.tables for m in _of_table(table)]
    found += [m for line in sheet.lines() for m in _of_shapes(line)]
    return sorted(found, key=lambda m: m.line)


def sentences(line: Line) -> Iterator[str]:
    """Yield the sentences of a line of prose."""
    text = re.sub(r"^\s*(?:[-*+>]|\d+[.)])\s+", "", line.text).replace("**", "")
    yield from (part for part in _SENTENCE.split(text) if part.strip())


def _of_prose(line: Line) -> Iterator[Mention]:
    for sentence in sentences(line):
        label, colon, rest = sentence.partition(":")
        listed = bool(colon) and named(label) is not None and len(label) < 40
        clauses = [f"{label} {rest}"] if listed else _CLAUSE.split(sentence)
        found = [(clause, pair) for clause in clauses if (pair := _of_clause(clause))]
        words = apart(sentence, line.headings)
        for clause, (thing, figure) in found:
            if sum(pair[0] is thing for _, pair in found) == 1:  # else each is of another
                own = apart_in(clause, thing, words)
                own |= words_of(label, thing) if listed else frozenset()
                yield Mention(thing, figure, line.number, own, bool(_ROUGH.search(clause)))


def _of_shapes(line: Line) -> Iterator[Mention]:
    """Yield sizes of pictures (224 × 224, [1, 3, 224, 224]) and widths of outputs ([1, 1000])."""
    for sentence in sentences(line):
        if _NOT_A_SHAPE.search(sentence):
            continue
        words = apart(sentence, line.headings)
        for thing, pattern in ((PICTURE, _SQUARE), (PICTURE, _PIXELS), (OUTPUT, _WIDTH)):
            for found in pattern.finditer(sentence) if thing.pattern.search(sentence) else ():
                figure = Figure(float(found[1]), 0.0, "", found.start(), found.end(), found[0])
                yield Mention(thing, figure, line.number, words)


def _of_clause(clause: str) -> tuple[Thing, Figure] | None:
    """Return the one thing and the one figure of a clause; None where either is not plain."""
    if _NOT_A_FIGURE.search(clause):
        return None
    things = [thing for thing in THINGS if thing.pattern.search(clause)]
    found = figures(clause)
    for thing in things[:1]:
        fitting = [f for f in found if f.unit in thing.units]
        if len(fitting) != 1 or (thing.whole and not _counts(clause, thing, fitting[0])):
            return None
        return thing, fitting[0]
    return None


def _counts(clause: str, thing: Thing, figure: Figure) -> bool:
    """Tell whether a whole number stands right beside what it counts."""
    named_at = thing.pattern.search(clause)
    if named_at is None or figure.half != 0.5:
        return False
    between = max(named_at.start() - figure.end, figure.start - named_at.end())
    return between <= _NEAR


def _of_table(table: Table) -> Iterator[Mention]:
    things = [named(cell.text) for cell in table.head]
    for row in table.rows:
        keys = {n: c.text for n, c in enumerate(row) if _is_key(things[n])}
        of_row = named(row[0].text) if things[0] is None else None
        for place, cell in enumerate(row):
            thing = things[place]
            label = table.head[place].text
            beside = (label, *(text for n, text in keys.items() if n != place))
            if thing is None and of_row is not None and place and not _NO_VALUE.search(label):
                thing, beside = of_row, (label, row[0].text)
                label = row[0].text
            figure = _of_cell(cell, thing, label)
            if thing is not None and figure is not None:
                words = frozenset[str]().union(*(words_of(b, thing) for b in beside))
                words |= under(table.headings)
                yield Mention(thing, figure, cell.line, words, bool(_ROUGH.search(cell.text)))


def _is_key(thing: Thing | None) -> bool:
    """Tell whether a column says what a row is about, as a batch or a number of layers does."""
    return thing is None or thing.whole or thing.name == "parameters"


def _of_cell(cell: Cell, thing: Thing | None, label: str) -> Figure | None:
    found = figures(cell.text) if len(cell.text) <= _LONGEST_CELL else []
    if thing is None or len(found) != 1 or _NOT_A_FIGURE.search(cell.text):
        return None
    figure = found[0].in_unit(*unit_of(label))
    if figure.unit not in thing.units or (thing.name == "cosine" and figure.value > 1):
        return None
    return figure
