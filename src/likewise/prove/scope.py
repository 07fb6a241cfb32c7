"""The evidence and its outcome, in; the sentence that can be signed, out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from likewise.prove.bounds import CONFIDENCE, upper_rate
from likewise.prove.evidence import Evidence
from likewise.types import Measure, Outcome

__all__ = ["scope"]

_GROUPS = 5  # kinds of probes that the sentence names


def scope(evidence: Evidence, outcome: Outcome, measures: Sequence[Measure]) -> str:
    """Return what was tried, and what follows from it for items of the same mix."""
    tried = _tried(evidence)
    if outcome not in ("equal", "within"):
        return f"Tried: {tried}. Nothing can be signed for {evidence.plan}: it is {outcome}."
    items = max(m.n for m in measures if m.metric == "items")
    share = 100 * (1 - upper_rate(0, items))
    worst = max(float(pairs.errors.max()) for pairs in evidence.judged.values())
    sentence = (
        f"On {tried}, {evidence.plan} computes the same function as the checkpoint "
        f"{evidence.model.fingerprint[:12]} up to the rounding of {evidence.limits.precision}; "
        f"with {100 * CONFIDENCE:.0f} % confidence at least {share:.2f} % of items of this mix are "
        f"off by no more than {worst:.2g} of the distance between items, the most that was seen."
    )
    if evidence.limits.exact:
        return sentence
    return (
        f"{sentence} Errors smaller than that rounding, such as a wrong epsilon or a dropped bias, "
        "cannot be seen at this precision: prove the float32 plan of the same engine for those."
    )


def _tried(evidence: Evidence) -> str:
    lengths = evidence.yardstick.tokens[evidence.yardstick.tokens > 0]
    span = ""
    if len(lengths) and np.ptp(lengths):
        span = f" of {lengths.min()} to {lengths.max()} tokens"
    batch = evidence.plan.batch
    batches = "one at a time" if batch == 1 else f"in batches of up to {batch}"
    if batch > 1 and len(lengths) % batch == 0:
        batches += ", all of them full"
    return f"{len(evidence.probes)} items{span} ({_groups(evidence)}), {batches}"


def _groups(evidence: Evidence) -> str:
    """Return the largest groups of probes, and how many more there are."""
    groups = Counter(probe.group for probe in evidence.probes).most_common()
    said = ", ".join(f"{count} {name}" for name, count in groups[:_GROUPS])
    more = len(groups) - _GROUPS
    return f"{said} and {more} other kinds" if more > 0 else said
