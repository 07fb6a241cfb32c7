"""Faults of running: rows mixed up, batches treated unlike, places that are not what they say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from likewise.prove.planted._fault import TEXT, Fault, Spoil, absent, in_session
from likewise.run.runner import Runner
from likewise.types import Session

if TYPE_CHECKING:
    from likewise.types import Array, Arrays


def _each(change: Callable[[Array], Array]) -> Callable[[Session, Arrays], Arrays]:
    def compute(session: Session, inputs: Arrays) -> Arrays:
        return {name: change(array.copy()) for name, array in session.run(inputs).items()}

    return compute


def _shuffled(rows: Array) -> Array:
    return rows[::-1]


def _first_bad(rows: Array) -> Array:
    rows[0] = np.nan
    return rows


def _leaking(rows: Array) -> Array:
    return rows + 0.001 * np.roll(rows, 1, axis=0) if len(rows) > 1 else rows


def _one_class_wrong(rows: Array) -> Array:
    flat = rows.reshape(len(rows), -1)
    wrong = flat.argmax(axis=1) == flat.argmax(axis=1).max()
    rows[wrong] *= 1.01
    return rows


def _with_state(change: Callable[[_Memory, Array], Array]) -> Spoil:
    def spoil(runner: Runner) -> Runner:
        memory = _Memory(runner.plan.batch)
        return in_session(_each(lambda rows: change(memory, rows)))(runner)

    return spoil


@dataclass
class _Memory:
    """What a faulty runtime keeps from one batch to the next."""

    batch: int
    seen: int = 0
    kept: dict[str, Array] = field(default_factory=dict)


def _last_of_a_part(memory: _Memory, rows: Array) -> Array:
    if 1 < len(rows) < memory.batch:
        rows[-1] = rows[-2]
    return rows


def _constant(memory: _Memory, rows: Array) -> Array:
    row = memory.kept.setdefault("first", rows[0].copy())
    rows[:, : len(row)] = row[: rows.shape[1]]
    return rows


def _stale(memory: _Memory, rows: Array) -> Array:
    before = memory.kept.get("last", rows[0])
    memory.kept["last"] = rows[-1].copy()
    rows[0, : len(before)] = before[: rows.shape[1]]
    return rows


def _now_and_then(memory: _Memory, rows: Array) -> Array:
    """One row in fifty is its neighbour's, as in a race."""
    for row in range(1, len(rows)):
        memory.seen += 1
        if memory.seen % 50 == 0:
            rows[row] = rows[row - 1]
    return rows


def _beyond_eight(_: _Memory, rows: Array) -> Array:
    rows[8:] = rows[:1]
    return rows


def _zeros_sometimes(memory: _Memory, rows: Array) -> Array:
    memory.seen += 1
    return np.zeros_like(rows) if memory.seen % 7 == 3 else rows


def _drifting(memory: _Memory, rows: Array) -> Array:
    memory.seen += 1
    half = rows.shape[-1] // 2 or 1
    rows[..., :half] *= 1 + 1e-4 * memory.seen
    return rows


def _random(_: _Memory, rows: Array) -> Array:
    noise = np.random.default_rng().standard_normal(rows.shape)
    return (rows * (1 + 1e-3 * noise)).astype(rows.dtype)


def _full_only(memory: _Memory, rows: Array) -> Array:
    return rows[::-1].copy() if len(rows) == memory.batch else rows


def _remembered(memory: _Memory, rows: Array) -> Array:
    """The result of the first batch of a shape for every later one of it."""
    return memory.kept.setdefault(str(rows.shape), rows.copy()).copy()


def _not_finite_alone(session: Session, inputs: Arrays) -> Arrays:
    """NaN for items without a token of their own, as where every position is masked."""
    outputs = session.run(inputs)
    if "attention_mask" not in inputs or "rows" in inputs:
        raise absent("row for each item")
    empty = inputs["attention_mask"].sum(axis=1) <= 2
    for array in outputs.values():
        array[empty] = np.nan
    return outputs


def _ragged(session: Session, inputs: Arrays) -> Arrays:
    """A kernel that leaves out the rest where a length is no multiple of eight."""
    width = inputs["attention_mask"].shape[1]
    mask = inputs["attention_mask"].copy()
    if width % 8 and width > 8:
        mask[:, width - width % 8 :] = 0
    return session.run({**inputs, "attention_mask": mask})


FAULTS = (
    Fault("Q02", "NaN for an empty text", in_session(_not_finite_alone), ("classify", "embed"),
          needs="an empty text"),
    Fault("Q11", "tokens beyond a multiple of eight not seen", in_session(_ragged), TEXT),
    Fault("S02", "zeros, now and then", _with_state(_zeros_sometimes)),
    Fault("S04", "rows from the ninth on are the first", _with_state(_beyond_eight),
          needs="batches of more than eight"),
    Fault("S06", "rows of full batches in reverse", _with_state(_full_only),
          needs="full batches"),
    Fault("S13", "half of the numbers drift with every batch", _with_state(_drifting),
          coarsest="float32"),
    Fault("S14", "result of an earlier batch of the same shape", _with_state(_remembered),
          needs="two batches of a shape"),
    Fault("S18", "random by a thousandth", _with_state(_random), coarsest="float32"),
    Fault("N01", "NaN in one row of every batch", in_session(_each(_first_bad))),
    Fault("S01", "first row of a batch still from the batch before", _with_state(_stale),
          needs="batches"),
    Fault("S03", "rows of a batch in another order", in_session(_each(_shuffled)), needs="batches"),
    Fault("S05", "last row of a partial batch repeats", _with_state(_last_of_a_part),
          needs="a partial batch"),
    Fault("S07", "the same output for every input", _with_state(_constant)),
    Fault("S08", "a thousandth of the neighbour leaks into each row",
          in_session(_each(_leaking)), needs="batches", coarsest="float32"),
    Fault("S11", "wrong by a hundredth for one class", in_session(_each(_one_class_wrong)),
          ("classify", "image_classify", "fillmask"), coarsest="float16"),
    Fault("S12", "one row in fifty is its neighbour's", _with_state(_now_and_then),
          needs="batches"),
    Fault("S16", "runs on another device than asked",
          in_session(lambda session, inputs: session.run(inputs), device="cuda:0")),
)  # fmt: skip
