"""Does a person see another answer, where the reference is sure of its own?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from likewise.metrics._logits import margins
from likewise.prove.bounds import upper_rate
from likewise.prove.checks._held import held, unsure
from likewise.prove.choices import beyond, crossed, exclusive, independent, near_tie
from likewise.prove.evidence import Evidence
from likewise.prove.pairs import Pairs
from likewise.types import Measure

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers

gate = "G2"

_BEST = 5  # of more than twice as many classes, the set of the best five is held too


def check(evidence: Evidence) -> list[Measure]:
    """Return, per output with classes, unexcused flips, their bound, and the decisive items.

    A flip is excused where the reference prefers its own answer by no more than noise may do, that
    of the *yardstick*, never of the candidate: a wrong port must not excuse itself.
    """
    measures = []
    for pairs in evidence.judged.values():
        if exclusive(pairs):
            measures += _exclusive(evidence, pairs)
        elif independent(evidence, pairs):
            measures += _independent(evidence, pairs)
    return measures


def _exclusive(evidence: Evidence, pairs: Pairs) -> list[Measure]:
    """The best class, and the set of the best five where there are many."""
    noise = near_tie(evidence, pairs)
    classes = pairs.reference.shape[1]
    measures = [
        measure
        for k in ((1, _BEST) if classes > 2 * _BEST else (1,))
        for measure in _flips(
            evidence, pairs, f"top{k}_flips", beyond(pairs, k) - noise, f"the best {k}"
        )
    ]
    return [*measures, _decisive(pairs, margins(pairs.reference) - noise)]


def _independent(evidence: Evidence, pairs: Pairs) -> list[Measure]:
    """Each label on its own: a logit changes sign where the probability crosses one half."""
    noise = near_tie(evidence, pairs)
    excess = crossed(pairs).max(axis=1) - noise
    flips = _flips(evidence, pairs, "label_flips", excess, "a label at one half")
    lead = np.abs(np.asarray(pairs.reference, np.float64)).min(axis=1)
    return [*flips, _decisive(pairs, lead - noise)]


def _flips(
    evidence: Evidence, pairs: Pairs, metric: str, excess: Numbers, what: str
) -> list[Measure]:
    """Hold the number of flips beyond noise to none, or their rate's bound to the budget.

    Whichever of the two is not held is shown beside the other.
    """
    limit = evidence.limits["flips"]
    bad, total = int((excess > 0).sum()), len(excess)
    worst = int(pairs.items[int(excess.argmax())]) if bad else None
    words = f"{pairs.name}: {bad} of {total} answers differ in {what} beyond noise"
    words += ", most clearly on item {item}" if bad else ""
    count = Measure(metric, pairs.name, float(bad), "", total, worst_item=worst)
    rate = upper_rate(bad, total)
    bound = replace(count, value=rate, unit="rate, 95 % bound")
    if limit.value == 0:
        shown = unsure(held(count, limit, words), guessed=evidence.tiny(pairs))
        return [shown, replace(bound, metric=f"{metric}_bound")]
    # A bound over the limit with a rate under it says only that there are too few items.
    doubtful = 1.0 if bad / total <= limit.value else None
    words += ", which allows {value} of all (limit {limit})"
    counted = replace(count, metric=f"{metric}_counted")
    return [held(bound, limit, words, outside=doubtful), counted]


def _decisive(pairs: Pairs, lead: Numbers) -> Measure:
    """Return how many items could have shown a flip: every row of theirs leads beyond noise."""
    items, doubtful = np.unique(pairs.items), np.unique(pairs.items[lead <= 0])
    sure = float(len(items) - len(doubtful))
    return Measure("decisive", pairs.name, sure, "items", len(items), better="higher")
