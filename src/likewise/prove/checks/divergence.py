"""Do the probabilities say the same?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from likewise.metrics import divergence
from likewise.prove.checks._held import held_above_noise
from likewise.prove.evidence import Evidence
from likewise.prove.pairs import Pairs
from likewise.types import Measure

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers
    from likewise.types import Floats

gate = "G2"


def check(evidence: Evidence) -> list[Measure]:
    """Return the 99.9th percentile and the maximum of KL(reference ‖ candidate), in nats.

    Of logits too, because a saturated softmax hides them; of probabilities too, because what is
    made of right logits may be wrong; of independent labels, each label's own yes or no.
    """
    measures = []
    for name, pairs in evidence.pairs.items():
        rows = _formula(evidence, name, pairs)
        if rows is not None:
            measures += _held(evidence, pairs, rows)
    return measures


def _formula(
    evidence: Evidence, name: str, pairs: Pairs
) -> Callable[[Floats, Floats], Numbers] | None:
    if pairs.kind == "logits":
        return divergence.logit_rows
    if pairs.kind == "distribution":
        return divergence.rows
    sigmoid = evidence.contract.get("activation") == "sigmoid"
    return divergence.binary_rows if sigmoid and evidence.kinds[name] == "scores" else None


def _held(
    evidence: Evidence, pairs: Pairs, rows: Callable[[Floats, Floats], Numbers]
) -> list[Measure]:
    values = rows(pairs.reference, pairs.candidate)
    worst = int(pairs.items[int(values.argmax())])
    # The divergence of a small error grows with its square.
    allowed = evidence.allowance**2
    noise = 0.0 if pairs.obstacle else allowed * float(pairs.noise(rows).max())
    words = f"{pairs.name}: item {{item}} diverges by {{value}} nat (limit {{limit}})"
    return [
        held_above_noise(
            Measure(metric, pairs.name, float(value), "nat", len(values), worst_item=worst),
            evidence.limits[name],
            words,
            noise,
        )
        for metric, name, value in (
            ("divergence_p99.9", "divergence", np.percentile(values, 99.9)),
            ("divergence_max", "divergence_max", values.max()),
        )
    ]
