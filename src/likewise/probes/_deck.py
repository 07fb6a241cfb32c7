"""Groups of probes, each a stream with a share, in; one mixed deck of distinct probes, out."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

from likewise.types import Item, Probe

_TRIES = 200  # items of a stream that were dealt before, until the stream counts as run out

__all__ = ["Group", "deal"]


@dataclass(frozen=True)
class Group:
    """One kind of probe."""

    name: str
    share: float  # of the deck, relative to the other groups' shares
    make: Callable[[Random], Iterator[Item]]  # finite or not; the same for the same random state


def deal(groups: Sequence[Group], count: int, seed: int) -> list[Probe]:
    """Return ``count`` distinct probes in which every group has its share.

    The first n of a deck are themselves a fair deck of n: item j of a group with share s stands
    at (j + ½) / s. A group that runs out leaves its place to the others.
    """
    streams = [group.make(Random(f"{seed} {group.name}")) for group in groups]
    places = [(0.5 / group.share, place, 0) for place, group in enumerate(groups)]
    heapq.heapify(places)
    seen: set[Item] = set()
    probes: list[Probe] = []
    while places and len(probes) < count:
        _, place, dealt = places[0]
        fresh = (item for item in islice(streams[place], _TRIES) if item not in seen)
        item = next(fresh, None)
        if item is None:
            heapq.heappop(places)
            continue
        seen.add(item)
        probes.append(Probe(item, groups[place].name))
        heapq.heapreplace(places, ((dealt + 1.5) / groups[place].share, place, dealt + 1))
    return probes
