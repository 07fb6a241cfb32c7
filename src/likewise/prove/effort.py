"""A subject in; the same with the items that a thorough proof adds, mined and swept, out.

Near-ties are texts on which the model itself hesitates: a port that is off by a little changes
its answer there first. The sweep has every token id read at least once: a row of the embedding
table that is wrong shows on no text without its token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from likewise import find
from likewise.engines._devices import threads
from likewise.metrics._logits import margins
from likewise.probes._recombined import recombined
from likewise.probes._sweep import sweep, wanted
from likewise.progress import Progress
from likewise.prove.runs import run_once
from likewise.prove.subject import Subject, contents
from likewise.types import Item, Json, Plan, Probe, Run

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers

__all__ = ["ADDED", "deepened"]

NEAR_TIE, SWEEP = "near tie", "vocabulary sweep"
ADDED = (NEAR_TIE, SWEEP)
"""Groups of probes that are not of the mix: no rate is made from them."""

_CANDIDATES = 16  # texts that are run for each that is kept
_LONGEST = 512  # tokens of a text of the sweep: a verdict has to stay affordable
_LONG = 400  # characters; longer texts are not recombined

Ask = Callable[[Subject, Sequence[Item]], Run]


def deepened(subject: Subject, progress: Progress, ask: Ask | None = None) -> Subject:
    """Return the subject with near-ties and the sweep, where its effort asks for them.

    The user's own items stay alone, and pictures have neither words nor halves.

    Args:
        subject: with its built-in probes.
        progress: told what is being done.
        ask: what runs the candidates for near-ties; None takes CPU float32 in batches.

    Raises:
        RefusedError: the candidates cannot be run.
    """
    size = subject.settings.proof.sized()
    if subject.own or subject.task.takes == "picture" or not (size.near_ties or size.swept_ids):
        return subject
    progress("probes", "every token id at least once")
    known = set(contents(subject.task, subject.items))
    swept, told = _swept(subject, size.swept_ids)
    if _chooses(subject):
        progress("probes", f"near-ties, out of {_CANDIDATES * size.near_ties} texts")
    mined, margin = _mined(subject, size.near_ties, known, ask or _asked)
    # Three over a multiple of four, as in open_subject.
    whole = len(subject.probes) + len(swept) + len(mined)
    kept = subject.probes[: len(subject.probes) - (whole + 1) % 4]
    return replace(subject, probes=(*kept, *mined, *swept), added={NEAR_TIE: margin, SWEEP: told})


def _swept(subject: Subject, most: int) -> tuple[list[Probe], Mapping[str, Json]]:
    """Return texts that together hold every token id a text can hold, and how many that are."""
    task, seed = subject.task, subject.settings.proof.seed
    hints, texts = task.hints(), getattr(task, "texts", None)
    if texts is None:  # a task from outside may keep its tokenizer to itself
        return [], {"texts": 0, "reason": "the task does not say what its tokenizer is"}
    tokenizer = texts.vocabulary.tokenizer
    ids, every = wanted(tokenizer, most, seed)
    room = max(1, min(texts.limit, _LONGEST) - int(hints["special_tokens"]))
    worded = find.load("probes", task.takes).worded

    def read(packed: Sequence[str]) -> list[set[int]]:
        rows = task.encode(worded(packed, seed, hints))
        return [set(row.arrays.get("input_ids", np.zeros(0, int)).tolist()) for row in rows]

    made, found = sweep(tokenizer, ids, room, read=read, seed=seed)
    told = {"texts": len(made), "ids_read": len(found), "ids_wanted": len(ids), "ids": every}
    return [Probe(item, SWEEP) for item in worded(made, seed, hints)], told


def _mined(
    subject: Subject, count: int, known: set[str], ask: Ask
) -> tuple[list[Probe], Mapping[str, Json]]:
    """Return the texts with the smallest margins of many, and between what they lie."""
    task, seed = subject.task, subject.settings.proof.seed
    if not _chooses(subject):
        return [], {"texts": 0, "reason": "the model chooses between no classes"}
    texts = [item for item in subject.items if isinstance(item, str) and len(item) <= _LONG]
    more = recombined(texts, _CANDIDATES * count, seed)
    items = find.load("probes", task.takes).worded(more, seed, task.hints())
    fresh: dict[str, Item] = {}
    for content, item in zip(contents(task, items), items, strict=True):
        if content and content not in known:
            fresh.setdefault(content, item)
    candidates = list(fresh.values())
    if not candidates:
        return [], {"texts": 0, "reason": "the probes could not be recombined"}
    found = _margins(ask(subject, candidates))
    chosen = [i for i in np.argsort(found, kind="stable").tolist() if np.isfinite(found[i])][:count]
    told: dict[str, Json] = {"texts": len(chosen), "of": len(candidates)}
    if chosen:
        told |= {"smallest_margin": found[chosen[0]], "largest_margin": found[chosen[-1]]}
        told["median_margin_of_all"] = float(np.median(found[np.isfinite(found)]))
    return [Probe(candidates[i], NEAR_TIE) for i in chosen], told


def _chooses(subject: Subject) -> bool:
    activation = subject.task.facts().get("activation", "softmax")
    return "logits" in subject.task.kinds and activation in ("softmax", "sigmoid")


def _margins(run: Run) -> Numbers:
    """Return (N,): by how little each item's answer is what it is; infinite where it has none."""
    logits = run.arrays["logits"]
    contract: Json = run.facts.get("task") or {}
    alone = contract.get("activation", "softmax") == "sigmoid"
    rows = np.abs(logits.astype(np.float64)).min(axis=1) if alone else margins(logits)
    least: Numbers = np.full(run.count, np.inf)
    np.minimum.at(least, run.owners, np.where(np.isfinite(rows), rows, np.inf))
    return least


def _asked(subject: Subject, items: Sequence[Item]) -> Run:
    return run_once(subject, Plan("torch", "cpu", "float32", 16, threads()), items)[0]
