"""One output with classes in; which answers the two sides give, and how far apart they are, out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likewise.metrics import max_difference
from likewise.metrics._logits import deviations, gaps
from likewise.metrics._rows import by_rows
from likewise.prove.evidence import Evidence
from likewise.prove.pairs import Pairs

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers

__all__ = ["beyond", "crossed", "exclusive", "independent", "near_tie"]


def exclusive(pairs: Pairs) -> bool:
    """Tell whether an item has one of several classes."""
    return pairs.kind in ("logits", "distribution") and pairs.reference.shape[1] > 1


def independent(evidence: Evidence, pairs: Pairs) -> bool:
    """Tell whether an item has any number of labels, each with a logit of its own."""
    sigmoid = evidence.contract.get("activation") == "sigmoid"
    return sigmoid and evidence.kinds[pairs.name] == "logits" and not exclusive(pairs)


def beyond(pairs: Pairs, count: int) -> Numbers:
    """Return (R,): by how much the reference prefers its own best ``count``; -inf where it agrees.

    Two that are exactly as good are no other answer.
    """
    gap: Numbers = gaps(pairs.reference, pairs.candidate, count).max(axis=1)
    return np.where(gap > 0, gap, -np.inf)


def crossed(pairs: Pairs) -> Numbers:
    """Return (R, C): how sure the reference is of a label whose sign changed; -inf where none did.

    A logit changes sign where the probability crosses one half.
    """
    ours = np.asarray(pairs.reference, np.float64)
    return np.where((ours > 0) != (pairs.candidate > 0), np.abs(ours), -np.inf)


def near_tie(evidence: Evidence, pairs: Pairs) -> Numbers:
    """Return (R,): a preference up to this is a near-tie, by the noise of the yardstick alone.

    Of a lossy class one emulation is one draw of its noise, and another honest run may be off by
    some times as much: by what half of the items may be off at most.
    """
    if pairs.obstacle:
        return np.zeros(len(pairs.items))
    times = 2.0 if evidence.limits.exact else 2 * evidence.allowance
    if pairs.softmax:
        return times * pairs.noise(lambda r, y: by_rows(deviations, r, y))
    return times * pairs.noise(max_difference.rows)
