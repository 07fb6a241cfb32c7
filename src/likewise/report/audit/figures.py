"""A line of text in; its figures, each in a base unit and with what rounding hides, out."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

__all__ = ["UNIT", "Figure", "figures", "unit_of"]


@dataclass(frozen=True)
class Figure:
    """One number as it was written."""

    value: float  # seconds, bytes, watts, joules, items per second, a share of 1 for per cent
    half: float  # half a unit of its last digit: the true number may be off by that much
    unit: str  # s, B, W, J, /s, %, x (times), M (millions), or "" where it has none
    start: int  # where it stands in its line
    end: int
    text: str

    def may_be(self, low: float, high: float, slack: float = 0.0) -> bool:
        """Tell whether the number could lie from low to high, given how it was rounded."""
        more = self.half + slack * max(abs(low), abs(high))
        return low - more <= self.value <= high + more

    def same(self, other: Figure, slack: float = 0.0) -> bool:
        """Tell whether two figures could be one number, rounded twice."""
        return self.may_be(other.value - other.half, other.value + other.half, slack)

    def in_unit(self, unit: str, scale: float) -> Figure:
        """Return the figure with the unit that its heading states."""
        if self.unit or not unit:
            return self
        return replace(self, value=self.value * scale, half=self.half * scale, unit=unit)


_THINGS = (
    r"(?:items?|sentences?|texts?|images?|pictures?|samples?|posts?|inferences|sequences?|seq|it"
    r"|frames|条|句|张|个|图)"
)
_UNITS = (
    (rf"(?:{_THINGS}\s*)?(?:/\s*(?:seconds?|sec|s|秒)|per second|每秒)|QPS|qps|FPS|fps", "/s", 1.0),
    (r"msec|ms|毫秒|milliseconds?", "s", 1e-3),
    (r"µs|μs|us|微秒", "s", 1e-6),
    (r"seconds?|secs?|s|秒", "s", 1.0),
    (r"minutes?|min|分钟", "s", 60.0),
    (r"%|％|per ?cent", "%", 1e-2),
    (r"倍|-fold|times|[x×X](?!\s?\d)", "x", 1.0),
    (r"kJ", "J", 1e3),
    (r"J|joules?|焦耳", "J", 1.0),
    (r"W|watts?|瓦", "W", 1.0),
    (r"G[i]?B", "B", 2.0**30),
    (r"M[i]?B", "B", 2.0**20),
    (r"M|million|百万", "M", 1e6),
)
UNIT = "|".join(f"(?:{pattern})" for pattern, _, _ in _UNITS)
_END = r"(?![A-Za-z0-9])"
_FIGURE = re.compile(
    r"(?<![A-Za-z0-9_./#-])(?<!\d[:,])"
    r"(?P<number>\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,20})?|\d{1,15}(?:\.\d{1,20})?)"
    r"(?:[eE](?P<power>[-+]?\d{1,2}))?"
    r"(?![\d_])(?!\.\d)(?![:/-]\d)(?!,\d{3})"
    rf"(?:\s?(?:(?P<unit>{UNIT}){_END})|(?![A-Za-z]))"
)
_ALONE = re.compile(rf"[(\[（/,]\s*({UNIT})\s*[)\]）/,]?\s*$", re.IGNORECASE)


def figures(text: str) -> list[Figure]:
    """Return the figures of a line, from left to right; versions, dates and names are none.

    >>> [(f.value, f.unit) for f in figures("14.8 ms on float32 v1.2.3, 12x, 2,037 sentences/s")]
    [(0.0148, 's'), (12.0, 'x'), (2037.0, '/s')]
    """
    return [_read(found) for found in _FIGURE.finditer(text)]


def unit_of(label: str) -> tuple[str, float]:
    """Return the unit that a label states in brackets, and its size; ("", 1.0) where it has none.

    >>> unit_of("Latency (ms)"), unit_of("Batch")
    (('s', 0.001), ('', 1.0))
    """
    found = _ALONE.search(label)
    return _known(found[1]) if found else ("", 1.0)


def _read(found: re.Match[str]) -> Figure:
    digits = found["number"].replace(",", "")
    power = int(found["power"] or 0)
    unit, scale = _known(found["unit"] or "")
    scale *= 10.0**power
    decimals = len(digits.partition(".")[2])
    return Figure(
        value=float(digits) * scale,
        half=0.5 * 10.0**-decimals * scale,
        unit=unit,
        start=found.start(),
        end=found.end(),
        text=found[0],
    )


def _known(text: str) -> tuple[str, float]:
    for pattern, unit, scale in _UNITS:
        if text and re.fullmatch(pattern, text, re.IGNORECASE if len(text) > 1 else 0):
            return unit, scale
    return "", 1.0
