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


def _soft_mask(session: Session, inputs: Arrays) -> Arrays:
    """Padding has a thousandth of the weight that it should not have at all."""
    right, wrong = session.run(inputs), _no_mask(session, inputs)
    return {name: 0.999 * right[name] + 0.001 * wrong[name] for name in right}


def _mask_short(session: Session, inputs: Arrays) -> Arrays:
    mask = inputs["attention_mask"].copy()
    last = mask.sum(axis=1) - 1
    mask[np.arange(len(mask)), np.maximum(last, 1)] = 0
    return session.run({**inputs, "attention_mask": mask})


def _left_padded(session: Session, inputs: Arrays) -> Arrays:
    lengths = inputs["attention_mask"].sum(axis=1)
    width = inputs["attention_mask"].shape[1]
    moved = {n: a.copy() for n, a in inputs.items() if a.shape == inputs["attention_mask"].shape}
    for name, array in moved.items():
        for row, length in enumerate(lengths):
            array[row] = np.roll(inputs[name][row], width - length)
    outputs = session.run({**inputs, **moved})
    hidden = outputs.get("last_hidden_state")
    if hidden is not None:  # back to where the pooling looks for it
        for row, length in enumerate(lengths):
            hidden[row] = np.roll(hidden[row], length - width, axis=0)
    return outputs


def _two_off(module: Module) -> None:
    table = _parts.positions(module).weight
    table[2:] = table[:-2].clone()


def _first_segment_only(session: Session, inputs: Arrays) -> Arrays:
    if "token_type_ids" not in inputs:
        raise absent("segments")
    return session.run({**inputs, "token_type_ids": np.zeros_like(inputs["token_type_ids"])})


def _ids(change: Callable[[Task, np.ndarray], np.ndarray]) -> Callable[[Task], Task]:
    """Return a spoiler of token ids that keeps their number."""

    def changed(task: Task, row: Row) -> Row:
        ids = change(task, row.arrays["input_ids"].copy())
        return replace(row, arrays={**row.arrays, "input_ids": ids})

    return _rows(changed)


def _rare_unknown(task: Task, ids: np.ndarray) -> np.ndarray:
    vocabulary = task.texts.vocabulary  # type: ignore[attr-defined]  # text tasks alone
    unknown = vocabulary.tokenizer.token_to_id(vocabulary.unk_token)
    if unknown is None:
        raise absent("unknown token")
    limit = vocabulary.size * 9 // 10
    special = {vocabulary.mask_id, int(ids[0]), int(ids[-1])}
    ids[[int(i) >= limit and int(i) not in special for i in ids]] = unknown
    return ids


def _other_mask(session: Session, inputs: Arrays) -> Arrays:
    ids = inputs["input_ids"].copy()
    ids.reshape(-1)[inputs["rows"]] = ids[0, 0]
    return session.run({**inputs, "input_ids": ids})


def _opened_twice(_: Task, ids: np.ndarray) -> np.ndarray:
    if len(ids) > 3:
        ids[1] = ids[0]
    return ids


def _neighbours_swapped(_: Task, ids: np.ndarray) -> np.ndarray:
    if len(ids) > 6:
        ids[[3, 4]] = ids[[4, 3]]
    return ids


def _no_end(task: Task, ids: np.ndarray) -> np.ndarray:
    if len(ids) == int(task.hints()["max_tokens"]):
        ids[-1] = ids[-2]
    return ids


def _texts(change: Callable[[str], str]) -> Callable[[Task], Task]:
    def spoil(task: Task) -> Task:
        def encode(items: Sequence[Item]) -> list[Row]:
            return task.encode([change(i) if isinstance(i, str) else i for i in items])

        spoilt_task: Task = spoilt(task, encode=encode)
        return spoilt_task

    return spoil


def _without_emoji(text: str) -> str:
    return "".join(sign for sign in text if ord(sign) < 0x1F000)


FAULTS = (
    Fault("I02", "padding seen, by a thousandth", in_session(_soft_mask), TEXT,
          needs="padded batches", coarsest="float32"),
    Fault("I03", "mask one token short", in_session(_mask_short), TEXT),
    Fault("I05", "positions two too low, as for another family", in_module(_two_off), TEXT),
    Fault("I06", "padding on the left, positions not told", in_session(_left_padded),
          ("classify", "embed"), needs="padded batches"),
    Fault("I08", "rare words read as unknown", in_task(_ids(_rare_unknown)), TEXT,
          needs="items that hold those words"),
    Fault("I09", "upper case for the text", in_task(_texts(str.upper)), ("classify", "embed"),
          needs="a tokenizer that keeps case"),
    Fault("I10", "emoji lost by another tokenizer", in_task(_texts(_without_emoji)), TEXT,
          needs="a vocabulary that holds some"),
    Fault("I12", "closing token of a full text overwritten", in_task(_ids(_no_end)), TEXT,
          needs="texts at the limit", coarsest="bfloat16"),
    Fault("I15", "another token in place of the mask", in_session(_other_mask), ("fillmask",)),
    Fault("I16", "opening token twice", in_task(_ids(_opened_twice)), ("classify", "embed")),
    Fault("I18", "second text of a pair in the first segment", in_session(_first_segment_only),
          ("classify",), needs="pairs, and a model with two segments"),
    Fault("I19", "two neighbouring tokens swapped", in_task(_ids(_neighbours_swapped)),
          ("classify", "embed")),
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
