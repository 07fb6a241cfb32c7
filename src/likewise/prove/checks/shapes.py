"""Did the candidate answer the same items, row for row?"""

from __future__ import annotations

import numpy as np

from likewise.prove.checks._held import count
from likewise.prove.evidence import Evidence
from likewise.types import Measure

gate = "G0"


def check(evidence: Evidence) -> list[Measure]:
    """Return what does not match: items, outputs, rows, problems, and what the numbers mean."""
    ours, theirs = evidence.reference, evidence.candidate
    total = len(evidence.kinds)
    missing = [n for n in evidence.kinds if n not in theirs.arrays]
    unlike = [
        f"{n} {theirs.arrays[n].shape} for {ours.arrays[n].shape}"
        for n in evidence.kinds
        if n not in missing and theirs.arrays[n].shape != ours.arrays[n].shape
    ]
    rows = int(not np.array_equal(ours.owners, theirs.owners))
    items = int(ours.items_fingerprint != theirs.items_fingerprint or ours.count != theirs.count)
    return [
        count("same_items", "run", items, 1, "the two plans did not run on the same items"),
        count("outputs", "run", len(missing), total, f"there is no {' and no '.join(missing)}"),
        count("shapes", "run", len(unlike), total, f"shapes differ: {'; '.join(unlike)}"),
        count("rows", "run", rows, 1, "the rows do not belong to the same items"),
        _answered(evidence),
        *_contract(evidence),
    ]


def _answered(evidence: Evidence) -> Measure:
    """Return how many items one side cut, or could not read, and the other did not."""
    ours, theirs = evidence.reference.tokens, evidence.candidate.tokens
    if len(ours) != len(theirs) or len(theirs) != len(evidence.candidate.answers):
        words = f"{len(evidence.candidate.answers)} answers for {len(ours)} items"
        return count("answers", "run", 1, len(ours), words)
    unlike = np.flatnonzero(ours != theirs)
    if not len(unlike):
        return count("tokens", "run", 0, len(ours), "")
    first = int(unlike[0])
    words = (
        f"{len(unlike)} items were read otherwise: item {first} has {theirs[first]} tokens where "
        f"the reference has {ours[first]}"
    )
    return count("tokens", "run", len(unlike), len(ours), words)


def _contract(evidence: Evidence) -> list[Measure]:
    """Return what the task did otherwise on the two sides: pooling, labels, activation."""
    ours, theirs = (r.facts.get("task") for r in (evidence.reference, evidence.candidate))
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return []
    # A ported folder keeps the same tokenizer in a file of another name; the check sides compares.
    unsaid = {"tokenizer"} if evidence.other else set()
    keys = sorted({*ours, *theirs} - unsaid)
    unlike = [k for k in keys if ours.get(k) != theirs.get(k)]
    words = "the task differs: " + "; ".join(
        f"{k} is {theirs.get(k)} where the reference has {ours.get(k)}" for k in unlike
    )
    return [count("contract", "run", len(unlike), len(ours), words)]
