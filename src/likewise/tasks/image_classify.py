"""Pictures in; labels with scores, out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from likewise.errors import TaskError
from likewise.tasks._picture import PictureTask, open_pictures
from likewise.tasks._scores import apply, labelled
from likewise.types import Answer, Json, Kind, Model, Network, Task

if TYPE_CHECKING:
    from likewise.types import Arrays

_KINDS: Mapping[str, Kind] = MappingProxyType({"logits": "logits", "scores": "distribution"})

__all__ = ["ImageClassify", "claims", "open"]


@dataclass(eq=False)
class ImageClassify(PictureTask):
    """Picture classification: softmax over the classes of a trained head."""

    labels: tuple[str, ...]

    name = "image_classify"
    network = Network("picture", ("pixel_values",), ("logits",))
    kinds = _KINDS

    def facts(self) -> Mapping[str, Json]:
        """Return the contract, JSON-ready."""
        return {**self.pictures.facts(), "labels": list(self.labels), "activation": "softmax"}

    def finish(self, inputs: Arrays, outputs: Arrays) -> Arrays:  # noqa: ARG002  # the protocol's
        """Return logits and scores, (N, C) each.

        Raises:
            TaskError: the model scores another number of labels than there are names.
        """
        logits = outputs["logits"]
        if len(self.labels) not in (0, logits.shape[1]):
            raise TaskError(
                "The labels are not this model's.",
                found=f"{len(self.labels)} names, and {logits.shape[1]} scores",
                fix="one label for each score, in the order of the model's outputs",
            )
        return {"logits": logits, "scores": apply("softmax", logits)}

    def answers(self, inputs: Arrays, arrays: Arrays, *, top: int | None) -> list[Answer]:  # noqa: ARG002  # the protocol's
        """Return one answer per picture: its ``top`` labels (None: all), best first."""
        return labelled(arrays["scores"], self._label, top)

    def _label(self, index: int) -> str:
        return self.labels[index] if self.labels else f"class_{index}"


def claims(model: Model) -> bool:
    """Tell whether the folder holds a timm model whose trained last layer scores classes."""
    return model.library == "timm" and model.classes_head and "picture" in model.trained_heads


def open(model: Model) -> Task:
    """Open the task; loads no weights.

    Raises:
        TaskError: there is no trained head that scores classes, or the preprocessing is unknown.
    """
    if not claims(model):
        projection = "picture" in model.trained_heads
        raise TaskError(
            f"{model.folder} has no trained head that scores classes of a picture.",
            found="a projection into vectors" if projection else "no trained head",
            fix="" if projection else "--task image_embed",
        )
    said = () if model.labels else ("label names are not said: they are class_0, class_1 …",)
    return ImageClassify(open_pictures(model), said, model.labels)
