"""Right and wrong answers of two runs on the same labelled items, in; what the loss may be, out.

"No significant difference" is not evidence of equality: these are bounds of the loss itself.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from likewise.prove.bounds import CONFIDENCE

if TYPE_CHECKING:
    from likewise.types import Floats

__all__ = ["items_needed", "most_lost", "rank_difference"]

_Z = 1.6448536269514722  # of the normal distribution: one-sided, 95 %
_TOLERANCE = 1e-7


def most_lost(lost: int, won: int, of: int) -> float:
    """Return the 95 % upper bound of (share lost - share won): Tango's score interval.

    It holds for few and for no discordant pairs too.

    Args:
        lost: items that only the reference gets right.
        won: items that only the candidate gets right.
        of: all items, N.

    Source: T. Tango, Statistics in Medicine 17 (1998), equivalence test and confidence interval
    for the difference in proportions for the paired-sample design.

    >>> round(most_lost(12, 2, 50), 2), round(most_lost(0, 0, 1000), 4)
    (0.32, 0.0027)
    """
    low, high = (lost - won) / of, 1.0
    while high - low > _TOLERANCE:
        middle = (low + high) / 2
        low, high = (middle, high) if _score(lost, won, of, middle) > -_Z else (low, middle)
    return high


def _score(lost: int, won: int, of: int, difference: float) -> float:
    """Return the score statistic of a hypothetical difference."""
    a = 2.0 * of
    b = -lost - won + (2 * of - lost + won) * difference
    c = -won * difference * (1 - difference)
    won_share = (math.sqrt(max(b * b - 4 * a * c, 0.0)) - b) / (2 * a)
    variance = of * (2 * won_share + difference * (1 - difference))
    return (lost - won - of * difference) / math.sqrt(max(variance, 1e-300))


def items_needed(discordant: float, margin: float) -> int:
    """Return how many items show a margin with power 90 %, where so many answers differ.

    Args:
        discordant: share of items that just one of the two gets right.
        margin: the loss that is allowed.

    >>> items_needed(0.01, 0.005)
    3426
    """
    return math.ceil((_Z + 1.2815515655446004) ** 2 * max(discordant, 1e-3) / margin**2)


def rank_difference(
    gold: Floats, reference: Floats, candidate: Floats, *, draws: int = 2000, seed: int = 7
) -> tuple[float, float, float, float]:
    """Return Spearman of both runs against gold scores, and the 90 % interval of the difference.

    The interval is that of a paired bootstrap: both runs are ranked on the same drawn items. It
    lies inside a margin on both sides where the two are equivalent (two one-sided tests at 5 %).

    Args:
        gold: (N,) scores.
        reference: (N,) similarities.
        candidate: (N,) similarities.
        draws: how often N items are drawn.
        seed: of the draws.
    """
    from scipy.stats import rankdata

    def spearman(places: np.ndarray) -> np.ndarray:
        ranks = [rankdata(values[places], axis=1) for values in (gold, reference, candidate)]
        centred = [r - r.mean(axis=1, keepdims=True) for r in ranks]
        lengths = [np.sqrt((c * c).sum(axis=1)) for c in centred]
        with np.errstate(invalid="ignore"):
            pairs = [(centred[0] * c).sum(axis=1) / (lengths[0] * n)
                     for c, n in zip(centred[1:], lengths[1:], strict=True)]  # fmt: skip
        return np.stack(pairs)

    whole = spearman(np.arange(len(gold))[None])[:, 0]
    drawn = np.random.default_rng(seed).integers(0, len(gold), (draws, len(gold)))
    both = spearman(drawn)
    tail = 1 - CONFIDENCE
    low, high = np.nanpercentile(both[1] - both[0], [100 * tail, 100 * CONFIDENCE])
    return float(whole[0]), float(whole[1]), float(low), float(high)
