"""Texts in; one vector each, out: pooled, projected and normalised as the folder says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from likewise.errors import TaskError
from likewise.tasks._dense import Layer, open_layer
from likewise.tasks._pool import MODES, pool, shape, too_short
from likewise.tasks._scores import vectors
from likewise.tasks._text import Texts, TextTask, open_texts
from likewise.types import Answer, Json, Kind, Model, Network, Pooling, Task

if TYPE_CHECKING:
    from likewise.types import Arrays

_KINDS: Mapping[str, Kind] = MappingProxyType({"vector": "vector"})

__all__ = ["Embed", "claims", "open"]


@dataclass(eq=False)
class Embed(TextTask):
    """Sentence embedding: what modules.json declares, in its order, and nothing else."""

    pooling: Pooling
    layers: tuple[Layer, ...]
    normalised: bool
    skip: int  # tokens of the prompt that are not pooled
    keep: int | None  # numbers of each vector; None for all

    name = "embed"
    kinds = _KINDS

    def __post_init__(self) -> None:
        self.network: Network = self.texts.network("hidden", "last_hidden_state")

    def facts(self) -> Mapping[str, Json]:
        """Return the contract, JSON-ready."""
        dense = self.texts.model.dense
        return {
            **self.texts.facts(),
            "pooling": list(self.pooling.modes),
            "include_prompt": self.pooling.include_prompt,
            "dense": [
                {"folder": d.folder, "shape": [d.inputs, d.outputs], "activation": d.activation}
                for d in dense
            ],
            "normalise": self.normalised,
            "truncate_dim": self.keep,
            "width": self.keep or _width(self.texts.model, self.pooling),
        }

    def finish(self, inputs: Arrays, outputs: Arrays) -> Arrays:
        """Return one vector per text, (N, D)."""
        hidden = outputs["last_hidden_state"]
        vector = pool(hidden, inputs["attention_mask"], self.pooling.modes, skip=self.skip)
        for layer in self.layers:
            vector = layer(vector)
        return {"vector": shape(vector, keep=self.keep, unit=self.normalised)}

    def answers(self, inputs: Arrays, arrays: Arrays, *, top: int | None) -> list[Answer]:  # noqa: ARG002  # the protocol's
        """Return one answer per text: its vector."""
        return vectors(arrays["vector"])


def claims(model: Model) -> bool:
    """Tell whether the folder is a sentence-transformers one, or an encoder meant without a head.

    A config that names a head (…ForSequenceClassification) whose weights are not there is a
    broken folder, not an encoder: then --task embed has to be said.
    """
    if model.library != "transformers":
        return False
    return model.sentence_transformer or (
        not model.trained_heads and "For" not in model.architecture
    )


def open(model: Model) -> Task:
    """Open the task; loads the tokenizer and Dense layers, not the encoder's weights.

    Raises:
        TaskError: the folder is not a text encoder, or declares a step that is not known.
        WeightsError: a Dense module cannot be read.
        FolderError: the tokenizer cannot be read.
    """
    if model.library != "transformers":
        raise TaskError(f"{model.folder} holds no text encoder.", found=model.architecture)
    pooling = model.pooling or Pooling(("mean",), assumed=True)
    unknown = [mode for mode in pooling.modes if mode not in MODES]
    if unknown or not pooling.modes:
        raise TaskError(
            "The pooling mode is not known.",
            found=", ".join(unknown) or "none",
            fix=f"one or several of: {', '.join(MODES)}",
        )
    _check_keep(model, pooling)
    normalised, said = _normalise(model)
    texts = open_texts(model, prompt=model.default_prompt)
    if pooling.assumed:
        said = (_pooling_said(model, pooling), *said)
    return Embed(
        texts,
        (*texts.vocabulary.assumptions, *said),
        pooling,
        _layers(model, pooling),
        normalised,
        0 if pooling.include_prompt else _prompt_tokens(texts),
        model.truncate_dim,
    )


def _pooling_said(model: Model, pooling: Pooling) -> str:
    cached = " in the hub's cache, which holds only what was asked for" if model.origin else ""
    how = " and ".join(pooling.modes)
    return (
        f"pooling is not said (no modules.json{cached}): {how} over the tokens; "
        "--pooling states another"
    )


def _normalise(model: Model) -> tuple[bool, tuple[str, ...]]:
    if model.normalise is not None:
        return model.normalise, ()
    if model.sentence_transformer:  # modules.json lists every step, and lists none for this
        return False, ()
    return True, ("normalising is not said: vectors get length 1; --no-normalise leaves them",)


def _check_keep(model: Model, pooling: Pooling) -> None:
    most = _width(model, pooling)
    if model.truncate_dim is not None and model.truncate_dim > most:
        raise too_short(most, model.truncate_dim)


def _layers(model: Model, pooling: Pooling) -> tuple[Layer, ...]:
    width = model.width * len(pooling.modes)
    for dense in model.dense:
        if dense.inputs != width:
            raise TaskError(
                f"{dense.folder} does not fit what comes before it.",
                found=f"it takes {dense.inputs} numbers, and is given {width}",
                fix="the pooling modes and Dense modules that were trained together",
            )
        width = dense.outputs
    return tuple(open_layer(model.folder, dense) for dense in model.dense)


def _width(model: Model, pooling: Pooling) -> int:
    return model.dense[-1].outputs if model.dense else model.width * len(pooling.modes)


def _prompt_tokens(texts: Texts) -> int:
    """Return the tokens before a text proper: opening special tokens and prompt.

    sentence-transformers counts them on the prompt alone, without its last special token.
    """
    if not texts.prompt:
        return 0
    return len(texts.vocabulary.tokenizer.encode(texts.prompt).ids) - min(texts.after, 1)
