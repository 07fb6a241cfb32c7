"""One entry of the record in; its row in the table and its verdict card, spelled, out."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, replace

from likewise.outcomes import Entry, Timing, Verdict, WorstItem
from likewise.report import numbers
from likewise.report.beside import RuleRow, StratumRow, canaries, flip_bound, rule_row, stratum_row
from likewise.report.derived import SHAPES, largest_error, outcome, throughput, urgency
from likewise.report.facts import Pairs, answers, pairs
from likewise.report.words import Words
from likewise.types import Measure

__all__ = ["Card", "MeasureRow", "PlanRow", "WorstRow", "card", "plan_row"]


@dataclass(frozen=True)
class PlanRow:
    """One plan at a glance."""

    plan: str
    outcome: str  # a key of SHAPES
    shape: str
    word: str
    chosen: bool
    reused: bool
    shaky: bool
    error: str
    closest: str  # the measure that fails, or uses most of its limit
    limit: str  # its value against its limit
    speed: str
    p90: str
    memory: str
    first: str
    reason: str  # why it is refused, or the first reason of its verdict, or what that means


@dataclass(frozen=True)
class MeasureRow:
    """One figure of a verdict, and what it was held to."""

    gate: str
    measure: str
    value: str
    limit: str
    source: str
    n: str
    worst: str
    holds: str
    shape: str  # ● holds, ✕ does not, "" is not judged
    reason: str


@dataclass(frozen=True)
class WorstRow:
    """One of the items on which two runs differ most."""

    item: str
    shown: str
    error: str
    reference: tuple[str, ...]
    candidate: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Card:
    """All that is known of one plan."""

    row: PlanRow
    timing: Pairs
    doubts: tuple[str, ...]
    ran: Pairs
    scope: str = ""
    reasons: tuple[str, ...] = ()
    evidence: Pairs = ()
    measures: tuple[MeasureRow, ...] = ()
    worst: tuple[WorstRow, ...] = ()
    strata: tuple[StratumRow, ...] = ()
    rules: tuple[RuleRow, ...] = ()
    absent: tuple[str, ...] = ()


def plan_row(entry: Entry, words: Words, *, chosen: bool) -> PlanRow:
    """Return the row of one plan."""
    verdict, timing, state = entry.verdict, entry.timing, outcome(entry)
    reasons = verdict.reasons if verdict is not None else ()
    closest, limit = _closest(verdict, words) if verdict is not None else ("", numbers.MISSING)
    return PlanRow(
        plan=entry.plan,
        outcome=state,
        shape=SHAPES[state],
        word=words[state],
        chosen=chosen,
        reused=entry.reused,
        shaky=bool(timing and timing.doubts),
        error=numbers.number(largest_error(verdict)) if verdict is not None else numbers.MISSING,
        closest=closest,
        limit=limit,
        speed=numbers.number(timing.items_per_second) if timing else numbers.MISSING,
        p90=numbers.milliseconds(timing.single.p90) if timing else numbers.MISSING,
        memory=numbers.mebibytes(timing.peak_bytes) if timing else numbers.MISSING,
        first=numbers.number(timing.first_result_seconds) if timing else numbers.MISSING,
        reason=entry.refusal or next(iter(reasons), words[f"means_{state}"]),
    )


def card(entry: Entry, words: Words, *, chosen: bool) -> Card:
    """Return the card of one plan that was not refused."""
    verdict, timing = entry.verdict, entry.timing
    bare = Card(
        row=plan_row(entry, words, chosen=chosen),
        timing=_timing(timing, words) if timing else (),
        doubts=timing.doubts if timing else (),
        ran=pairs(timing.facts if timing else {}, words),
    )
    if verdict is None:
        return bare
    return replace(
        bare,
        scope=verdict.scope,
        reasons=verdict.reasons,
        evidence=_evidence(verdict, entry.needs, words),
        measures=tuple(_measure_row(m, words) for m in verdict.measures),
        worst=tuple(_worst_row(w, words) for w in verdict.worst),
        strata=tuple(stratum_row(s, words) for s in verdict.strata),
        rules=tuple(rule_row(r, words) for r in verdict.rules),
        absent=tuple(
            words["absent"].format(field=field.replace("_", " "), reason=reason)
            for field, reason in sorted(verdict.absent.items())
        ),
        ran=pairs(verdict.facts, words),
    )


def _closest(verdict: Verdict, words: Words) -> tuple[str, str]:
    """Return the judged measure that fails, or else uses most of its limit, and by how much.

    Gate 0 comes last: what it counts is either right or says nothing about nearness.
    """
    judged = [m for m in verdict.measures if m.holds is not None or m.limit is not None]
    if not judged:
        return "", numbers.MISSING
    measure = max(judged, key=urgency)
    if measure.value is None:
        return _name(measure), words["not_measured"]
    value, limit = numbers.against(measure.value, measure.limit)
    if measure.limit is None:
        return _name(measure), value
    if measure.better == "lower":
        relation = "≤" if measure.value <= measure.limit else ">"
    else:
        relation = "≥" if measure.value >= measure.limit else "<"
    return _name(measure), f"{value} {relation} {limit}"


def _name(measure: Measure) -> str:
    return measure.metric.replace("_", " ")


def _measure_row(measure: Measure, words: Words) -> MeasureRow:
    value, limit = numbers.against(measure.value, measure.limit)
    if measure.limit is not None:
        limit = f"{'≤' if measure.better == 'lower' else '≥'} {limit}"
    unjudged = words["shown_only" if measure.limit is None else "undecided"]
    holds = {True: words["yes"], False: words["no"], None: unjudged}[measure.holds]
    return MeasureRow(
        gate=measure.gate,
        measure=f"{_name(measure)} ({measure.on})",
        value=value if measure.value is None else f"{value} {measure.unit}".rstrip(),
        limit=limit,
        source=measure.source,
        n=numbers.number(measure.n),
        worst=numbers.MISSING if measure.worst_item is None else str(measure.worst_item),
        holds=holds,
        shape={True: SHAPES["equal"], False: SHAPES["outside"], None: ""}[measure.holds],
        reason=measure.reason,
    )


def _worst_row(worst: WorstItem, words: Words) -> WorstRow:
    reference, candidate = answers(worst.reference, worst.candidate, words)
    return WorstRow(
        item=str(worst.item),
        shown=worst.shown,
        error=f"{numbers.number(worst.error)} ({worst.metric.replace('_', ' ')})",
        reference=reference,
        candidate=candidate,
        reason=worst.reason,
    )


def _evidence(verdict: Verdict, needs: tuple[str, ...], words: Words) -> Pairs:
    known = [e for e in verdict.errors if e is not None]
    lines = {
        "items_compared": numbers.number(verdict.n),
        "decisive": numbers.number(verdict.decisive),
        "flip_bound": flip_bound(verdict, words),
        "canaries": canaries(verdict, words),
        "largest_error": numbers.number(largest_error(verdict)),
        "median_error": numbers.number(statistics.median(known) if known else None),
        "noise_floor": numbers.number(verdict.noise_floor),
        "budget": verdict.budget,
        "reference": verdict.reference,
        "candidate": verdict.candidate,
        "needs": ", ".join(needs) or numbers.MISSING,
    }
    return tuple((words[name], text) for name, text in lines.items())


def _timing(timing: Timing, words: Words) -> Pairs:
    offline, single = timing.offline, timing.single
    low, high = throughput(offline)
    speed = numbers.number(timing.items_per_second)
    interval = words["interval"].format(low=numbers.number(low), high=numbers.number(high))
    passes = words["passes_are"].format(
        n=numbers.number(offline.n), warmups=numbers.number(len(offline.warmups))
    )
    one = words["one_item_is"].format(
        median=numbers.seconds(single.median),
        p90=numbers.seconds(single.p90),
        p99=numbers.seconds(single.p99),
        n=numbers.number(single.n),
    )
    phases = ", ".join(f"{name} {numbers.percent(s)}" for name, s in sorted(timing.phases.items()))
    return (
        (words["items_per_second"], f"{speed} ({interval})"),
        (words["passes"], passes),
        (words["one_item"], one),
        (words["phases"], phases or numbers.MISSING),
        (words["opened"], numbers.seconds(timing.open_seconds)),
        (words["first_result"], numbers.seconds(timing.first_result_seconds)),
        (words["peak_memory"], f"{numbers.mebibytes(timing.peak_bytes)} MiB"),
        *((f"{words['workload']} · {k}", v) for k, v in pairs(timing.workload, words)),
        (words["timed_at"], timing.made_at or numbers.MISSING),
    )
