"""Raw seconds in; median, tails, the interval of the median and where steadiness begins, out.

Nothing here assumes a distribution. ``cycle`` is the number of samples after which the same work
comes again: 1 for passes over the whole workload; for single items, the items of one block.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import ShapeError
from likewise.outcomes import Samples

if TYPE_CHECKING:
    from likewise.types import Floats

__all__ = [
    "coverage",
    "interval",
    "is_steady",
    "passes_of",
    "relative",
    "steady_from",
    "summarise",
    "width",
]

CONFIDENCE = 0.95
TAIL = 100
"""Samples below which a 99th percentile is only the largest sample, and is not given."""

GAIN = 0.05
"""Warm-up ends when two passes in a row bring no best that is better by more than this share."""


def summarise(
    seconds: Sequence[float], *, warmups: Sequence[float] = (), items: int = 1, cycle: int = 1
) -> Samples:
    """Return the figures that follow from raw timings; the samples stay beside them.

    Args:
        seconds: (n,) in the order they were taken, in seconds.
        warmups: what was taken before, known to be warm-up.
        items: items in each sample.
        cycle: samples after which the same work comes again.

    Returns:
        Leading samples that are not yet steady join the warm-ups (``steady_from``); percentiles
        are interpolated linearly; p99 is None under 100 samples.

    Raises:
        ShapeError: there is no sample: nothing measured is no timing.
    """
    start = steady_from(seconds, cycle=cycle)
    steady = tuple(float(s) for s in seconds[start:])
    if not steady:
        raise ShapeError("A timing needs at least one sample.", found="none")
    low, high = interval(steady)
    return Samples(
        seconds=steady,
        warmups=(*map(float, warmups), *map(float, seconds[:start])),
        items=items,
        n=len(steady),
        median=float(np.median(steady)),
        p90=float(np.percentile(steady, 90)),
        p99=float(np.percentile(steady, 99)) if len(steady) >= TAIL else None,
        low=low,
        high=high,
    )


def interval(seconds: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the median, from order statistics.

    The k-th smallest and k-th largest samples, with the largest k whose coverage is at least 95 %;
    under 6 samples the smallest and largest, whose ``coverage`` is less.

    >>> interval([5, 1, 4, 2, 3, 6])
    (1.0, 6.0)
    """
    ordered = np.sort(np.asarray(seconds, np.float64))
    rank, _ = _order(len(ordered))
    return float(ordered[rank - 1]), float(ordered[-rank])


def coverage(n: int) -> float:
    """Return the probability that the interval from n samples holds the true median.

    >>> [round(coverage(n), 3) for n in (1, 5, 6, 9)]
    [0.0, 0.938, 0.969, 0.961]
    """
    return _order(n)[1]


@lru_cache(maxsize=4096)
def _order(n: int) -> tuple[int, float]:
    """Return the largest k whose interval covers at least 95 %, or 1; and what it covers."""
    rank, term, below = 1, 1, 1  # comb(n, rank - 1), and the sum of all up to it
    while rank <= n // 2:
        term = term * (n - rank + 1) // rank
        if 40 * (below + term) > 1 << n:  # in integers: 2 * (below + term) / 2**n > 5 %
            break
        below += term
        rank += 1
    return rank, max(0.0, 1.0 - 2 * below / (1 << n))


def width(seconds: Sequence[float]) -> float:
    """Return the interval's width as a share of the median; infinite under 6 samples."""
    if coverage(len(seconds)) < CONFIDENCE:
        return float("inf")
    low, high = interval(seconds)
    return (high - low) / max(float(np.median(seconds)), 1e-12)


def is_steady(seconds: Sequence[float]) -> bool:
    """Tell whether warming up is over: the last two passes brought no better best (5 %).

    A single slow pass on a busy machine does not end it, nor keep it going for ever.

    >>> is_steady([3.0, 1.2, 1.0]), is_steady([3.0, 1.2, 1.0, 1.1, 0.98])
    (False, True)
    """
    if len(seconds) < 3:
        return False
    return min(seconds[-2:]) >= (1 - GAIN) * min(seconds[:-2])


def steady_from(seconds: Sequence[float], *, cycle: int = 1) -> int:
    """Return how many leading samples are still warm-up; whole cycles, at most half of them.

    A leading pass is warm-up while it is slower than every ordinary pass after it: above their
    upper quartile by 1.5 times their interquartile range, and above their median by 5 %.
    """
    passes = passes_of(seconds, cycle)
    dropped = 0
    while dropped < len(passes) // 2:
        rest = passes[dropped + 1 :]
        lower, middle, upper = np.percentile(rest, (25, 50, 75))
        fence = max(upper + 1.5 * (upper - lower), middle * (1 + GAIN))
        if passes[dropped] <= fence:
            break
        dropped += 1
    return dropped * cycle


def passes_of(seconds: Sequence[float], cycle: int) -> Floats:
    """Return (n // cycle,) seconds of each whole cycle: sums of equal work, so that they compare.

    >>> passes_of([1, 2, 3, 1, 2, 4, 1], 3).tolist()
    [6.0, 7.0]
    """
    whole = len(seconds) // cycle * cycle
    rows = np.asarray(seconds[:whole], np.float64).reshape(-1, cycle)
    return np.asarray(rows.sum(axis=1))


def relative(seconds: Sequence[float], cycle: int = 1) -> Floats:
    """Return (n,) each sample over the median of the samples that did the same work.

    Long items are slow and that is no fault of the machine; what is left here is.

    >>> relative([1, 10, 1, 10, 2, 10], 2).tolist()
    [1.0, 1.0, 1.0, 1.0, 2.0, 1.0]
    """
    values = np.asarray(seconds, np.float64)
    out = np.empty_like(values)
    for place in range(min(cycle, len(values))):
        same = values[place::cycle]
        out[place::cycle] = same / max(float(np.median(same)), 1e-12)
    return out
