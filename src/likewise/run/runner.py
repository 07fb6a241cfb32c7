"""A task, a session and items, in; a Run, or answers window by window, out.

The one path of proof, timing, ``run``, serving and bulk: what was proven is what runs.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import RefusedError
from likewise.run.batching import BATCH_BYTES, BATCH_TOKENS, batches
from likewise.run.items import fingerprint
from likewise.types import Answer, Item, Plan, Row, Run, Session, Task

if TYPE_CHECKING:
    from likewise.types import Array, Arrays, Ints

__all__ = ["Runner", "fingerprint"]


@dataclass
class _Record:
    """What is gathered while windows pass."""

    keep: bool
    seconds: dict[str, list[float]] = field(
        default_factory=lambda: {"encode": [], "compute": [], "finish": []}
    )
    arrays: dict[str, list[Array]] = field(default_factory=dict)
    owners: list[Ints] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    computed_tokens: int = 0  # padding counted

    def add(self, arrays: Arrays, owners: Ints) -> None:
        for name, array in arrays.items():
            self.arrays.setdefault(name, []).append(array)
        self.owners.append(owners)

    def ordered(self) -> tuple[Arrays, Ints]:
        """Return all rows by the item that owns them; an item's rows keep their order."""
        if not self.owners:
            return {}, np.zeros(0, np.int64)
        owners = np.concatenate(self.owners)
        order = np.argsort(owners, kind="stable")
        joined = {name: np.concatenate(parts)[order] for name, parts in self.arrays.items()}
        return joined, owners[order]


