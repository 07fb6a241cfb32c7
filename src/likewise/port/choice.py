"""Entries in; the Pareto front of speed against error, the ranking, and the plan to keep, out."""

from __future__ import annotations

from collections.abc import Sequence

from likewise.types import Choice, Entry

__all__ = ["choose"]


def choose(entries: Sequence[Entry], *, goal: str) -> Choice:
    """Pick the fastest plan whose verdict passes.

    Args:
        entries: every plan that was tried.
        goal: ``throughput`` (items a second) or ``latency`` (median of one item).

    Returns:
        The choice; its plan is None where nothing passed, and the reason says so. A plan that was
        not timed cannot be chosen: nothing measured is never a pass.
    """
    passing = [e for e in entries if e.verdict is not None and e.verdict.passes and e.timing]
    ranked = sorted(passing, key=lambda e: _cost(e, goal))
    front = tuple(e.plan for e in ranked if not any(_beats(o, e, goal) for o in passing))
    ranking = tuple(e.plan for e in ranked)
    if not ranked:
        return Choice(None, _why_none(entries), front, ranking)
    return Choice(ranked[0].plan, _why(ranked, goal), front, ranking)


def _cost(entry: Entry, goal: str) -> float:
    """Seconds an item: lower is better for both goals."""
    assert entry.timing is not None
    if goal == "latency":
        return entry.timing.single.median
    return 1.0 / entry.timing.items_per_second


def _error(entry: Entry) -> float:
    assert entry.verdict is not None
    known = [e for e in entry.verdict.errors if e is not None]
    return max(known, default=float("inf"))


def _beats(one: Entry, other: Entry, goal: str) -> bool:
    pair = (_cost(one, goal), _error(one)), (_cost(other, goal), _error(other))
    return all(a <= b for a, b in zip(*pair, strict=True)) and pair[0] != pair[1]


def _why(ranked: list[Entry], goal: str) -> str:
    first = ranked[0]
    assert first.timing is not None
    word = "most items a second" if goal == "throughput" else "shortest time for one item"
    reason = f"{word} of the {len(ranked)} plan(s) that passed"
    if len(ranked) > 1:
        ratio = _cost(ranked[1], goal) / _cost(first, goal)
        reason += f"; {ratio:.2f}x the next, {ranked[1].plan}"
        if _overlap(first, ranked[1], goal):
            reason += " (their 95 % intervals overlap: call it a draw)"
    return reason


def _overlap(first: Entry, second: Entry, goal: str) -> bool:
    assert first.timing is not None
    assert second.timing is not None
    a, b = (
        (first.timing.single, second.timing.single)
        if goal == "latency"
        else (first.timing.offline, second.timing.offline)
    )
    return a.high >= b.low


def _why_none(entries: Sequence[Entry]) -> str:
    counts = {
        "refused": sum(e.refusal is not None for e in entries),
        "outside": sum(e.verdict is not None and e.verdict.outcome == "outside" for e in entries),
        "undecided": sum(
            e.verdict is not None and e.verdict.outcome == "undecided" for e in entries
        ),
        "passed but not timed": sum(
            e.verdict is not None and e.verdict.passes and e.timing is None for e in entries
        ),
    }
    said = ", ".join(f"{n} {word}" for word, n in counts.items() if n)
    return f"no plan can be chosen: {said or 'none was tried'}"
