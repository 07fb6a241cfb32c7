"""A figure of the record in, its spelling out. Rounding happens here and nowhere else."""

from __future__ import annotations

import math

__all__ = ["MISSING", "against", "mebibytes", "milliseconds", "number", "percent", "seconds"]

MISSING = "–"


def number(value: float | None, digits: int = 3) -> str:
    """Spell a figure with so many significant digits; a whole number whole.

    Close below 1 it keeps digits until the distance to 1 shows: a cosine of 0.9999982 is not 1.

    >>> number(612.34), number(1234567), number(0.00000011921), number(0.9999982)
    ('612', '1,234,567', '1.19e-7', '0.9999982')
    >>> number(0.0), number(None), number(3.0), number(4321.9)
    ('0', '–', '3', '4,322')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    size = abs(value)
    if isinstance(value, int) or (value.is_integer() and size < 1e9):
        return f"{int(value):,}"
    if size < 1e-3 or size >= 1e9:
        return _scientific(value, digits)
    if 0.99 < size < 1:
        distance = -math.floor(math.log10(1 - size))
        return f"{value:.{min(16, distance + max(1, digits - 2))}f}"
    return f"{value:,.{_decimals(size, digits)}f}"


def against(value: float | None, limit: float | None) -> tuple[str, str]:
    """Spell a figure and its limit with digits enough to see which is larger.

    >>> against(0.00010004, 0.0001)
    ('1.0004e-4', '1.0000e-4')
    >>> against(0.2, 0.25)
    ('0.200', '0.250')
    """
    digits = 3
    while digits < 17:
        pair = number(value, digits), number(limit, digits)
        if pair[0] != pair[1] or value is None or limit is None or value == limit:
            break
        digits += 1
    return pair


def seconds(value: float | None) -> str:
    """Spell a duration: milliseconds, seconds, or minutes.

    >>> seconds(0.0041), seconds(3.25), seconds(192.0), seconds(None)
    ('4.10 ms', '3.25 s', '3 min 12 s', '–')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    if value < 1:
        return f"{milliseconds(value)} ms"
    if value < 120:
        return f"{number(float(value))} s"
    return f"{int(value) // 60} min {int(value) % 60} s"


def milliseconds(value: float | None) -> str:
    """Spell seconds as milliseconds.

    >>> milliseconds(0.01234)
    '12.3'
    """
    return MISSING if value is None else number(value * 1e3)


def mebibytes(value: int | None) -> str:
    """Spell bytes as MiB, whole from 100 on.

    >>> mebibytes(734003200), mebibytes(1500000)
    ('700', '1.43')
    """
    return MISSING if value is None else number(value / 2**20)


def percent(share: float | None) -> str:
    """Spell a share of 1.

    >>> percent(0.123), percent(1.0)
    ('12.3 %', '100 %')
    """
    return MISSING if share is None else f"{number(share * 100.0)} %"


def _decimals(size: float, digits: int) -> int:
    return max(0, digits - 1 - math.floor(math.log10(size)))


def _scientific(value: float, digits: int) -> str:
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    return f"{mantissa}e{int(exponent)}"
