"""Did what ran run where and how the plan says?"""

from __future__ import annotations

import numpy as np

from likewise.prove.checks._held import count, doubted
from likewise.prove.evidence import Evidence
from likewise.types import Json, Measure, Run

gate = "G0"


def check(evidence: Evidence) -> list[Measure]:
    """Return what differs between plan and facts, on the candidate and on the references.

    A plan that asks for another device and silently runs on the CPU scores perfectly: it is the
    reference. A reference that is not in the precision it claims excuses every fault.
    """
    return [
        *_as_planned("candidate", evidence.candidate),
        *(doubted(m) for on, run in evidence.references() for m in _as_planned(on, run)),
        _fallbacks(evidence),
        *_suspicious(evidence),
    ]


def _as_planned(on: str, run: Run) -> list[Measure]:
    asked = {"engine": run.plan.engine, "device": run.plan.device, "dtype": run.plan.dtype}
    measures = []
    for name, value in asked.items():
        ran = run.facts.get(name)
        words = f"{on}: the plan says {name} {value}, what ran says {ran or 'nothing'}"
        wrong = int(not _agrees(value, ran))
        measures.append(count(name, on, wrong, 1, words))
    return measures


def _agrees(asked: str, ran: Json) -> bool:
    """Tell whether a fact is what was asked for; ``npu`` is met by ``npu:0``, not by ``cpu``.

    A fact of several words is what several parameters are.
    """
    values = str(ran or "").split()
    return bool(values) and all(v == asked or v.partition(":")[0] == asked for v in values)


def _fallbacks(evidence: Evidence) -> Measure:
    fallen = evidence.candidate.facts.get("fallbacks") or []
    words = f"{len(fallen)} operator(s) fell back to the CPU: {', '.join(map(str, fallen[:5]))}"
    return count("fallbacks", "candidate", len(fallen), 1, words)


def _suspicious(evidence: Evidence) -> list[Measure]:
    """Return whether another engine or device gave the reference's very bits.

    Two ways to sum never agree on every bit of every row: then the candidate is the reference.
    """
    ours, theirs = evidence.reference, evidence.candidate
    if (ours.plan.engine, ours.plan.device) == (theirs.plan.engine, theirs.plan.device):
        return []
    same = evidence.comparable and all(
        np.array_equal(ours.arrays[name], theirs.arrays[name], equal_nan=True)
        for name in evidence.kinds
    )
    words = f"every bit is that of {ours.plan}: most likely that is what ran"
    measure = count("identical", "candidate", int(same), 1, words)
    return [doubted(measure)]
