"""Samples in; what may be wrong with the figures, in words that say what to do, out."""

from __future__ import annotations

import numpy as np

from likewise.bench.stats import CONFIDENCE, coverage, interval, passes_of, relative, width
from likewise.outcomes import Samples
from likewise.settings import Bench

__all__ = ["doubts"]
DRIFT = 0.05
"""Change between the halves that is worth a word, if their intervals are apart too."""

SLOW = 1.5
"""A sample this many times slower than the same work usually is was disturbed."""

RARE = 0.05
"""Share of disturbed samples that is worth a word."""


def doubts(
    name: str, samples: Samples, settings: Bench, *, least: int, cycle: int = 1
) -> list[str]:
    """Return why the figures may not be what they seem, each with what to do.

    Args:
        name: of the scenario: offline, single.
        samples: what was measured.
        settings: how narrow an interval was asked for.
        least: how many samples were asked for.
        cycle: samples after which the same work comes again. Samples of different items spread
            because items differ; only whole cycles, and a sample against its like, show noise.
    """
    passes = passes_of(samples.seconds, cycle)
    found = [
        *_few(samples.n, least),
        *_wide(passes.tolist(), settings),
        *_drift(passes.tolist()),
        *_disturbed(samples, cycle),
    ]
    return [f"{name}: {doubt}" for doubt in found]


def _few(n: int, least: int) -> list[str]:
    sure = coverage(n)
    weak = f"the interval holds the median with {sure:.0%}, not {CONFIDENCE:.0%}"
    if n < least:
        also = f" ({weak})" if sure < CONFIDENCE else ""
        return [f"only {n} sample(s), not {least}{also}: raise bench.most_seconds"]
    return [f"{n} sample(s): {weak}: raise bench.passes"] if sure < CONFIDENCE else []


def _wide(passes: list[float], settings: Bench) -> list[str]:
    share = width(passes)
    if settings.width < share < float("inf"):
        return [
            f"the 95 % interval is {share:.0%} of the median where {settings.width:.0%} was asked "
            "for: end other work, or raise bench.most_seconds"
        ]
    return []


def _drift(passes: list[float]) -> list[str]:
    half = len(passes) // 2
    if half < 4:
        return []
    first, second = passes[:half], passes[-half:]
    change = float(np.median(second)) / max(float(np.median(first)), 1e-12) - 1
    (low, high), (later_low, later_high) = interval(first), interval(second)
    if abs(change) > DRIFT and (later_low > high or later_high < low):
        word = "slower" if change > 0 else "faster"
        return [
            f"the second half was {abs(change):.0%} {word} than the first: the machine changed "
            "while timing; let it come to rest and repeat"
        ]
    return []


def _disturbed(samples: Samples, cycle: int) -> list[str]:
    slow = int((relative(samples.seconds, cycle) > SLOW).sum())
    if slow > RARE * samples.n:
        return [
            f"{slow} of {samples.n} samples took over {SLOW} times as long as the same work "
            "usually does: something else ran; end other work and repeat"
        ]
    return []
