"""Faults of the text input: masks, positions, segments, limits, special tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from likewise.prove.planted import _parts
from likewise.prove.planted._fault import (
    TEXT,
    Fault,
    Module,
    absent,
    in_module,
    in_session,
    in_task,
    spoilt,
)
from likewise.types import Item, Row, Session, Task

if TYPE_CHECKING:
    from likewise.types import Arrays


def _no_mask(session: Session, inputs: Arrays) -> Arrays:
    return session.run({**inputs, "attention_mask": np.ones_like(inputs["attention_mask"])})


def _other_segment(session: Session, inputs: Arrays) -> Arrays:
    if "token_type_ids" not in inputs:
        raise absent("segments")
    return session.run({**inputs, "token_type_ids": np.ones_like(inputs["token_type_ids"])})


def _shifted(module: Module) -> None:
    table = _parts.positions(module).weight
    table[:-1] = table[1:].clone()


def _clamped(module: Module) -> None:
    table = _parts.positions(module).weight
    last = len(table) // 4
    table[last:] = table[last].clone()


def _rows(change: Callable[[Task, Row], Row]) -> Callable[[Task], Task]:
    def spoil(task: Task) -> Task:
        def encode(items: Sequence[Item]) -> list[Row]:
            return [row if row.problem else change(task, row) for row in task.encode(items)]

        spoilt_task: Task = spoilt(task, encode=encode)
        return spoilt_task

    return spoil


def _cut(task: Task, row: Row) -> Row:
    length, limit = len(row.arrays["input_ids"]), int(task.hints()["max_tokens"]) // 2
    return row if length <= limit else _kept(row, [*range(limit - 1), length - 1])


def _bare(_: Task, row: Row) -> Row:
    length = len(row.arrays["input_ids"])
    return _kept(row, [*range(1, length - 1)]) if length > 3 else row


def _kept(row: Row, places: list[int]) -> Row:
    # The count of tokens stays: a fault that announced itself would be too easy.
    return replace(row, arrays={name: array[places] for name, array in row.arrays.items()})


FAULTS = (
    Fault("I01", "attention mask ignored", in_session(_no_mask), TEXT, needs="padded batches"),
    Fault("I04", "positions one too high", in_module(_shifted), TEXT),
    Fault(
        "I07",
        "segment ids of the second text for the first",
        in_session(_other_segment),
        TEXT,
        needs="a model with two segments",
    ),
    Fault(
        "I11", "texts cut at half of the limit", in_task(_rows(_cut)), ("classify", "embed"),
        needs="long texts",
    ),
    Fault("I13", "no special tokens", in_task(_rows(_bare)), ("classify", "embed")),
    Fault("I17", "positions stand still after a quarter", in_module(_clamped), TEXT,
          needs="long texts"),
)  # fmt: skip
