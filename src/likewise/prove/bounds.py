"""Counts in; what they allow a true rate to be, with 95 % confidence, out; and a rate's counts."""

from __future__ import annotations

__all__ = ["CONFIDENCE", "most_likely", "upper_rate"]

CONFIDENCE = 0.95
_ALMOST_SURE = 0.999


def upper_rate(bad: int, of: int) -> float:
    """Return the largest true rate that ``bad`` of ``of`` items still allow (Clopper-Pearson).

    One-sided, 95 %. For no bad ones it is 1 - 0.05 ** (1 / n): 25.9 % for 10 items, 1.16 % for 256.

    >>> round(upper_rate(0, 10), 3), round(upper_rate(0, 256), 4)
    (0.259, 0.0116)
    """
    if bad >= of:
        return 1.0
    if bad == 0:
        return float(1 - (1 - CONFIDENCE) ** (1 / of))
    from scipy.special import betaincinv

    return float(betaincinv(bad + 1, of - bad, CONFIDENCE))


def most_likely(rate: float, of: int) -> int:
    """Return the count that a true rate exceeds less than once in a thousand times.

    >>> most_likely(0.02, 32), most_likely(0.02, 10_000)
    (4, 245)
    """
    from scipy.special import bdtr

    return next(bad for bad in range(of + 1) if bdtr(bad, of, rate) >= _ALMOST_SURE)
