"""Faults after the network: pooling, normalisation, activation, the answer itself."""

from __future__ import annotations

import copy
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


FAULTS = (
    Fault("H01", "first token for the mean", in_task(_first_only), ("embed",), "mean pooling"),
    Fault("H02", "mean counts padding", in_task(_padding_too), ("embed",), "padded batches"),
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
