"""Do two things that are compared read their items alike, and are they of one checkpoint?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from likewise.metrics import spread_error
from likewise.prove.checks._held import count
from likewise.prove.evidence import Evidence, Other
from likewise.types import Measure

if TYPE_CHECKING:
    from likewise.prove.pairs import Pairs

gate = "G0"


def check(evidence: Evidence) -> list[Measure]:
    """Return items that the sides read otherwise; and, shown only, what else is known of the other.

    Token ids are compared here and not only counted: two vocabularies may cut a text alike.
    """
    if evidence.other is None:
        return []
    measures = [_inputs(evidence.other), _checkpoint(evidence.other)]
    if evidence.truth is not None:
        measures += [m for pairs in evidence.judged.values() for m in _own_error(pairs)]
    return measures


def _inputs(other: Other) -> Measure:
    some = ", ".join(map(str, other.unlike[:5]))
    words = f"{len(other.unlike)} items become other inputs than on the other side: {some}"
    return count("inputs", "run", len(other.unlike), other.run.count, words)


def _checkpoint(other: Other) -> Measure:
    """Return whether the two are of different checkpoints: no failure, answers decide."""
    ours, theirs = other.facts["candidate"]["fingerprint"], other.facts["fingerprint"]
    reason = "" if ours == theirs else f"{ours[:12]} where the other is {theirs[:12]}"
    return Measure("other_checkpoint", "run", float(ours != theirs), "", 2, reason=reason)


def _own_error(pairs: Pairs) -> Iterator[Measure]:
    """Yield how far the other side itself is from float64: two wrongs may agree."""
    if pairs.obstacle:
        return
    known = pairs.known
    errors = spread_error.rows(
        pairs.centre[known],
        pairs.reference[known],
        softmax=pairs.softmax,
        spread=pairs.spread[known],
    )
    noise = np.maximum(pairs.floor, np.median(pairs.floor))
    with np.errstate(all="ignore"):
        ratio = errors / noise
    value = float(ratio.max())
    finite = value if np.isfinite(value) else None
    yield Measure("other_amplification", pairs.name, finite, "× floor", len(ratio),
                  reason="" if finite is not None else "not a finite number")  # fmt: skip
