"""Pictures in; one vector each, out: the model's projection, or its pooled features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from likewise.errors import TaskError
from likewise.tasks._picture import PictureTask, open_pictures
from likewise.tasks._pool import shape
from likewise.tasks._scores import vectors
from likewise.types import Answer, Json, Kind, Model, Network, Task

if TYPE_CHECKING:
    from likewise.types import Arrays

_INPUTS = ("pixel_values",)
_PROJECTION = Network("picture", _INPUTS, ("logits",))
_FEATURES = Network("picture_features", _INPUTS, ("features",))

_KINDS: Mapping[str, Kind] = MappingProxyType({"vector": "vector"})

__all__ = ["ImageEmbed", "claims", "open"]


@dataclass(eq=False)
class ImageEmbed(PictureTask):
    """Picture embedding; vectors are raw, as timm gives them, unless the user says normalise."""

    network: Network
    normalised: bool
    keep: int | None  # numbers of each vector; None for all

    name = "image_embed"
    kinds = _KINDS

    def facts(self) -> Mapping[str, Json]:
        """Return the contract, JSON-ready."""
        projection = self.network.head == "picture"
        return {
            **self.pictures.facts(),
            "vector": "the projection" if projection else "the pooled features before any head",
            "normalise": self.normalised,
            "truncate_dim": self.keep,
        }

    def finish(self, inputs: Arrays, outputs: Arrays) -> Arrays:  # noqa: ARG002  # the protocol's
        """Return one vector per picture, (N, D)."""
        vector = outputs[self.network.outputs[0]]
        return {"vector": shape(vector, keep=self.keep, unit=self.normalised)}

    def answers(self, inputs: Arrays, arrays: Arrays, *, top: int | None) -> list[Answer]:  # noqa: ARG002  # the protocol's
        """Return one answer per picture: its vector."""
        return vectors(arrays["vector"])


def claims(model: Model) -> bool:
    """Tell whether the folder holds a timm model made for vectors: a projection, or no head.

    One that should score classes, but lacks the head, is a broken folder: then --task image_embed
    has to be said.
    """
    return model.library == "timm" and not model.classes_head


def open(model: Model, *, features: bool = False) -> Task:
    """Open the task; loads no weights.

    Args:
        model: the facts of a folder.
        features: take the pooled features even where there is a trained projection.

    Raises:
        TaskError: the folder is not timm's, or its preprocessing is unknown.
    """
    if model.library != "timm":
        raise TaskError(f"{model.folder} holds no picture encoder.", found=model.architecture)
    projection = "picture" in model.trained_heads and not model.classes_head and not features
    network = _PROJECTION if projection else _FEATURES
    return ImageEmbed(open_pictures(model), (), network, bool(model.normalise), model.truncate_dim)
