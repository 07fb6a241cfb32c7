"""The evidence in; every check's measures, and the outcome that follows from them, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from likewise import find
from likewise.outcomes import Verdict
from likewise.prove.evidence import Evidence
from likewise.prove.power import power
from likewise.prove.rules import rules
from likewise.prove.scope import scope
from likewise.prove.strata import strata
from likewise.prove.worst import worst_items
from likewise.types import Measure, Outcome

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers
    from likewise.types import Ints

__all__ = ["judge", "outcome_of"]

_ROOM = "prove/checks"
_DECISIVE_GATE = "G1"


def judge(evidence: Evidence) -> Verdict:
    """Ask every check its question, and combine the answers.

    One measure that fails makes the plan ``outside``; else one that could not be decided makes
    it ``undecided``, and so does a first or second gate without any measure: nothing measured is
    never a pass. Where a gate-0 measure fails, rows cannot be compared, and later gates are not
    asked.
    """
    measures = _ask(evidence)
    outcome, reasons = _combine(evidence, measures)
    primary = next(iter(evidence.judged.values()), None)
    decisive, floor = _value(measures, "decisive"), _value(measures, "noise_floor")
    errors = _by_item(evidence, primary.items, primary.errors) if primary else ()
    known = primary is not None and not primary.obstacle
    reference = evidence.other.run if evidence.other else evidence.truth or evidence.yardstick
    tried = power(evidence, outcome, measures)
    return Verdict(
        outcome=outcome,
        measures=tuple(measures),
        n=len(np.unique(primary.items)) if primary else 0,
        decisive=None if decisive is None else int(decisive),
        noise_floor=floor,
        reference=str(reference.plan),
        candidate=str(evidence.plan),
        budget=evidence.limits.budget,
        reasons=tuple(reasons),
        worst=worst_items(evidence, primary) if primary else (),
        facts=evidence.candidate.facts,
        scope=scope(evidence, outcome, tried),
        effort=tried,
        against=evidence.other.facts if evidence.other else {},
        errors=errors,
        floor=_by_item(evidence, primary.items[primary.known], primary.floor)
        if primary and known
        else (),
        rules=rules(evidence, measures),
        strata=strata(evidence),
        absent=_absent(evidence, decisive, floor, errors),
    )


def outcome_of(evidence: Evidence) -> Outcome:
    """Return the outcome alone, without what a card shows beside it."""
    return _combine(evidence, _ask(evidence))[0]


@cache
def _checks() -> list[tuple[str, ModuleType]]:
    """Return every check with its name, in the order of their gates."""
    modules = [(name, find.load(_ROOM, name)) for name in find.names(_ROOM)]
    return sorted(modules, key=lambda pair: (pair[1].gate, pair[0]))


def _ask(evidence: Evidence) -> list[Measure]:
    measures: list[Measure] = []
    for name, module in _checks():
        if module.gate != "G0" and any(m.holds is False for m in measures if m.gate == "G0"):
            break
        measures += [replace(m, gate=module.gate, check=name) for m in module.check(evidence)]
    return measures


def _combine(evidence: Evidence, measures: Sequence[Measure]) -> tuple[Outcome, list[str]]:
    failed = [m.reason for m in measures if m.holds is False]
    unknown = [m.reason for m in measures if m.limit is not None and m.holds is None]
    if failed:
        return "outside", [*failed, *unknown]
    asked = {m.gate for m in measures if m.holds}
    if unknown or not asked >= {"G0", _DECISIVE_GATE}:
        return "undecided", unknown or ["nothing was compared, and that is never a pass"]
    return ("equal" if evidence.limits.exact else "within"), [_why_it_passes(evidence, measures)]


def _why_it_passes(evidence: Evidence, measures: Sequence[Measure]) -> str:
    held = sum(m.holds is True for m in measures)
    if evidence.limits.exact:
        most = max((m for m in measures if m.metric == "amplification_max"), key=_size)
        return (
            f"all {held} limits hold: no item is more than {most.value:.2g} times as far from "
            f"{_honest(evidence)} (limit {most.limit:g})"
        )
    judged = [m for m in measures if m.metric == "spread_error" and m.holds]
    most = max(judged, key=_size)
    return (
        f"all {held} limits of {evidence.limits.precision} hold: errors are at most "
        f"{most.value:.2g} of the distance between items (limit {most.limit:g})"
    )


def _honest(evidence: Evidence) -> str:
    if evidence.other is None:
        return "the reference as honest float32 is"
    than = "other runs of it are" if evidence.guessed else "honest float32 is from float64"
    return f"{evidence.other.named} as {than}"


def _size(measure: Measure) -> float:
    return measure.value or 0.0


def _value(measures: Sequence[Measure], metric: str) -> float | None:
    return next((m.value for m in measures if m.metric == metric), None)


def _by_item(evidence: Evidence, items: Ints, rows: Numbers) -> tuple[float | None, ...]:
    """Return the largest of each item's rows, N of them; None where it has none, or no number."""
    largest = np.full(evidence.reference.count, -np.inf)
    with np.errstate(invalid="ignore"):
        np.maximum.at(largest, items, rows)
    return tuple(v if np.isfinite(v) else None for v in largest.tolist())


def _absent(
    evidence: Evidence,
    decisive: float | None,
    floor: float | None,
    errors: Sequence[float | None],
) -> dict[str, str]:
    """Return, for every field that is None or holds one, why."""
    stopped = "" if evidence.judged else "the rows of the two runs could not be compared"
    why = {}
    if decisive is None:
        why["decisive"] = stopped or "no classes to choose from, or not asked after a failure"
    if floor is None:
        why["noise_floor"] = stopped or evidence.truth_missing or "not asked after a failure"
    if None in errors or not errors:
        why["errors"] = stopped or "the item has no answer, or a number that is not finite"
    if evidence.truth is not None:
        why["floor"] = stopped or "float64 ran on a sample of the items"
    return why
