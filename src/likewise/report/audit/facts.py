"""A model folder in; the facts of its config.json that a report may get wrong, out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from likewise.errors import FolderError
from likewise.types import Json

__all__ = ["facts_of"]

_NAMES = {
    "hidden size": ("hidden_size", "d_model", "dim", "n_embd"),
    "layers": ("num_hidden_layers", "n_layers", "n_layer"),
    "heads": ("num_attention_heads", "n_heads", "n_head"),
    "vocabulary": ("vocab_size",),
}
_MOST_BYTES = 5_000_000


def facts_of(folder: Path) -> Mapping[str, int]:
    """Return what config.json says, by the names of things; what it does not say is not there.

    Raises:
        FolderError: there is no config.json, or it is not a JSON object.
    """
    config = _read(folder / "config.json")
    found = {
        name: config[key]
        for name, keys in _NAMES.items()
        for key in keys[::-1]
        if isinstance(config.get(key), int)
    }
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and positions > 0:
        # RoBERTa's 514 are 512 tokens; both are said everywhere, and neither is a contradiction.
        found["longest input"] = positions
    return {**found, **_classes(config), **_picture(config)}


def _classes(config: Mapping[str, Json]) -> dict[str, int]:
    heads = " ".join(map(str, config.get("architectures") or ()))
    labels = config.get("id2label")
    if "Classification" in heads and isinstance(labels, dict):
        return {"classes": len(labels)}
    stated = config.get("num_classes")
    tower = "clip" in str(_pretrained(config).get("tag", "")).lower()
    if isinstance(stated, int) and "architecture" in config:
        return {"output width": stated, "classes": 0} if tower else {"classes": stated}
    bare = heads.endswith("Model")
    return {"classes": 0} if bare else {}


def _picture(config: Mapping[str, Json]) -> dict[str, int]:
    size = _pretrained(config).get("input_size")
    found = {}
    if isinstance(size, list) and len(size) == 3:
        found["picture size"] = int(size[1])
    if isinstance(config.get("image_size"), int):
        found["picture size"] = config["image_size"]
    width = config.get("num_features")
    if isinstance(width, int) and "architecture" in config:
        found["output width, before the head"] = width
    return found


def _pretrained(config: Mapping[str, Json]) -> Mapping[str, Json]:
    stated = config.get("pretrained_cfg")
    return stated if isinstance(stated, dict) else {}


def _read(path: Path) -> Mapping[str, Json]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise FolderError(f"{path} is too large to be a config.json.")
        config = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FolderError(
            f"{path} cannot be read.",
            found=str(error.strerror or error),
            fix="--model FOLDER with a config.json",
        ) from None
    except (ValueError, RecursionError) as error:
        raise FolderError(f"{path} is not JSON.", found=str(error)) from None
    if not isinstance(config, dict):
        raise FolderError(f"{path} is not a JSON object.", found=type(config).__name__)
    return config
