"""The evidence and its outcome, in; the sentence that can be signed, out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from likewise.prove.bounds import CONFIDENCE, upper_rate
from likewise.prove.evidence import Evidence
from likewise.prove.power import drawn, said
from likewise.types import Json, Outcome

__all__ = ["scope"]

_GROUPS = 5  # kinds of probes that the sentence names


def scope(evidence: Evidence, outcome: Outcome, power: Mapping[str, Json]) -> str:
    """Return what was tried, and what follows from it for items of the same mix."""
    tried = _tried(evidence)
    if outcome not in ("equal", "within"):
        return f"Tried: {tried}. Nothing can be signed for {evidence.plan}: it is {outcome}."
    share = 100 * (1 - upper_rate(0, drawn(evidence)))
    worst = max(float(pairs.errors.max()) for pairs in evidence.judged.values())
    sentence = (
        f"On {tried}, {_claim(evidence)} up to the rounding of {evidence.limits.precision}; "
        f"with {100 * CONFIDENCE:.0f} % confidence at least {share:.2f} % of items of this mix are "
        f"off by no more than {worst:.2g} of the distance between items, the most that was seen."
    )
    sentence = " ".join(part for part in (sentence, said(power), _against(evidence)) if part)
    if evidence.limits.exact:
        return sentence
    return (
        f"{sentence} Errors smaller than that rounding, such as a wrong epsilon or a dropped bias, "
        "cannot be seen at this precision: prove the float32 plan of the same engine for those."
    )


def _claim(evidence: Evidence) -> str:
    if evidence.other is not None:
        ours = evidence.other.facts["candidate"]["named"]
        return f"{ours} gives the answers of {evidence.other.named}"
    fingerprint = evidence.model.fingerprint[:12]
    return f"{evidence.plan} computes the same function as the checkpoint {fingerprint}"


def _against(evidence: Evidence) -> str:
    """Say what a comparison of two runs cannot."""
    if evidence.other is None:
        return ""
    noise = (
        "The noise that is allowed is that of CPU float32 against float64."
        if evidence.truth
        else f"Float64 could not be asked ({evidence.truth_missing}), so the noise that is allowed "
        "is how far other runs of the same are from it, and whether both go wrong alike cannot be "
        "said."
    )
    return f"Only their answers were compared, not those of the checkpoint. {noise}"


def _tried(evidence: Evidence) -> str:
    lengths = evidence.reference.tokens[evidence.reference.tokens > 0]
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
