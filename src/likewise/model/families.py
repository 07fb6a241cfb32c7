"""A config in; which family of text encoder it describes and how many tokens it can take, out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from likewise.errors import FolderError, SettingsError

__all__ = ["FAMILIES", "architecture_of", "family_of", "number", "positions", "stated_family"]

FAMILIES = {
    "albert": "Albert",
    "bert": "Bert",
    "big_bird": "BigBird",
    "camembert": "Camembert",
    "convbert": "ConvBert",
    "data2vec-text": "Data2VecText",
    "deberta": "Deberta",
    "deberta-v2": "DebertaV2",
    "distilbert": "DistilBert",
    "electra": "Electra",
    "ernie": "Ernie",
    "esm": "Esm",
    "eurobert": "EuroBert",
    "flaubert": "Flaubert",
    "fnet": "FNet",
    "ibert": "IBert",
    "layoutlm": "LayoutLM",
    "longformer": "Longformer",
    "luke": "Luke",
    "megatron-bert": "MegatronBert",
    "mobilebert": "MobileBert",
    "modernbert": "ModernBert",
    "mpnet": "MPNet",
    "mra": "Mra",
    "nystromformer": "Nystromformer",
    "rembert": "RemBert",
    "roberta": "Roberta",
    "roberta-prelayernorm": "RobertaPreLayerNorm",
    "roformer": "RoFormer",
    "squeezebert": "SqueezeBert",
    "xlm": "XLM",
    "xlm-roberta": "XLMRoberta",
    "xlm-roberta-xl": "XLMRobertaXL",
    "xmod": "Xmod",
    "yoso": "Yoso",
}
"""model_type → how transformers' class names of that family begin."""

_OFFSET = (
    "camembert", "data2vec-text", "esm", "ibert", "longformer", "luke", "mpnet", "roberta",
    "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod",
)  # fmt: skip
"""Families whose first token has the position after the padding id (cases B001, B002)."""

_PAD_IS_ONE = ("mpnet",)  # its class writes 1, whatever pad_token_id says
_CLASS = re.compile(r"(\w+?)(For[A-Z]\w*|Model|LMHeadModel|WithLMHeadModel)")


def family_of(config: Mapping[str, Any], file: Path) -> str:
    """Return the model type; where the config does not say, the architecture's name tells.

    Raises:
        FolderError: neither field is there, or likewise does not know what they name.
    """
    stated, architecture = config.get("model_type"), architecture_of(config)
    if isinstance(stated, str) and stated:
        if stated not in FAMILIES:
            raise _unknown(file, f"model_type {stated!r}")
        return stated
    if not architecture:
        raise FolderError(
            f"{file} does not say what kind of model this is.",
            found="neither model_type nor architectures",
            fix='--model-type bert, or the like; or add the field: "model_type": "bert"',
        )
    match = _CLASS.fullmatch(architecture)
    begins = {name: family for family, name in FAMILIES.items()}
    family = begins.get(match[1]) if match else None
    if family is None:
        raise _unknown(file, f"architecture {architecture!r}, and no model_type")
    return family


def stated_family(stated: str | None) -> str | None:
    """Return the model type that the user states, or None.

    Raises:
        SettingsError: it is none that likewise knows.
    """
    if stated is not None and stated not in FAMILIES:
        raise SettingsError(
            f"model_type {stated!r} is none that likewise knows.",
            fix=f"one of: {', '.join(FAMILIES)}",
        )
    return stated


def architecture_of(config: Mapping[str, Any]) -> str:
    """Return the first architecture that the config names; "" where it names none."""
    stated = config.get("architectures")
    first = stated[0] if isinstance(stated, list) and stated else ""
    return first if isinstance(first, str) else ""


def positions(config: Mapping[str, Any], family: str, file: Path) -> int | None:
    """Return how many tokens the position table serves; None where positions are relative.

    Raises:
        FolderError: the config's numbers leave no token at all.
    """
    rows = config.get("max_position_embeddings", config.get("n_positions"))
    if rows in (None, -1):
        return None
    total = number(config, "max_position_embeddings", "n_positions", file=file)
    taken = 0
    if family in _OFFSET:
        pad = config.get("pad_token_id", 1)
        if pad is None:
            raise FolderError(
                f"{file} has no pad_token_id, and positions of {family} begin behind it.",
                found="pad_token_id is null",
                fix='write the tokenizer\'s own, as in "pad_token_id": 1',
            )
        taken = pad + 1 if isinstance(pad, int) and family not in _PAD_IS_ONE else 2
    if total - taken < 1:
        raise FolderError(
            f"{file} leaves no position for a token.",
            found=f"{total} positions, of which {taken} stand for padding",
        )
    return total - taken


def number(config: Mapping[str, Any], *keys: str, file: Path) -> int:
    """Return the first of the keys that is there, a whole number above 0.

    Raises:
        FolderError: none is there, or it is no such number.
    """
    key = next((key for key in keys if config.get(key) is not None), keys[0])
    value = config.get(key)
    if type(value) is not int or value < 1:
        found = "is not there" if value is None else f"is {value!r}"
        raise FolderError(f"{file} does not give {key}.", found=f"{key} {found}")
    return value


def _unknown(file: Path, found: str) -> FolderError:
    return FolderError(
        f"{file} describes a model that likewise does not know.",
        found=found,
        fix="likewise reads text encoders (bert, roberta, xlm-roberta, distilbert, electra, mpnet, "
        "albert and their kin), sentence-transformers folders of them, and timm folders",
    )
