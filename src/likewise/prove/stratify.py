"""Groups and lengths of the probes in; the ones to compute in float64 too, out."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["stratify"]


def stratify(groups: Sequence[str], lengths: Sequence[int], count: int) -> tuple[int, ...]:
    """Return about ``count`` indices, rising: of every group some, from its shortest to longest.

    Args:
        groups: of each probe.
        lengths: tokens of each probe; one of 0 has no answer and is not taken.
        count: how many; every group has at least its shortest and longest.

    >>> stratify(["a"] * 6 + ["b"], [5, 1, 9, 3, 0, 7, 2], 4)
    (0, 1, 2, 6)
    """
    members: dict[str, list[int]] = {}
    for index in sorted(range(len(groups)), key=lambda i: (lengths[i], i)):
        if lengths[index] > 0:
            members.setdefault(groups[index], []).append(index)
    answered = sum(map(len, members.values()))
    chosen: list[int] = []
    for indices in members.values():
        share = round(count * len(indices) / answered)
        chosen += _spread(indices, min(len(indices), max(2, share)))
    return tuple(sorted(chosen))


def _spread(indices: list[int], count: int) -> list[int]:
    """Return ``count`` of them, evenly spaced, with the first and the last."""
    if count < 2:
        return indices[:count]
    step = (len(indices) - 1) / (count - 1)
    return [indices[round(place * step)] for place in range(count)]
