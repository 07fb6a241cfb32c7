"""Texts in; labels with scores, or a regression's values, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import TaskError
from likewise.tasks._pairs import cut_pair, read_pair
from likewise.tasks._scores import NOT_FINITE, Activation, apply, labelled
from likewise.tasks._text import TextTask, open_texts
from likewise.types import Answer, Item, Json, Kind, Model, Network, Row, Task

if TYPE_CHECKING:
    from likewise.types import Arrays

_ACTIVATIONS: dict[str, Activation] = {
    "single_label_classification": "softmax",
    "multi_label_classification": "sigmoid",
    "regression": "none",
}
_SHORT = {
    "single_label": "single_label_classification",
    "multi_label": "multi_label_classification",
}

__all__ = ["Classify", "claims", "open"]


@dataclass(eq=False)
class Classify(TextTask):
    """Text classification; the scores stand in the order of the model's labels."""

    activation: Activation
    problem_type: str

    name = "classify"

    def __post_init__(self) -> None:
        self.network: Network = self.texts.network("classes", "logits")
        self.kinds: Mapping[str, Kind] = _KINDS[self.activation]

    def facts(self) -> Mapping[str, Json]:
        """Return the contract, JSON-ready."""
        return {
            **self.texts.facts(),
            "labels": list(self.texts.model.labels),
            "problem_type": self.problem_type,
            "activation": self.activation,
            "threshold": self.texts.model.threshold,
        }

    def hints(self) -> Mapping[str, Json]:
        """Return what probes need."""
        return {**self.texts.hints(), "pairs": True}

    def encode(self, items: Sequence[Item]) -> list[Row]:
        """Return one row per item, in order; an item is a text, or two in a tuple."""
        pairs = [read_pair(item) for item in items]
        alone = iter(self.texts.cut([i for i, pair in zip(items, pairs, strict=True) if not pair]))
        return [(cut_pair(self.texts, pair) if pair else next(alone)).row() for pair in pairs]

    def finish(self, inputs: Arrays, outputs: Arrays) -> Arrays:  # noqa: ARG002  # the protocol's
        """Return logits and scores, (N, C) each.

        Raises:
            TaskError: the model scores another number of labels than there are names.
        """
        logits = outputs["logits"]
        names = len(self.texts.model.labels)
        if names not in (0, logits.shape[1]):
            raise TaskError(
                "The labels are not this model's.",
                found=f"{names} names, and {logits.shape[1]} scores",
                fix="one label for each score, in the order of the model's outputs",
            )
        return {"logits": logits, "scores": apply(self.activation, logits)}

    def answers(self, inputs: Arrays, arrays: Arrays, *, top: int | None) -> list[Answer]:  # noqa: ARG002  # the protocol's
        """Return one answer per text: its ``top`` labels (None: all), or its values."""
        scores = arrays["scores"]
        if self.activation == "none":
            return [_values(row) for row in scores]
        answers = labelled(scores, self._label, top)
        least = self.texts.model.threshold
        return answers if least is None else [_from(least, answer) for answer in answers]

    def _label(self, index: int) -> str:
        labels = self.texts.model.labels
        return labels[index] if labels else f"LABEL_{index}"


_KINDS: dict[Activation, dict[str, Kind]] = {
    "softmax": {"logits": "logits", "scores": "distribution"},
    "sigmoid": {"logits": "logits", "scores": "scores"},
    "none": {"logits": "logits", "scores": "scores"},
}


def _from(threshold: float, answer: Answer) -> Answer:
    """Keep the labels that score at least so much; an answer may keep none."""
    if "labels" not in answer:
        return answer
    return {**answer, "labels": [e for e in answer["labels"] if e["score"] >= threshold]}


def _values(row: np.ndarray) -> Answer:
    if not np.isfinite(row).all():
        return {"error": NOT_FINITE}
    values = row.tolist()
    return {"value": values[0]} if len(values) == 1 else {"values": values}


def claims(model: Model) -> bool:
    """Tell whether the folder holds a text classifier with a trained head."""
    return (
        model.library == "transformers"
        and "classes" in model.trained_heads
        and not model.sentence_transformer
    )


def open(model: Model) -> Task:
    """Open the task; loads the tokenizer, no weights.

    Raises:
        TaskError: the head that scores classes is not in the weights, or problem_type is unknown.
        FolderError: the tokenizer cannot be read.
    """
    if model.library != "transformers" or "classes" not in model.trained_heads:
        raise TaskError(
            f"{model.folder} has no trained head that scores classes of a text.",
            found=f"trained heads: {', '.join(model.trained_heads) or 'none'}",
        )
    problem_type = _SHORT.get(model.problem_type, model.problem_type)
    activation, said = _activation(problem_type, len(model.labels))
    texts = open_texts(model)
    return Classify(
        texts, (*texts.vocabulary.assumptions, *said), activation, problem_type or "not said"
    )


def _activation(problem_type: str, labels: int) -> tuple[Activation, tuple[str, ...]]:
    """Return the activation, as transformers' own pipeline chooses it, and what was assumed."""
    if problem_type and problem_type not in _ACTIVATIONS:
        raise TaskError(
            f"{problem_type!r} is not a problem_type.", fix=f"one of: {', '.join(_ACTIVATIONS)}"
        )
    if labels == 1 and problem_type != "regression":
        why = f"problem_type is {problem_type or 'not said'} and there is one label"
        said = f"{why}: a sigmoid is applied, as transformers does; regression gives the raw value"
        return "sigmoid", (said,) if problem_type != "multi_label_classification" else ()
    if not problem_type:
        return "softmax", ("problem_type is not said: softmax, as if just one label can be true",)
    return _ACTIVATIONS[problem_type], ()
