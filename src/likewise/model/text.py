"""A text encoder's folder in; the facts of its Model, from config, tokenizer and header, out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from likewise.errors import FolderError
from likewise.model.export import Export
from likewise.model.families import architecture_of, family_of, number, positions, stated_family
from likewise.model.files import optional_json
from likewise.model.heads import classes_of, elements, rows, stored_dtype, text_heads
from likewise.model.labels import problem_type, read_labels
from likewise.model.modules import Modules
from likewise.model.recipes import find_casing, find_tokenizer
from likewise.model.weight_files import Weights
from likewise.settings import Overrides
from likewise.types import Pooling

__all__ = ["Body", "text_facts"]

_UNSET = 1_000_000  # a tokenizer limit from here on stands for "none" (case B004)
_ASSUMED_LIMIT = 512
_WORDS = ("word_embeddings.weight", "tok_embeddings.weight", "embed_tokens.weight",
          "embeddings.weight", "word_embedding.weight")  # fmt: skip
_POSITIONS = ("position_embeddings.weight",)
_SEGMENTS = ("token_type_embeddings.weight",)


@dataclass(frozen=True)
class Body:
    """A text encoder's folder, opened but not yet understood."""

    folder: Path
    core: Path  # with config.json; the folder itself, or the Transformer's sub-folder
    config: Mapping[str, Any]
    modules: Modules | None
    weights: Weights | None  # None in a folder that carries an export instead
    export: Export | None

    @property
    def file(self) -> Path:
        """config.json, for messages."""
        return self.core / "config.json"


def text_facts(body: Body, stated: Overrides) -> dict[str, Any]:
    """Return the fields of ``Model`` that a text encoder's folder tells, and ``warnings``.

    Raises:
        FolderError: the config, labels or tokenizer contradict themselves or are missing.
    """
    config, file = body.config, body.file
    family = stated_family(stated.model_type) or family_of(config, file)
    architecture = architecture_of(config)
    tensors = body.weights.tensors if body.weights else {}
    if body.weights:
        heads = text_heads(tensors, config, architecture)
    else:
        heads = body.export.heads if body.export else ()
    tokenizer = find_tokenizer(body.folder, body.core)
    lower, said = find_casing(body.folder, tokenizer, config, family)
    limits = _limits(body, family, tokenizer)
    doubts = []
    if not limits:
        doubts.append(f"no length limit is stated: {_ASSUMED_LIMIT} tokens are assumed")
    if body.modules and body.modules.max_tokens is None and stated.max_tokens is None:
        doubts.append(
            "no sentence_bert_config.json states a limit: the tokenizer's or the model's counts"
        )
    if body.modules and body.modules.lower_case:
        doubts.append("every text is lower-cased before the tokenizer, as the folder says")
    doubts += _unread(body)
    labels, problem, oddities = _classes(body, heads, stated)
    vocabulary = rows(tensors, _WORDS) or number(config, "vocab_size", file=file)
    segments = rows(tensors, _SEGMENTS)
    return {
        "library": "transformers",
        "architecture": architecture,
        "family": family,
        "parameters": elements(tensors) if tensors else body.export and body.export.parameters,
        "layers": number(config, "num_hidden_layers", "n_layers", "n_layer", file=file),
        "width": number(config, "hidden_size", "dim", "d_model", "emb_dim", file=file),
        "vocabulary": vocabulary,
        "max_tokens": min(limits.values(), default=_ASSUMED_LIMIT),
        "limits": limits,
        "stored_dtype": stored_dtype(tensors) if tensors else "float32",
        "tokenizer": tokenizer,
        "trained_heads": heads,
        "labels": labels,
        "problem_type": problem,
        "lower_case": lower,
        "token_types": int(config.get("type_vocab_size") or 0) if segments is None else segments,
        **_sentence_facts(body),
        "warnings": [*(said if stated.lower_case is None else ()), *doubts, *oddities],
    }


def _sentence_facts(body: Body) -> dict[str, Any]:
    modules = body.modules
    if modules is None:
        return {"sentence_transformer": False, "pooling": Pooling(("mean",), assumed=True)}
    return {
        "sentence_transformer": True,
        "pooling": modules.pooling,
        "dense": modules.dense,
        "normalise": modules.normalise,
        "prompts": modules.prompts,
        "default_prompt": modules.default_prompt,
    }


def _unread(body: Body) -> list[str]:
    """Return what the folder says and sentence-transformers, whose file it is, does not read."""
    stated = optional_json(body.folder / "config_sentence_transformers.json").get("truncate_dim")
    if body.modules is None or stated is None:
        return []
    return [
        f"truncate_dim {stated} in config_sentence_transformers.json is read by no version of "
        f"sentence-transformers: vectors keep all their numbers; --truncate-dim {stated} cuts them"
    ]


def _classes(
    body: Body, heads: tuple[str, ...], stated: Overrides
) -> tuple[tuple[str, ...], str, list[str]]:
    """Return labels, problem type and warnings; nothing where no classifier was trained."""
    if "classes" not in heads:
        return (), "", []
    classes = classes_of(body.weights.tensors) if body.weights else None
    labels: tuple[str, ...] = stated.labels or ()
    oddities: tuple[str, ...] = ()
    if labels and classes not in (None, len(labels)):
        raise FolderError(
            f"{len(labels)} label(s) are stated and the classifier has {classes} outputs.",
            found=", ".join(labels),
            fix="state one label for each output, in order of their index",
        )
    if not labels:
        labels, oddities = read_labels(body.config, classes, body.file)
    problem = "" if stated.problem_type else problem_type(body.config, body.file)
    return labels, problem, list(oddities)  # what an unsaid problem type means, the task says


def _limits(body: Body, family: str, tokenizer: str) -> dict[str, int]:
    """Return all limits that the folder states; the smallest counts (cases B001 to B008)."""
    table = positions(body.config, family, body.file)
    held = rows(body.weights.tensors, _POSITIONS) if body.weights else None
    if table is None and held is not None:
        table = positions({**body.config, "max_position_embeddings": held}, family, body.file)
    file = (body.folder / tokenizer).parent / "tokenizer_config.json"
    declared = optional_json(file)
    stated = body.modules.max_tokens if body.modules else None
    limits = {
        "positions": table,
        "tokenizer": _whole(declared.get("model_max_length"), file),
        "sentence_transformers": _whole(stated, file),
    }
    return {name: limit for name, limit in limits.items() if limit is not None}


def _whole(value: object, file: Path) -> int | None:
    """Return a limit that is meant as one; sentinels near 1e30 and numbers below 1 are not."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FolderError(
            f"{file} has a model_max_length that is no number.",
            found=f"{value!r}"[:200],
            fix="model_max_length: a number of tokens",
        )
    return int(value) if 1 <= value < _UNSET else None
