"""A timm folder in; the facts of its Model, read from config and header, out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from likewise.errors import FolderError, WeightsError
from likewise.model.export import Export
from likewise.model.files import show
from likewise.model.header import Tensor
from likewise.model.heads import elements, stored_dtype
from likewise.model.labels import label_name
from likewise.model.weight_files import Weights
from likewise.settings import Overrides
from likewise.types import Preprocessing

__all__ = ["classifier_names", "is_timm", "picture_config", "picture_facts"]

_CROPS = ("center", "squash", "border")
_HEADS = ("head.fc", "head", "fc", "classifier", "head.l", "last_linear", "head_dist")
_TOWERS = ("clip", "siglip", "dino", "mae", "eva02_", "moco", "pe_core", "aimv2")
_TUNED = ("ft_", "_ft", "finetune")


def is_timm(config: Mapping[str, Any]) -> bool:
    """Tell whether config.json is one of timm's."""
    return "architecture" in config and not config.get("model_type")


def picture_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``pretrained_cfg`` with what stands beside it, as timm merges the two.

    Old folders have one flat object; there it is the whole config.
    """
    inner = config.get("pretrained_cfg")
    merged = dict(inner if isinstance(inner, dict) else config)
    for key in ("num_classes", "label_names", "label_descriptions"):
        if key in config:
            merged[key] = config[key]
    merged.setdefault("label_names", merged.get("labels"))
    return merged


def classifier_names(config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> tuple[str, ...]:
    """Return the modules that score classes, as the config or else the tensors name them."""
    stated = picture_config(config).get("classifier")
    if isinstance(stated, str):
        return (stated,)
    if isinstance(stated, list) and stated:
        return tuple(str(name) for name in stated)
    return tuple(name for name in _HEADS if f"{name}.weight" in tensors)


def picture_facts(
    file: Path,
    config: Mapping[str, Any],
    weights: Weights | None,
    export: Export | None,
    stated: Overrides,
) -> dict[str, Any]:
    """Return the fields of ``Model`` that a timm folder tells, and ``warnings``.

    Raises:
        FolderError: the config is incomplete or has a value that likewise does not know.
        WeightsError: the head in the file is not the one that the config describes.
    """
    picture, architecture = picture_config(config), _architecture(file, config)
    tensors = weights.tensors if weights else {}
    classes = picture.get("num_classes", 1000)
    if type(classes) is not int or classes < 0:
        raise FolderError(f"{file} does not give num_classes.", found=f"{classes!r}")
    trained = _head_is_there(file, config, tensors, classes) if weights else classes > 0
    labels, doubts = _labels(file, picture, classes, stated)
    scores = classes > 0 and (bool(labels) or not _is_tower(picture))
    heads = [tensors.get(f"{name}.weight") for name in classifier_names(config, tensors)]
    inputs = next((head.shape[1] for head in heads if head and len(head.shape) > 1), 0)
    width = config.get("num_features", picture.get("num_features"))
    if classes and not scores:
        tag = picture.get("tag") or "no label names"
        doubts.append(f"the head of {classes} outputs is a projection ({tag}), not a classifier")
    return {
        "library": "timm",
        "architecture": architecture,
        "family": architecture,
        "parameters": elements(tensors) if tensors else export and export.parameters,
        "layers": 0,
        "width": width if type(width) is int else inputs,
        "vocabulary": 0,
        "max_tokens": 0,
        "stored_dtype": stored_dtype(tensors) if tensors else "float32",
        "tokenizer": "",
        "trained_heads": ("picture",) if trained else (),
        "sentence_transformer": False,
        "labels": labels if scores else (),
        "preprocessing": _preprocessing(file, picture),
        "classes_head": scores,
        "warnings": doubts,
    }


def _architecture(file: Path, config: Mapping[str, Any]) -> str:
    """Return timm's name of the architecture; a name with a source in it would be fetched."""
    name = config["architecture"]
    if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9_]+(\.\w+)?", name):
        raise FolderError(
            f"{file} names an architecture that timm does not have.",
            found=f"{name!r}",
            fix="a name that timm.list_models() gives",
        )
    return name.partition(".")[0]


