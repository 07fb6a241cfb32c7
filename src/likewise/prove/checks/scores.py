"""Are independent scores and regression values the same numbers?"""

from __future__ import annotations

import numpy as np

from likewise.metrics import max_difference
from likewise.prove.checks._held import held_above_noise
from likewise.prove.evidence import Evidence
from likewise.prove.pairs import Pairs
from likewise.types import Measure

gate = "G2"


def check(evidence: Evidence) -> list[Measure]:
    """Return, per output of scores, the largest difference in units of their standard deviation."""
    return [
        _held(evidence, pairs)
        for name, pairs in evidence.pairs.items()
        if evidence.kinds[name] == "scores"
    ]


def _held(evidence: Evidence, pairs: Pairs) -> Measure:
    rows = np.asarray(pairs.reference, np.float64).reshape(len(pairs.items), -1)
    deviation = float(np.sqrt(rows.var(axis=0).mean()))
    with np.errstate(all="ignore"):
        values = max_difference.rows(pairs.reference, pairs.candidate) / deviation
    noise = 0.0
    if not pairs.obstacle:
        known = float(pairs.noise(max_difference.rows).max()) / deviation
        noise = evidence.allowance * known
    worst = int(values.argmax())
    return held_above_noise(
        Measure(
            "score_difference",
            pairs.name,
            float(values[worst]),
            "standard deviations",
            len(values),
            worst_item=int(pairs.items[worst]),
        ),
        evidence.limits["score_difference"],
        f"{pairs.name}: item {{item}} is off by {{value}} standard deviations (limit {{limit}})",
        noise,
    )
