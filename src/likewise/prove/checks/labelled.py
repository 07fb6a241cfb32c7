"""Is the task done as well, on items of which the right answer is known?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from likewise.metrics._rows import unit_rows
from likewise.prove.checks._held import ZERO, count, doubted, unknown
from likewise.prove.evidence import Evidence
from likewise.prove.inferiority import items_needed, most_lost, rank_difference
from likewise.types import Measure, Run

if TYPE_CHECKING:
    from likewise.types import Floats

gate = "G4"


def check(evidence: Evidence) -> list[Measure]:
    """Return the accuracy of both sides, and the most that may have been lost; [] without labels.

    A plan in float32 must lose no item. Any other is held to a margin: the 95 % bound of the loss
    (Tango), or for vectors the 90 % interval of the difference in Spearman (paired bootstrap).
    """
    if evidence.labelled is None:
        return []
    ours, theirs = evidence.labelled.reference, evidence.labelled.candidate
    gold = np.asarray(evidence.labelled.gold)
    if "vector" in evidence.kinds:
        return list(_ranked(evidence, gold, _similarities(ours), _similarities(theirs)))
    return list(_accuracy(evidence, _right(ours, gold), _right(theirs, gold)))


def _right(run: Run, gold: np.ndarray) -> np.ndarray:
    """Return (N,) whether the best answer of each item is the right one."""
    right = np.zeros(len(gold), np.bool_)
    first = np.unique(run.owners, return_index=True)[1]  # of several masks the first counts
    best = run.arrays["scores"][first].argmax(axis=1)
    right[run.owners[first]] = best == gold[run.owners[first]]
    return right


def _accuracy(evidence: Evidence, ours: np.ndarray, theirs: np.ndarray) -> Iterator[Measure]:
    total = len(ours)
    for on, right in (("reference", ours), ("candidate", theirs)):
        yield Measure("accuracy", on, float(right.mean()), "share", total, better="higher")
    lost, won = int((ours & ~theirs).sum()), int((theirs & ~ours).sum())
    if evidence.limits.exact:
        words = f"{lost} of {total} labelled items are right in the reference alone"
        yield doubted(count("labels_lost", "labelled", lost, total, words))
        return
    limit = evidence.limits["task_loss"]
    bound = most_lost(lost, won, total)
    shown = Measure("accuracy_loss", "labelled", bound, "share, 95 % bound", total)
    words = (
        f"{lost} of {total} labelled items are right in the reference alone and {won} in the "
        f"candidate alone, which allows a loss of {bound:.3g} (limit {limit.value:.3g})"
    )
    if bound <= limit.value:
        yield replace(shown, limit=limit.value, source=limit.source, holds=True)
    elif (lost - won) / total > limit.value:
        yield replace(shown, limit=limit.value, source=limit.source, holds=False, reason=words)
    else:
        needed = items_needed((lost + won) / total, limit.value)
        yield unknown(shown, limit, f"{words}; about {needed:,} items would tell")


def _similarities(run: Run) -> Floats:
    """Return (N,) cosines of the first texts with the second ones."""
    unit = unit_rows(run.arrays["vector"])
    half = len(unit) // 2
    cosines: Floats = (unit[:half] * unit[half:]).sum(axis=1)
    return cosines


def _ranked(
    evidence: Evidence, gold: np.ndarray, ours: Floats, theirs: Floats
) -> Iterator[Measure]:
    if not len(gold) == len(ours) == len(theirs):
        shown = Measure("spearman_difference", "labelled", None, "", len(gold))
        yield unknown(shown, ZERO, "some labelled texts have no vector")
        return
    reference, candidate, low, high = rank_difference(gold, ours, theirs)
    for on, value in (("reference", reference), ("candidate", candidate)):
        yield Measure("spearman", on, value, "", len(gold), better="higher")
    limit = evidence.limits["task_loss"]
    far = max(abs(low), abs(high))
    shown = Measure("spearman_difference", "labelled", far, "90 % interval", len(gold))
    words = f"Spearman differs by {low:.3g} to {high:.3g} (limit ± {limit.value:.3g})"
    if far <= limit.value:
        yield replace(shown, limit=limit.value, source=limit.source, holds=True)
    elif low > limit.value or high < -limit.value:
        yield replace(shown, limit=limit.value, source=limit.source, holds=False, reason=words)
    else:
        yield unknown(shown, limit, f"{words}: more pairs would tell")