def _head_is_there(
    file: Path, config: Mapping[str, Any], tensors: Mapping[str, Tensor], classes: int
) -> bool:
    if classes == 0:
        return False
    names = [f"{name}.weight" for name in classifier_names(config, tensors)]
    found = [name for name in names if name in tensors]
    wrong = [name for name in found if tensors[name].shape[0] != classes]
    if wrong:
        raise WeightsError(
            f"{file} says {classes} outputs, and the weights have another head.",
            found=f"{wrong[0]} of shape {tensors[wrong[0]].shape}",
            fix="correct num_classes, or take both files from one version of the model",
        )
    return bool(names) and found == names


def _is_tower(picture: Mapping[str, Any]) -> bool:
    """Tell a projection from a classifier by the tag that timm gives its weights."""
    tag = str(picture.get("tag") or "").lower()
    tuned = any(tag.startswith(mark) or mark in tag for mark in _TUNED)
    return not tuned and any(mark in tag for mark in _TOWERS)


def _labels(
    file: Path, picture: Mapping[str, Any], classes: int, stated: Overrides
) -> tuple[tuple[str, ...], list[str]]:
    labels = _named(file, picture) if stated.labels is None else stated.labels
    if labels and len(labels) != classes:
        raise FolderError(
            f"{len(labels)} label(s) are stated for {classes} outputs."
            if stated.labels
            else f"{file} names {len(labels)} label(s) for {classes} outputs.",
            found=show(labels),
            fix="state one label for each output, in order of their index: --labels",
        )
    if labels or classes == 0 or _is_tower(picture):
        return labels, []
    numbered = tuple(f"LABEL_{index}" for index in range(classes))
    return numbered, ["the labels have no names: label_names is not in config.json"]


def _named(file: Path, picture: Mapping[str, Any]) -> tuple[str, ...]:
    names = picture.get("label_names")
    if isinstance(names, dict):
        try:
            by_index = {int(index): label_name(name, file) for index, name in names.items()}
        except ValueError:
            by_index = {}
        if sorted(by_index) != list(range(len(names))):
            raise FolderError(
                f"{file} has label_names that do not number the outputs 0, 1, 2 …",
                found=f"{names}"[:200],
                fix='write them as ["first", "second"], or state the labels: --labels',
            )
        return tuple(by_index[index] for index in range(len(by_index)))
    return tuple(label_name(name, file) for name in names) if isinstance(names, list) else ()


def _preprocessing(file: Path, picture: Mapping[str, Any]) -> Preprocessing:
    size = _numbers(file, picture, "input_size")
    mean, std = _numbers(file, picture, "mean"), _numbers(file, picture, "std")
    share = picture.get("crop_pct") or 0.875  # timm's default
    crop = picture.get("crop_mode") or "center"
    if crop not in _CROPS:
        raise FolderError(
            f"{file} has a crop_mode that likewise does not know.",
            found=f"{crop!r}",
            fix=f"one of: {', '.join(_CROPS)}",
        )
    whole = len(size) == 3 and all(n >= 1 and n == int(n) for n in size)
    fits = whole and len(mean) == len(std) == size[0] and min(std) > 0
    if not fits or not isinstance(share, int | float) or not 0 < share <= 1:
        raise FolderError(
            f"{file} says how pictures become pixels, in numbers that cannot be.",
            found=f"input_size {size}, mean {mean}, std {std}, crop_pct {share}",
        )
    return Preprocessing(
        size=(int(size[0]), int(size[1]), int(size[2])),
        interpolation=str(picture.get("interpolation") or "bicubic"),
        crop_pct=float(share),
        crop_mode=crop,
        mean=mean,
        std=std,
    )


def _numbers(file: Path, picture: Mapping[str, Any], key: str) -> tuple[float, ...]:
    stated = picture.get(key)
    listed = stated if isinstance(stated, list | tuple) and stated else None
    if listed is None or not all(isinstance(n, int | float) for n in listed):
        raise FolderError(f"{file} does not give {key} as numbers.", found=f"{key}: {stated!r}")
    return tuple(float(n) for n in listed)