class Runner:
    """Runs items through a task and a session, in length-sorted batches.

    Args:
        task: what the numbers mean.
        session: how they are computed; closed with the runner.
        plan: ``plan.batch`` limits the items of a batch.
        batch_tokens: limits its tokens, padding counted.
    """

    def __init__(
        self, task: Task, session: Session, plan: Plan, *, batch_tokens: int = BATCH_TOKENS
    ) -> None:
        self.task = task
        self.session = session
        self.plan = plan
        self.batch_tokens = batch_tokens
        self.alike = False  # only items of one length share a batch: padding changes answers
        self.notes: tuple[str, ...] = ()  # what was odd about the folder that it was opened from
        self.first_at: float | None = None  # seconds since the epoch: the first answers were there

    def run(self, items: Sequence[Item], *, keep: bool = True, top: int | None = None) -> Run:
        """Run all items.

        Args:
            items: N items, whatever the task takes.
            keep: False holds no arrays, so that memory does not grow with N.
            top: how many labels or tokens an answer lists; None leaves it to the task.

        Returns:
            One answer per item, in order. An item that cannot be read, or whose numbers are not
            finite, has an answer {"error": reason}; the arrays keep what was computed.

        Raises:
            RefusedError: the session gave something else than the task's network promises.
        """
        record = _Record(keep)
        answers = [a for window in self._windows(items, record, top) for a in window]
        arrays, owners = record.ordered()
        return Run(
            plan=self.plan,
            facts=self._facts(record),
            items_fingerprint=fingerprint(items),
            count=len(items),
            arrays=arrays,
            owners=owners,
            tokens=np.asarray(record.tokens, np.int64),
            answers=answers,
            seconds={name: tuple(values) for name, values in record.seconds.items()},
        )

    def stream(self, items: Sequence[Item], *, top: int | None = None) -> Iterator[list[Answer]]:
        """Yield the answers of one window after the other, in item order; see ``run``."""
        return self._windows(items, _Record(keep=False), top)

    def beside(self, *, task: Task | None = None, session: Session | None = None) -> Runner:
        """Return a runner with another task or session; it batches as this one does."""
        made = copy.copy(self)
        made.task, made.session = task or self.task, session or self.session
        return made

    def close(self) -> None:
        """Close the session."""
        self.session.close()

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _windows(
        self, items: Sequence[Item], record: _Record, top: int | None
    ) -> Iterator[list[Answer]]:
        for start in range(0, len(items), self.task.window):
            yield self._window(items[start : start + self.task.window], start, record, top)

    def _window(
        self, items: Sequence[Item], start: int, record: _Record, top: int | None
    ) -> list[Answer]:
        began = time.perf_counter()
        rows = self.task.encode(items)
        record.seconds["encode"].append(time.perf_counter() - began)
        _check_count(len(rows), len(items))
        record.tokens += [0 if row.problem else row.tokens for row in rows]
        answers: list[Answer] = [{"error": row.problem, **row.notes} for row in rows]
        good = [i for i, row in enumerate(rows) if row.problem is None]
        limit = self.most([rows[i] for i in good])
        tokens = [rows[i].tokens for i in good]
        for batch in batches(tokens, limit, self.batch_tokens, alike=self.alike):
            indices = [good[place] for place in batch]
            record.computed_tokens += len(batch) * rows[indices[0]].tokens
            inputs, owners, arrays = self.compute([rows[i] for i in indices], record)
            began = time.perf_counter()
            made = self._answers(inputs, arrays, owners, len(indices), top)
            record.seconds["finish"][-1] += time.perf_counter() - began
            self.first_at = self.first_at or time.time()
            for index, answer in zip(indices, made, strict=True):
                answers[index] = {**answer, **rows[index].notes}
            if record.keep:
                record.add(arrays, start + np.asarray(indices)[owners])
        return answers

    def most(self, rows: Sequence[Row]) -> int:
        """Return the most items of a batch: on a CPU, inputs beyond its caches slow it down."""
        heaviest = max((sum(a.nbytes for a in row.arrays.values()) for row in rows), default=0)
        if self.plan.device != "cpu" or heaviest == 0:
            return self.plan.batch
        return min(self.plan.batch, max(1, BATCH_BYTES // heaviest))

    def compute(
        self, rows: Sequence[Row], record: _Record | None = None
    ) -> tuple[Arrays, Ints, Arrays]:
        """Compute rows as one batch; return its inputs, (R,) owners among the rows, and arrays.

        Raises:
            RefusedError: the session gave something else than the task's network promises.
        """
        began = time.perf_counter()
        inputs = self.task.collate(rows)
        owners = self.task.owners(inputs)
        collated = time.perf_counter()
        outputs = self.session.run(inputs)
        computed = time.perf_counter()
        _check(outputs, self.task.network.outputs, len(owners))
        arrays = self.task.finish(inputs, outputs)
        _check(arrays, tuple(self.task.kinds), len(owners))
        if record is not None:
            record.seconds["encode"][-1] += collated - began
            record.seconds["compute"].append(computed - collated)
            record.seconds["finish"].append(time.perf_counter() - computed)
        return inputs, owners, arrays

    def _answers(
        self, inputs: Arrays, arrays: Arrays, owners: Ints, count: int, top: int | None
    ) -> list[Answer]:
        """Return one answer per row of the batch; numbers that are not finite are an error."""
        broken: dict[int, str] = {}
        for name, array in arrays.items():
            finite = np.isfinite(array).reshape(len(owners), -1).all(axis=1)
            broken |= dict.fromkeys(owners[~finite].tolist(), name)
        if broken:
            arrays = {name: np.nan_to_num(array) for name, array in arrays.items()}
        answers = self.task.answers(inputs, arrays, top=top)
        _check_count(len(answers), count)
        for index, name in broken.items():
            answers[index] = {"error": f"not finite: {name} holds NaN or infinity"}
        return answers

    def _facts(self, record: _Record) -> dict[str, object]:
        real = sum(record.tokens)
        padding = 1 - real / record.computed_tokens if record.computed_tokens else 0.0
        return {
            **self.session.facts(),
            "task": {"name": self.task.name, **self.task.facts()},
            "batching": {
                "items": self.plan.batch,
                "tokens": self.batch_tokens,
                "bytes": BATCH_BYTES if self.plan.device == "cpu" else None,
                "window": self.task.window,
                "batches": len(record.seconds["compute"]),
                "padding_share": padding,
            },
        }


def _check(arrays: Arrays, names: tuple[str, ...], count: int) -> None:
    """Refuse arrays that are not one row per output row under every promised name."""
    missing = [name for name in names if name not in arrays]
    if missing:
        raise RefusedError(
            "An output that the task needs is not there.",
            found=f"{', '.join(arrays) or 'nothing'}, but no {', '.join(missing)}",
        )
    for name in names:
        shape = arrays[name].shape
        if not shape or shape[0] != count:
            raise RefusedError(
                "An output has another number of rows than the batch.",
                found=f"{name} {shape} where {count} row(s) were asked for",
            )


def _check_count(given: int, asked: int) -> None:
    if given != asked:
        raise RefusedError(
            "The task gave another number of rows than it was given items.",
            found=f"{given} for {asked}",
        )
