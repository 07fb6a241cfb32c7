"""Entries of the record in; the few things that follow from them, not yet rounded, out."""

from __future__ import annotations

import math

from likewise.outcomes import Entry, Report, Samples, Verdict
from likewise.types import Measure

__all__ = [
    "SHAPES",
    "in_order",
    "largest_error",
    "largest_floor",
    "outcome",
    "share_of_limit",
    "throughput",
    "urgency",
]

SHAPES = {
    "equal": "●",
    "within": "◆",
    "outside": "✕",
    "undecided": "?",
    "refused": "⊘",
    "unjudged": "○",
}
"""Outcomes by shape, for whoever does not see the colour."""


def outcome(entry: Entry) -> str:
    """Return what became of a plan, as a key of SHAPES."""
    if entry.refusal is not None:
        return "refused"
    return "unjudged" if entry.verdict is None else entry.verdict.outcome


def in_order(report: Report) -> list[Entry]:
    """Return the entries as they are shown everywhere.

    The chosen plan, the others that passed, fastest first, then the rest, refusals last.
    """
    order = {plan: n for n, plan in enumerate(report.choice.ranking, 1)}
    if report.choice.plan is not None:
        order[report.choice.plan] = 0
    late = {"outside": 1, "undecided": 2, "unjudged": 3, "refused": 4}

    def place(entry: Entry) -> tuple[int, int]:
        return order.get(entry.plan, len(order)), late.get(outcome(entry), 0)

    return sorted(report.entries, key=place)


def largest_error(verdict: Verdict) -> float | None:
    """Return the largest error of an item; None where there is none.

    None too where a plan that does not pass has items without an error: an item that gave no
    number is worse than any that did, and no maximum may hide it.
    """
    known = [e for e in verdict.errors if e is not None]
    whole = verdict.passes or len(known) == len(verdict.errors)
    return max(known) if known and whole else None


def largest_floor(verdict: Verdict) -> float | None:
    """Return the largest error of CPU float32 itself; None where it was not measured."""
    return max((e for e in verdict.floor if e is not None), default=None)


def share_of_limit(measure: Measure) -> float:
    """Return how much of its limit a measure uses: 0 at best, 1 at the limit, above 1 beyond.

    A similarity (higher is better, at most 1) is taken by its distance to 1.
    """
    value, limit = measure.value, measure.limit
    if value is None or limit is None:
        return math.inf
    if measure.better == "higher" and value <= 1 and limit <= 1:
        value, limit = 1 - value, 1 - limit
    elif measure.better == "higher":
        value, limit = limit, value
    if limit <= 0:
        return 0.0 if value <= limit else math.inf
    return value / limit


def urgency(measure: Measure) -> tuple[int, bool, bool, float]:
    """Return a key that puts last the judged measure to show where there is room for one.

    What fails comes after what could not be decided, and that after what holds; then what has a
    figure, what gate 0 does not ask (its counts are right or wrong, never near), and what uses
    most of its limit.
    """
    return (
        {False: 2, None: 1, True: 0}[measure.holds],
        measure.value is not None,
        measure.gate != "G0",
        share_of_limit(measure),
    )


def throughput(offline: Samples) -> tuple[float | None, float | None]:
    """Return items per second at the two ends of the median's 95 % interval."""
    return (
        offline.items / offline.high if offline.high > 0 else None,
        offline.items / offline.low if offline.low > 0 else None,
    )
