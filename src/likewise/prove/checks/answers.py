"""Does the answer that a person gets say what the numbers say?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from likewise.prove.checks._held import count
from likewise.prove.evidence import Evidence
from likewise.types import Answer, Json, Measure

if TYPE_CHECKING:
    from likewise.types import Floats

gate = "G0"


def check(evidence: Evidence) -> list[Measure]:
    """Return how many answers do not follow from the candidate's own arrays.

    All other checks look at arrays; a person sees labels, tokens and vectors.
    """
    run = evidence.candidate
    name = next((n for n in ("scores", "vector") if n in run.arrays), None)
    if name is None or not evidence.comparable or len(run.answers) != run.count:
        return []  # the check shapes says what is wrong
    said = run.facts.get("task") if evidence.other else None  # the check shapes holds it to ours
    contract = said or evidence.contract
    rows: dict[int, list[Floats]] = {}
    for owner, row in zip(run.owners.tolist(), run.arrays[name], strict=True):
        rows.setdefault(owner, []).append(row)
    answered = [item for item in rows if "error" not in run.answers[item]]
    wrong = [i for i in answered if not _follows(run.answers[i], rows[i], contract)]
    some = ", ".join(map(str, wrong[:5]))
    words = f"{len(wrong)} answers are not what the numbers say: item(s) {some}"
    return [count("answers", name, len(wrong), len(answered), words)]


def _follows(answer: Answer, rows: Sequence[Floats], contract: Mapping[str, Json]) -> bool:
    """Tell whether an answer of any form is made from the rows of its item."""
    if "vector" in answer:
        return np.array_equal(answer["vector"], rows[0])
    if "value" in answer or "values" in answer:
        return np.array_equal(answer.get("values", [answer.get("value")]), rows[0].ravel())
    labels = contract.get("labels") or []
    named = not labels or all(e["label"] == labels[e["index"]] for e in answer.get("labels", ()))
    lists = answer["masks"] if "masks" in answer else [answer.get("labels", [])]
    return (
        named
        and len(lists) == len(rows)
        and all(_best_first(list_, row, contract) for list_, row in zip(lists, rows, strict=True))
    )


def _best_first(entries: Sequence[Json], row: Floats, contract: Mapping[str, Json]) -> bool:
    """Tell whether entries have the scores of their indices, and begin with the best of all.

    Of stated targets, those that are no token have a reason in place of a score; with a threshold
    just the labels from it on are there, perhaps none.
    """
    threshold, whole = contract.get("threshold"), not contract.get("targets")
    entries = [entry for entry in entries if entry["index"] is not None]
    if threshold is not None and len(entries) != int((row >= threshold).sum()):
        return False
    if not entries:
        return threshold is not None or not whole
    scores = [entry["score"] for entry in entries]
    return (
        np.array_equal(scores, row[[entry["index"] for entry in entries]])
        and scores == sorted(scores, reverse=True)
        and (not whole or scores[0] == row.max())
    )
