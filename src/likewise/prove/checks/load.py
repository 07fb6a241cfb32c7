"""Did both sides load the whole checkpoint, and nothing else?"""

from __future__ import annotations

from likewise.prove.checks._held import ZERO, count, doubted, unknown
from likewise.prove.evidence import Evidence
from likewise.types import Json, Measure, Run

gate = "G0"


def check(evidence: Evidence) -> list[Measure]:
    """Return tensors that are missing, strange or changed; and whether loading is repeatable.

    Two processes with different seeds must hold the same bits: a head that is drawn at random, a
    dropout left on or a buffer that was never written shows there, and nowhere else, because the
    same chance on both sides agrees with itself.
    """
    other = evidence.truth or next(iter(evidence.variants), None)
    references = [(on, r) for on, r in evidence.references() if _loads(evidence, r)]
    measures = [_tensors(on, run) for on, run in references]
    if "loading" in evidence.candidate.facts:
        measures += [_tensors("candidate", evidence.candidate), *_same(evidence)]
    measures.append(_double_load(evidence, other))
    measures += [m for on, run in evidence.references() for m in _repeat(on, run)]
    return measures


def _loads(evidence: Evidence, run: Run) -> bool:
    """Tell whether a reference has to say which tensors it loaded.

    An export that is compared does not: its files are checked when its folder is opened.
    """
    return evidence.other is None or run.plan.engine == "torch"


def _tensors(on: str, run: Run) -> Measure:
    load: Json = run.facts.get("loading")
    if not isinstance(load, dict):
        shown = Measure("unloaded_tensors", on, None, "tensors", 0)
        return unknown(shown, ZERO, f"the {on} does not say which tensors it loaded")
    strange = [*load.get("missing", ()), *load.get("unexpected", ())]
    total = int(load.get("tensors", 0))
    changed = total - int(load.get("checked", 0)) - len(load.get("unused", ()))
    names = f": {', '.join(map(str, strange[:3]))}" if strange else ""
    bad = len(strange) + changed
    words = (
        f"the {on} holds {bad} tensor(s) that are missing, strange to the file or not equal to "
        f"it{names}"
    )
    measure = count("unloaded_tensors", on, bad, total, words)
    return measure if on == "candidate" else doubted(measure)


def _same(evidence: Evidence) -> list[Measure]:
    """Return whether the candidate's weights are the yardstick's, where they are not rounded."""
    ours, theirs = (
        (run.facts.get("loading") or {}).get("sha256")
        for run in (evidence.yardstick, evidence.candidate)
    )
    if evidence.other is not None or not (evidence.limits.exact and ours and theirs):
        return []  # of two folders that are compared, answers decide
    words = (
        "the candidate holds other weights than the reference: another checkpoint, or an old one"
    )
    return [count("weights", "candidate", int(ours != theirs), 1, words)]


def _double_load(evidence: Evidence, other: Run | None) -> Measure:
    if not any(_loads(evidence, run) for _, run in evidence.references()):
        reason = "no weights are here: the files are those that were proven, by their sha256"
        return Measure("double_load", "load", None, "", 0, reason=reason)
    digests = [
        (run.facts.get("loading") or {}).get("sha256")
        for run in (evidence.yardstick, other)
        if run is not None
    ]
    if len(digests) < 2 or not all(digests):
        shown = Measure("double_load", "load", None, "", len(digests))
        return unknown(shown, ZERO, "the weights were not loaded twice and compared")
    words = (
        "loading twice with different seeds gives different weights: some are drawn at random, "
        "because the checkpoint does not hold them"
    )
    return doubted(count("double_load", "load", int(digests[0] != digests[1]), 2, words))


def _repeat(on: str, run: Run) -> list[Measure]:
    if "repeat_equal" not in run.facts:
        return []
    words = f"the {on} gives other numbers when it runs again: something in it is random"
    unlike = int(not run.facts["repeat_equal"])
    return [doubted(count("repeat", on, unlike, 2, words))]
