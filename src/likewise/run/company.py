"""An open Runner and its Run, in; how some of its items fare in other company, out.

The same items alone, in batches of other sizes, in another order, beside the longest one, twice,
and from two threads at once: no reference is needed to see that an answer depends on its
neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice
from typing import TYPE_CHECKING

import numpy as np

from likewise.metrics._logits import centred
from likewise.run.runner import Runner
from likewise.types import Item, Json, Row, Run

if TYPE_CHECKING:
    from likewise.types import Arrays, Ints

__all__ = ["in_company"]

_CHOSEN = 9  # items, from the shortest to one of the longest
_TWINS = 4
_LADDER = (2, 3, 7, 8, 16, 31, 32, 33)
_LONGEST_SHARE = 0.95  # of the items by length: the few beyond are one item's neighbour, once


def in_company(runner: Runner, run: Run, items: Sequence[Item]) -> list[dict[str, Json]]:
    """Return, per way to run some items again, how far each of their rows moved.

    Args:
        runner: it has run the items.
        run: what came of it, arrays kept.
        items: all N.

    Returns:
        [{"name", "output", "items": (R,), "moved": (R,) distances of output rows, float64}, …]; a
        distance is None where a number is not finite, and of logits of exclusive classes each row
        is centred first. [] where no item has an answer.
    """
    chosen, longest = _chosen(run)
    if not chosen:
        return []
    work = _Work(runner, run, items)
    made = []
    for name, compute in _ways(work, chosen, longest):
        found = compute()
        for output in work.outputs:
            rows = [row for rows in found for row in rows[output]]
            made.append({
                "name": name,
                "output": output,
                "items": [item for item, _ in rows],
                "moved": [moved if np.isfinite(moved) else None for _, moved in rows],
            })  # fmt: skip
    return made


def _chosen(run: Run) -> tuple[list[int], int | None]:
    """Return items of many lengths, and the longest of all if it is longer than those."""
    answered = np.flatnonzero(run.tokens > 0)
    by_length: Ints = answered[np.argsort(run.tokens[answered], kind="stable")]
    if not len(by_length):
        return [], None
    longest = int(by_length[-1])
    shorter = by_length[run.tokens[by_length] < run.tokens[longest]]
    among = shorter if len(shorter) else by_length
    last = int((len(among) - 1) * _LONGEST_SHARE)
    places = np.unique(np.linspace(0, last, min(_CHOSEN, last + 1)).astype(np.int64))
    return among[places].tolist(), longest if len(shorter) else None


Moved = dict[str, list[tuple[int, float]]]
"""Of each output: (item, distance) of each row."""


def _ways(
    work: _Work, chosen: list[int], longest: int | None
) -> Iterator[tuple[str, Callable[[], list[Moved]]]]:
    most = work.most(chosen)
    alone = [[item] for item in (*chosen, *work.twins(chosen))]

    def run(batches: list[list[int]]) -> Callable[[], list[Moved]]:
        return lambda: [work.moved(batch) for batch in batches]

    yield "alone", run(alone)
    for size in sorted({k for k in (*_LADDER, most) if 1 < k <= most}):
        yield f"batch_{size}", run([list(islice(cycle(chosen), size))])
    if most > 1:
        mixed = [chosen[k] for k in np.random.default_rng(9).permutation(len(chosen))]
        yield "reordered", run([mixed[k : k + most] for k in range(0, len(mixed), most)])
        if longest is not None:
            yield "beside_longest", run([[*chosen[:1], *chosen[4:5], longest][-most:]])
    cut = work.cut_at_the_end()
    if cut is not None:
        longer = f"{work.items[cut]} {' and so on' * 9}"
        yield "longer_text", lambda: [work.moved([cut], texts=[longer])]
    yield "two_threads", lambda: _at_once(work, alone)
    yield "again", run(alone)


def _at_once(work: _Work, batches: list[list[int]]) -> list[Moved]:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(work.moved, batches))


@dataclass(frozen=True)
class _Work:
    runner: Runner
    run: Run
    items: Sequence[Item]

    @property
    def outputs(self) -> list[str]:
        """What is compared: scores only where there are no logits."""
        kinds = self.runner.task.kinds
        return [n for n, kind in kinds.items() if kind in ("logits", "vector")] or list(kinds)

    def cut_at_the_end(self) -> int | None:
        """Return a text of which the end was cut away, if there is one."""
        facts = self.runner.task.facts()
        if not str(facts.get("truncation", "")).startswith("the end") or facts["overflow"] != "cut":
            return None
        answers = zip(self.items, self.run.answers, strict=True)
        cut = (k for k, (i, a) in enumerate(answers) if isinstance(i, str) and a.get("truncated"))
        return next(cut, None)

    def twins(self, chosen: Sequence[int]) -> list[int]:
        """Return other items of the same lengths: a state that is kept by shape shows on them."""
        tokens = self.run.tokens
        found = (np.flatnonzero(tokens == tokens[item]).tolist() for item in chosen)
        others = ([other for other in same if other not in chosen][:1] for same in found)
        return list(dict.fromkeys(other for same in others for other in same))[:_TWINS]

    def most(self, chosen: Sequence[int]) -> int:
        """Return the most items that the plan puts into a batch of such items."""
        return self.runner.most(self._rows([self.items[i] for i in chosen]))

    def moved(self, batch: Sequence[int], texts: Sequence[Item] | None = None) -> Moved:
        """Compute one batch as it stands, and return how far its rows moved."""
        rows = self._rows(texts or [self.items[i] for i in batch])
        _, owners, arrays = self.runner.compute(rows)
        return {name: list(self._distances(batch, owners, arrays, name)) for name in self.outputs}

    def _rows(self, items: Sequence[Item]) -> list[Row]:
        return self.runner.task.encode(items)

    def _distances(
        self, batch: Sequence[int], owners: Ints, arrays: Arrays, name: str
    ) -> Iterator[tuple[int, float]]:
        softmax = self.runner.task.facts().get("activation", "softmax") == "softmax"
        exclusive = softmax and self.runner.task.kinds[name] == "logits"
        for place, item in enumerate(batch):
            ours = _flat(self.run.arrays[name][self.run.owners == item])
            theirs = _flat(arrays[name][owners == place])
            if len(ours) != len(theirs):
                yield item, np.inf
                continue
            if exclusive:
                ours, theirs = centred(ours), centred(theirs)
            with np.errstate(all="ignore"):
                for distance in np.linalg.norm(ours - theirs, axis=1).tolist():
                    yield item, distance


def _flat(rows: np.ndarray) -> np.ndarray:
    return rows.reshape(len(rows), int(np.prod(rows.shape[1:]))).astype(np.float64)
