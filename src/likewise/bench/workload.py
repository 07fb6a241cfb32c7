"""A task, and perhaps a user's items, in; the one list that every plan is timed on, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise import find
from likewise.errors import ItemError
from likewise.run.items import fingerprint, taken
from likewise.settings import Bench
from likewise.types import Item, Json, Task

__all__ = ["LEAST", "MOST", "Workload", "gather", "sized"]

LEAST = 16
"""Texts under which a pass says little: not one full batch of the default plan."""

LEAST_PICTURES = 4
"""The same for pictures: all cost the same, and a batch on a CPU holds about so many."""

MOST = 512
"""Items above which a pass only takes longer."""

SEED = 20


@dataclass(frozen=True)
class Workload:
    """A list whose every prefix is a fair sample of it; all plans share one prefix."""

    name: str  # short | mixed | long, or "own items"
    items: tuple[Item, ...]
    least: int = LEAST  # items under which a pass says little

    def describe(self, count: int, single: int, tokens: Mapping[str, Json]) -> dict[str, Json]:
        """Return what a timing has to say about its work.

        Args:
            count: items of one pass.
            single: items of one block of single calls: the first so many.
            tokens: quantiles, as a plan's own tokenizer counted.
        """
        used = self.items[:count]
        return {
            "name": self.name,
            "items": count,
            "single_items": single,
            "distinct": len({fingerprint([item]) for item in used}),
            "tokens": dict(tokens),
            "fingerprint": fingerprint(used),
        }


def gather(task: Task, settings: Bench, items: Sequence[Item] | None = None) -> Workload:
    """Return the items to time on: the user's, or the built-in ones that suit the task.

    The built-in ones come mixed: every ten hold the stated lengths. The user's are drawn without
    replacement in a seeded random order, so that a file sorted by length is a fair sample too.

    Raises:
        ItemError: the user's list is empty.
    """
    least = LEAST_PICTURES if task.takes == "picture" else LEAST
    if items is None:
        probes: Any = find.load("probes", task.takes)
        made = probes.workload(settings.workload, MOST, SEED, task.hints())
        return Workload(settings.workload, tuple(made), least)
    if not items:
        raise ItemError("There is nothing to time on.", found="0 items", fix="give at least one")
    order = np.random.default_rng(SEED).permutation(len(items))[:MOST]
    own = taken(items, task.takes)
    return Workload("own items", tuple(own[i] for i in order), least)


def sized(count: int, seconds: float, *, wanted: float, most: int, least: int = LEAST) -> int:
    """Return how many items take about the wanted time, if ``count`` of them take ``seconds``.

    All of them where they take no longer; else a multiple of the least, so that batches are full
    for the usual plans.

    >>> sized(16, 0.25, wanted=1.0, most=512), sized(16, 9.0, wanted=1.0, most=512)
    (64, 16)
    >>> sized(16, 0.01, wanted=1.0, most=100), sized(3, 9.0, wanted=1.0, most=3)
    (100, 3)
    """
    fitting = int(count * wanted / max(seconds, 1e-9))
    return min(max(least, fitting // least * least if fitting < most else most), most)
