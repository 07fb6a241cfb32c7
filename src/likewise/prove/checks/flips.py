"""Does a person see another answer, where the reference is sure of its own?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likewise.metrics import max_difference
from likewise.metrics._logits import deviations, gaps, margins
from likewise.metrics._rows import by_rows
from likewise.prove.bounds import upper_rate
from likewise.prove.checks._held import held, unsure
from likewise.prove.evidence import Evidence
from likewise.prove.pairs import Pairs
from likewise.types import Measure

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers

gate = "G2"

_BEST = 5  # of more than twice as many classes, the set of the best five is held too


def check(evidence: Evidence) -> list[Measure]:
    """Return, per output with classes, unexcused flips, and how many items were decisive.

    A flip is excused where the reference prefers its own answer by no more than twice the noise of
    the *yardstick*, never of the candidate: a wrong port must not excuse itself.
    """
    measures = []
    for name, pairs in evidence.judged.items():
        if pairs.kind in ("logits", "distribution") and pairs.reference.shape[1] > 1:
            measures += _exclusive(evidence, pairs)
        elif evidence.contract.get("activation") == "sigmoid" and evidence.kinds[name] == "logits":
            measures += _independent(evidence, pairs)
    return measures


def _exclusive(evidence: Evidence, pairs: Pairs) -> list[Measure]:
    """The best class, and the set of the best five where there are many."""
    noise = 2 * _noise(pairs)
    classes = pairs.reference.shape[1]
    measures = [
        _flips(evidence, pairs, f"top{k}_flips", _beyond(pairs, k) - noise, f"the best {k}")
        for k in ((1, _BEST) if classes > 2 * _BEST else (1,))
    ]
    return [*measures, _decisive(pairs, margins(pairs.reference) - noise)]


def _independent(evidence: Evidence, pairs: Pairs) -> list[Measure]:
    """Each label on its own: a logit changes sign where the probability crosses one half."""
    noise = 2 * _noise(pairs)
    ours = np.asarray(pairs.reference, np.float64)
    crossed = np.where((ours > 0) != (pairs.candidate > 0), np.abs(ours), -np.inf).max(axis=1)
    flips = _flips(evidence, pairs, "label_flips", crossed - noise, "a label at one half")
    return [flips, _decisive(pairs, np.abs(ours).min(axis=1) - noise)]


def _beyond(pairs: Pairs, count: int) -> Numbers:
    gap: Numbers = gaps(pairs.reference, pairs.candidate, count).max(axis=1)
    return np.where(gap > 0, gap, -np.inf)


def _noise(pairs: Pairs) -> Numbers:
    if pairs.obstacle:
        return np.zeros(len(pairs.items))
    if pairs.softmax:
        return pairs.noise(lambda r, y: by_rows(deviations, r, y))
    return pairs.noise(max_difference.rows)


def _flips(evidence: Evidence, pairs: Pairs, metric: str, excess: Numbers, what: str) -> Measure:
    """Hold the number of flips beyond noise to none, or their rate's bound to the budget."""
    limit = evidence.limits["flips"]
    bad, total = int((excess > 0).sum()), len(excess)
    worst = int(pairs.items[int(excess.argmax())]) if bad else None
    words = f"{pairs.name}: {bad} of {total} answers differ in {what} beyond noise"
    words += ", most clearly on item {item}" if bad else ""
    if limit.value == 0:
        shown = Measure(metric, pairs.name, float(bad), "", total, worst_item=worst)
        return unsure(held(shown, limit, words), guessed=evidence.tiny(pairs))
    rate = upper_rate(bad, total)
    shown = Measure(metric, pairs.name, rate, "rate, 95 % bound", total, worst_item=worst)
    # A bound over the limit with a rate under it says only that there are too few items.
    doubtful = 1.0 if bad / total <= limit.value else None
    words += ", which allows {value} of all (limit {limit})"
    return held(shown, limit, words, outside=doubtful)


def _decisive(pairs: Pairs, lead: Numbers) -> Measure:
    """Return how many items could have shown a flip: every row of theirs leads beyond noise."""
    items, doubtful = np.unique(pairs.items), np.unique(pairs.items[lead <= 0])
    sure = float(len(items) - len(doubtful))
    return Measure("decisive", pairs.name, sure, "items", len(items), better="higher")
