"""Entries in; the Pareto front of speed against error, the ranking, and the plan to keep, out.

A difference that the samples do not show is none: plans whose 95 % interval overlaps that of the
fastest are a draw, and among them the one that takes least memory is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from likewise.outcomes import Choice, Entry

__all__ = ["choose"]


def choose(entries: Sequence[Entry], *, goal: str) -> Choice:
    """Pick the fastest plan whose verdict passes; in a draw, the smallest of the fastest.

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
    if not ranked:
        return Choice(None, _why_none(entries), front, ())
    drawn = sorted((e for e in ranked if _overlap(ranked[0], e, goal)), key=_memory)
    order = drawn + [e for e in ranked if e not in drawn]
    ranking = tuple(e.plan for e in order)
    return Choice(ranking[0], _why(order, len(drawn), goal), front, ranking)


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


def _why(order: list[Entry], drawn: int, goal: str) -> str:
    """Say why the first was kept; the first ``drawn`` of the order are as fast as one another."""
    first, second = order[0], order[1] if len(order) > 1 else None
    word = "most items a second" if goal == "throughput" else "shortest time for one item"
    reason = f"{word} of the {len(order)} plan(s) that passed"
    if second is None:
        return reason
    if drawn > 1:
        rest = ", ".join(e.plan for e in order[1:drawn])
        return (
            f"{reason}, in a draw with {rest} (their 95 % intervals overlap); of these it takes "
            f"the least memory"
        )
    ratio = _cost(second, goal) / _cost(first, goal)
    return f"{reason}; {ratio:.2f}x the next, {second.plan}"


def _memory(entry: Entry) -> int:
    assert entry.timing is not None
    return entry.timing.peak_bytes


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
