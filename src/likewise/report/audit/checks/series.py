"""Is a ratio of several, such as 1 : 2 : 36, the ratio of the figures it speaks of?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from likewise.report.audit.figures import Figure, figures
from likewise.report.audit.finding import Finding
from likewise.report.audit.mentions import sentences
from likewise.report.audit.records import records
from likewise.report.audit.subject import Subject

__all__ = ["check"]

_LIST = re.compile(r"(?<![\d.:])\d+(?:\.\d+)?(?:\s?[:：]\s?\d+(?:\.\d+)?){2,}(?![\d:])")
_MOST, _SHOWN, _LONGEST = 50, 4, 400  # series; of them in a finding; characters of a line
_BEFORE = 80  # characters in which it is said what the ratio is of
_CLOCK = re.compile(r"\d{1,2}:\d{2}:\d{2}")
_PART = re.compile(r"\d+(?:\.\d+)?")
_OF = (
    ("energy", "J", re.compile(r"energy|efficien|能耗|能效", re.IGNORECASE)),
    ("power", "W", re.compile(r"power|功耗", re.IGNORECASE)),
    ("throughput", "/s", re.compile(r"through-?put|吞吐", re.IGNORECASE)),
    ("time", "s", re.compile(r"time|latency|speed|fast|延迟|耗时|速度", re.IGNORECASE)),
)


def check(subject: Subject) -> Iterator[Finding]:
    """Yield ratios of three and more that no series of that kind in the report has.

    A series is a column of a table, or the figures of one sentence. Where the report holds none
    of that length, nothing can be recomputed.
    """
    series = {name: [*islice(_series(subject, name, unit), _MOST)] for name, unit, _ in _OF}
    for line in subject.sheet.lines():
        for found in _LIST.finditer(line.text[:_LONGEST]):
            stated = [float(part) for part in _PART.findall(found[0])]
            before = line.text[max(0, found.start() - _BEFORE) : found.start()]
            role = next((name for name, _, p in _OF if p.search(before)), None)
            if role is None or not all(stated) or _CLOCK.fullmatch(found[0]):
                continue
            alike = [s for s in series[role] if len(s) == len(stated)]
            if alike and not any(_fits(stated, s) for s in alike):
                said = f"{found[0]} ({role})"
                shown = "; ".join(_spelled(s) for s in alike[:_SHOWN])
                yield Finding("series", "wrong", (line.number,), said, shown)


def _series(subject: Subject, role: str, unit: str) -> Iterator[list[Figure]]:
    for table in subject.sheet.tables:
        rows = records(table)
        listed = [row.figures[role] for row in rows if role in row.figures]
        if listed and all(f.value for f in listed):
            yield listed
    for line in subject.sheet.prose:
        for sentence in sentences(line):
            listed = [f for f in figures(sentence) if f.unit == unit and f.value]
            if len(listed) > 2:
                yield listed


def _fits(stated: Sequence[float], series: Sequence[Figure]) -> bool:
    """Tell whether the ratio is that of the series, or of its inverse: 720 to 20 J is 1 to 36."""
    values = [f.value for f in series]
    made = ([v / values[0] for v in values], [values[0] / v for v in values])
    wanted = [s / stated[0] for s in stated]
    return any(
        all(abs(a - b) <= 0.05 * max(a, b) for a, b in zip(wanted, m, strict=True)) for m in made
    )


def _spelled(series: Sequence[Figure]) -> str:
    values = [f.value for f in series]
    falling = values[0] > values[-1]
    ratio = " : ".join(f"{values[0] / v if falling else v / values[0]:.3g}" for v in values)
    return f"{', '.join(f.text for f in series)} are {ratio}"
