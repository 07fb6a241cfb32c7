"""Faults after the network: pooling, normalisation, activation, the answer itself."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.prove.planted._fault import Fault, absent, in_task, spoilt
from likewise.types import Answer, Task

if TYPE_CHECKING:
    from likewise.types import Arrays

_CLASSES = ("classify", "image_classify", "fillmask")


def _first_only(task: Task) -> Task:
    def finish(inputs: Arrays, outputs: Arrays) -> Arrays:
        mask = np.zeros_like(inputs["attention_mask"])
        mask[:, 0] = 1
        return task.finish({**inputs, "attention_mask": mask}, outputs)

    return _finishing(task, finish)


def _padding_too(task: Task) -> Task:
    def finish(inputs: Arrays, outputs: Arrays) -> Arrays:
        mask = np.ones_like(inputs["attention_mask"])
        return task.finish({**inputs, "attention_mask": mask}, outputs)

    return _finishing(task, finish)


def _max_pooled(task: Task) -> Task:
    other: Any = copy.copy(task)
    other.pooling = replace(other.pooling, modes=("max",) * len(other.pooling.modes))
    return _finishing(task, other.finish)


def _not_normalised(task: Task) -> Task:
    other: Any = copy.copy(task)
    if not other.normalised:
        raise absent("normalisation")
    other.normalised = False
    return _finishing(task, other.finish)


def _softmax_twice(task: Task) -> Task:
    def finish(inputs: Arrays, outputs: Arrays) -> Arrays:
        arrays = task.finish(inputs, outputs)
        raised = np.exp(arrays["scores"])
        return {**arrays, "scores": raised / raised.sum(axis=1, keepdims=True)}

    return _finishing(task, finish)


def _neighbours_answer(task: Task) -> Task:
    def answers(inputs: Arrays, arrays: Arrays, *, top: int | None) -> list[Answer]:
        right = task.answers(inputs, arrays, top=top)
        return right[1:] + right[:1]

    other: Task = spoilt(task, answers=answers)
    return other


def _finishing(task: Task, finish: object) -> Task:
    other: Task = spoilt(task, finish=finish)
    return other


def _without_first(task: Task) -> Task:
    """Pool all but the opening token."""

    def finish(inputs: Arrays, outputs: Arrays) -> Arrays:
        mask = inputs["attention_mask"].copy()
        mask[:, 0] = mask.sum(axis=1) == 1
        return task.finish({**inputs, "attention_mask": mask}, outputs)

    return _finishing(task, finish)


def _pooled(mode: str) -> Callable[[Task], Task]:
    def spoil(task: Task) -> Task:
        other: Any = copy.copy(task)
        other.pooling = replace(other.pooling, modes=(mode,) * len(other.pooling.modes))
        return _finishing(task, other.finish)

    return spoil


def _normalised_first(task: Task) -> Task:
    def finish(inputs: Arrays, outputs: Arrays) -> Arrays:
        hidden = outputs["last_hidden_state"]
        length = np.linalg.norm(hidden, axis=2, keepdims=True)
        if np.ptp(length) < 1e-4 * length.mean():
            raise absent("token vectors of different lengths")
        return task.finish(inputs, {"last_hidden_state": hidden / np.maximum(length, 1e-9)})

    return _finishing(task, finish)


def _no_dense(task: Task) -> Task:
    other: Any = copy.copy(task)
    if not other.layers:
        raise absent("Dense module")
    other.layers = tuple(layer for layer in other.layers[1:])
    return _finishing(task, other.finish)


def _arrays(change: Callable[[Arrays], Arrays]) -> Callable[[Task], Task]:
    def spoil(task: Task) -> Task:
        return _finishing(task, lambda inputs, outputs: change(task.finish(inputs, outputs)))

    return spoil


def _sigmoid(arrays: Arrays) -> Arrays:
    return {**arrays, "scores": 1 / (1 + np.exp(-arrays["logits"]))}


def _in_half(arrays: Arrays) -> Arrays:
    return {name: array.astype(np.float16).astype(np.float32) for name, array in arrays.items()}


def _two_digits(arrays: Arrays) -> Arrays:
    return {**arrays, "scores": arrays["scores"].round(2)}


def _cooled(arrays: Arrays) -> Arrays:
    raised = np.exp((arrays["logits"] - arrays["logits"].max(axis=1, keepdims=True)) / 1.02)
    return {**arrays, "scores": raised / raised.sum(axis=1, keepdims=True)}


def _second_best(task: Task) -> Task:
    def answers(inputs: Arrays, arrays: Arrays, *, top: int | None) -> list[Answer]:
        right = task.answers(inputs, arrays, top=top)
        return [_swapped(answer) for answer in right]

    other: Task = spoilt(task, answers=answers)
    return other


def _swapped(answer: Answer) -> Answer:
    entries = answer.get("labels", [])
    if len(entries) < 2:
        return answer
    first, second = entries[:2]
    swapped = [{**first, "label": second["label"]}, {**second, "label": first["label"]}]
    return {**answer, "labels": [*swapped, *entries[2:]]}


FAULTS = (
    Fault(
        "H03",
        "mean leaves out the opening token",
        in_task(_without_first),
        ("embed",),
        "mean pooling",
    ),
    Fault(
        "H06",
        "normalised before the mean",
        in_task(_normalised_first),
        ("embed",),
        coarsest="float16",
    ),
    Fault("H07", "sigmoid for softmax", in_task(_arrays(_sigmoid)), _CLASSES),
    Fault(
        "H09",
        "names of the two best labels swapped",
        in_task(_second_best),
        ("classify", "image_classify"),
    ),
    Fault(
        "H10",
        "scores rounded to two digits",
        in_task(_arrays(_two_digits)),
        _CLASSES,
        coarsest="float16",
    ),
    Fault("H11", "results through half precision", in_task(_arrays(_in_half)), coarsest="float32"),
    Fault(
        "H12",
        "temperature of 1.02 in the softmax",
        in_task(_arrays(_cooled)),
        _CLASSES,
        coarsest="float32",
    ),
    Fault("H14", "last token for the mean", in_task(_pooled("lasttoken")), ("embed",)),
    Fault("H15", "mean weighted by position", in_task(_pooled("weightedmean")), ("embed",)),
    Fault("W21", "Dense module left out", in_task(_no_dense), ("embed",), "a Dense module"),
    Fault("H01", "first token for the mean", in_task(_first_only), ("embed",), "mean pooling"),
    Fault(
        "H02",
        "mean counts padding",
        in_task(_padding_too),
        ("embed",),
        "padded batches",
        coarsest="bfloat16",
    ),
    Fault("H04", "maximum for the mean", in_task(_max_pooled), ("embed",), "mean pooling"),
    Fault("H05", "not normalised", in_task(_not_normalised), ("embed",), "normalised vectors"),
    Fault("H08", "softmax applied twice", in_task(_softmax_twice), _CLASSES),
    Fault(
        "H13",
        "answers of the next item in the batch",
        in_task(_neighbours_answer),
        needs="batches",
    ),
)
