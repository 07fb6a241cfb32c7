"""Are there items enough for what is claimed of them?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from likewise.report.audit.figures import figures
from likewise.report.audit.finding import Finding
from likewise.report.audit.mentions import sentences
from likewise.report.audit.sheet import Line
from likewise.report.audit.subject import Subject

__all__ = ["check"]

_ENOUGH = 0.05  # a claim that all are equal should at least rule out one in twenty
_COUNT = re.compile(
    r"(?<![\d.,])(\d{1,3}(?:,\d{3})+|\d{1,7})\s*(?:[a-z]{3,12}\s+)?"
    r"(?:items|samples|texts|sentences|posts|pictures|images|inputs|examples|prompts|cases"
    r"|条|个样本|句|张|样本)(?![A-Za-z/]|\s*(?:/|per\b))",
    re.IGNORECASE,
)
_ALL = re.compile(r"(?<![\d.])100(?:\.0+)?\s?[%％]")
_AGREE = re.compile(
    r"agree|match|same|identical|consisten|equal|accura|top-?\s?[15]|correct|一致|准确|相同",
    re.IGNORECASE,
)
_BETTER = re.compile(
    r"better|worse|higher|lower|gain|improv|drop|fell|rose|loss|lose|提升|下降", re.IGNORECASE
)
_POINTS = re.compile(r"(\d+(?:\.\d+)?)\s*(?:percentage points|points|pp\b|个百分点)", re.IGNORECASE)
_ACCURACY = re.compile(r"accura|\bF1\b|准确", re.IGNORECASE)


def check(subject: Subject) -> Iterator[Finding]:
    """Yield claims that so few items cannot carry, each with what they do allow.

    n stands in the same sentence or row, or is the only one that the whole report names.
    """
    lines = list(subject.sheet.lines())
    named = {n for line in lines for n in _counts(line.text)}
    only = named.pop() if len(named) == 1 else None
    for line in lines:
        for sentence in sentences(line):
            own = set(_counts(sentence))
            n = own.pop() if len(own) == 1 else only if not own else None
            if n:
                yield from _all_equal(line, sentence, n)
                yield from _difference(line, sentence, n)


def _counts(text: str) -> list[int]:
    return [int(m[1].replace(",", "")) for m in _COUNT.finditer(text)]


def _all_equal(line: Line, sentence: str, n: int) -> Iterator[Finding]:
    """Of "100 % agree" on n items: a rate of up to 1 - 0.05^(1/n) is not ruled out."""
    bound = 1 - 0.05 ** (1 / n)
    said = _ALL.search(sentence)
    if said and _AGREE.search(sentence) and bound > _ENOUGH:
        recomputed = (
            f"{n} items without a difference still allow {100 * bound:.3g} % of all to differ "
            "(95 % upper bound)"
        )
        yield Finding(
            "few_items", "doubtful", (line.number,), f"{said[0]} of {n} items", recomputed
        )


def _difference(line: Line, sentence: str, n: int) -> Iterator[Finding]:
    """Of "better by 0.5 points" on n items: less than one item, or less than chance does."""
    points = _POINTS.search(sentence)
    if not points or not _BETTER.search(sentence) or not _ACCURACY.search(sentence):
        return
    share = float(points[1]) / 100
    stated = [f.value for f in figures(sentence) if 0.3 < f.value < 1 and f.unit in ("", "%")]
    level = stated[0] if stated else 0.9
    chance = 1.96 * math.sqrt(2 * level * (1 - level) / n)
    if share < 1 / n:
        said = f"one item of {n} is {100 / n:.3g} points"
    elif share < chance:
        said = f"chance alone makes {100 * chance:.3g} points at {level:.3g} on {n} items (95 %)"
    else:
        return
    yield Finding("few_items", "doubtful", (line.number,), f"{points[0]} on {n} items", said)
