"""Does a search over the vectors find the same?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from likewise.metrics import similarity_drift
from likewise.metrics._logits import gaps
from likewise.metrics._rows import unit_rows
from likewise.prove.checks._held import held, held_above_noise, unknown, unsure
from likewise.prove.evidence import Evidence
from likewise.prove.pairs import Pairs
from likewise.types import Measure

gate = "G2"

_NEAREST = 10


def check(evidence: Evidence) -> list[Measure]:
    """Return, per output of vectors, how far similarities moved and which neighbours changed."""
    return [
        m
        for pairs in evidence.pairs.values()
        if pairs.kind == "vector"
        for m in _vectors(evidence, pairs)
    ]


def _vectors(evidence: Evidence, pairs: Pairs) -> list[Measure]:
    noise = _noise(pairs)
    return [
        _drift(evidence, pairs, evidence.allowance * noise),
        _overlap(evidence, pairs, noise),
    ]


def _noise(pairs: Pairs) -> float:
    """Return the largest drift of an honest run, the same for every pair of items."""
    if pairs.obstacle:
        return 0.0
    centre = pairs.centre[pairs.known]
    return max(float(similarity_drift.rows(centre, run).max()) for run in pairs.honest)


def _drift(evidence: Evidence, pairs: Pairs, noise: float) -> Measure:
    measure = similarity_drift.measure(pairs.reference, pairs.candidate)
    item = None if measure.worst_item is None else int(pairs.items[measure.worst_item])
    words = (
        f"{pairs.name}: the similarity of item {{item}} to another moved by {{value}} "
        "(limit {limit})"
    )
    return held_above_noise(
        replace(measure, on=pairs.name, worst_item=item),
        evidence.limits["similarity_drift"],
        words,
        noise,
    )


def _overlap(evidence: Evidence, pairs: Pairs, noise: float) -> Measure:
    """Return the share of the ten nearest that are still among them, ties within noise excused."""
    limit = evidence.limits["neighbour_overlap"]
    shown = Measure("neighbour_overlap", pairs.name, None, "share", 0, better="higher")
    if len(pairs.items) <= 2 * _NEAREST:
        return unknown(shown, limit, f"{len(pairs.items)} vectors are too few to have neighbours")
    chosen = similarity_drift.sample(len(pairs.items))
    before, after = (
        (unit := unit_rows(rows[chosen])) @ unit.T for rows in (pairs.reference, pairs.candidate)
    )
    for similarity in (before, after):
        np.fill_diagonal(similarity, -np.inf)  # an item is no neighbour of itself
    lost = gaps(before, after, _NEAREST) > 2 * noise
    worst = int(lost.sum(axis=1).argmax())
    words = (
        f"{pairs.name}: only {{value}} of the ten nearest stay (limit {{limit}}), "
        "worst for item {item}"
    )
    measure = held(
        replace(
            shown,
            value=1.0 - float(lost.mean()),
            n=len(lost),
            worst_item=int(pairs.items[chosen[worst]]),
        ),
        limit,
        words,
    )
    return unsure(measure, guessed=evidence.tiny(pairs))
