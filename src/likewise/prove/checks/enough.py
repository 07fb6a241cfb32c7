"""Are there enough items, and would a mix-up have been noticed?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from likewise.metrics._logits import centred
from likewise.prove.checks._held import doubted, held, unknown
from likewise.prove.evidence import Evidence
from likewise.prove.limits import Limit
from likewise.prove.pairs import Pairs
from likewise.types import Measure

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers

gate = "G0"

_MOST_ROWS = 512  # pairs grow with the square
_MOST_ELEMENTS = 1 << 24  # of a vocabulary of 250,002, some sixty rows are enough


def check(evidence: Evidence) -> list[Measure]:
    """Return how many items have an answer, and how far different items lie apart."""
    answered = len(np.unique(evidence.reference.owners))
    limit = Limit(float(evidence.least_items), "settings: proof.least_items")
    shown = Measure("items", "run", float(answered), "items", answered, better="higher")
    words = "only {value} items have an answer; fewer than {limit} prove little"
    number = doubted(held(shown, limit, words))
    return [number, *(_separation(evidence, pairs) for pairs in evidence.judged.values())]


def _separation(evidence: Evidence, pairs: Pairs) -> Measure:
    """Return the 5th percentile of the distance of two items ÷ the error that is allowed.

    Allowed is the class's limit, or ten times the float32 noise where that is more: outputs that
    are all alike but for rounding do not separate, however small they are.
    """
    limit = evidence.limits["separation"]
    shown = Measure(
        "separation", pairs.name, None, "× allowed error", len(pairs.items), better="higher"
    )
    if pairs.obstacle:
        return unknown(shown, limit, pairs.obstacle)
    allowed = max(evidence.limits["spread_error"].value, 10 * float(np.median(pairs.floor)))
    near = float(np.percentile(_distances(pairs), 5)) / float(np.median(pairs.spread))
    words = (
        f"the reference's {pairs.name} of different items lie only {{value}} times the allowed "
        "error apart (5th percentile; at least {limit}): a mix-up would not have been noticed"
    )
    return doubted(held(replace(shown, value=near / allowed), limit, words))


def _distances(pairs: Pairs) -> Numbers:
    """Return the distances of all pairs of different items, of a sample where there are many."""
    firsts = np.unique(pairs.items, return_index=True)[1]  # one row an item
    most = min(len(firsts), _MOST_ROWS, max(64, _MOST_ELEMENTS // pairs.reference[0].size))
    chosen = firsts[np.linspace(0, len(firsts) - 1, most).astype(np.int64)]
    rows = np.asarray(pairs.reference[chosen], np.float64).reshape(len(chosen), -1)
    rows = centred(rows) if pairs.softmax else rows
    rows = rows - rows.mean(axis=0)  # first, so that squares lose no digits below
    squares = (rows * rows).sum(axis=1)
    between = squares[:, None] + squares[None, :] - 2 * (rows @ rows.T)
    apart: Numbers = np.sqrt(np.maximum(between[np.triu_indices(len(rows), k=1)], 0.0))
    return apart
