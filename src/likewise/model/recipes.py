"""A folder's tokenizer files in; which file counts, which rules go with it, and its casing, out.

The rules are those that transformers 5 applies to the same folder: there the class that the
folder names, or else its family's, decides on casing and spaces, and of ``tokenizer.json`` only
vocabulary and added tokens count. tests/model/test_model_tokenizer.py compares every id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from likewise.errors import FolderError
from likewise.model.files import optional_json, refuse_pointer

__all__ = [
    "Recipe", "find_casing", "find_recipe", "find_tokenizer", "read_head", "tokenizer_class",
]  # fmt: skip

_BERT = {"unk": "[UNK]", "sep": "[SEP]", "pad": "[PAD]", "cls": "[CLS]", "mask": "[MASK]"}
_ROBERTA = {
    "bos": "<s>",
    "eos": "</s>",
    "unk": "<unk>",
    "sep": "</s>",
    "pad": "<pad>",
    "cls": "<s>",
    "mask": "<mask>",
}
_ALBERT = {**_BERT, "bos": "[CLS]", "eos": "[SEP]", "unk": "<unk>", "pad": "<pad>"}
_DEBERTA = {**_BERT, "bos": "[CLS]", "eos": "[SEP]"}
_NOT_USED = ("<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED")


@dataclass(frozen=True)
class Recipe:
    """How one of transformers' tokenizer classes is put together."""

    model: Literal["WordPiece", "BPE", "Unigram"]
    rules: Literal["bert", "bytes", "pieces", "albert", "deberta-v2"]  # before the model
    frame: Literal["bert", "roberta", "double", "file"]  # special tokens around a text
    specials: Mapping[str, str]
    lower_case: bool | None = (
        None  # do_lower_case where the folder does not say; None: no such rule
    )
    greedy_mask: bool = False  # the mask token swallows a space before it
    more: tuple[str, ...] = field(default=())  # further special tokens


RECIPES = {
    "BertTokenizer": Recipe("WordPiece", "bert", "bert", _BERT, lower_case=True),
    "MPNetTokenizer": Recipe(
        "WordPiece",
        "bert",
        "roberta",
        {**_ROBERTA, "unk": "[UNK]"},
        lower_case=True,
        greedy_mask=True,
    ),
    "RobertaTokenizer": Recipe("BPE", "bytes", "roberta", _ROBERTA),
    "DebertaTokenizer": Recipe("BPE", "bytes", "double", _DEBERTA),
    "XLMRobertaTokenizer": Recipe("Unigram", "pieces", "double", _ROBERTA),
    "CamembertTokenizer": Recipe(
        "Unigram", "pieces", "double", _ROBERTA, greedy_mask=True, more=_NOT_USED
    ),
    "AlbertTokenizer": Recipe("Unigram", "albert", "file", _ALBERT, lower_case=True),
    "DebertaV2Tokenizer": Recipe("Unigram", "deberta-v2", "bert", _DEBERTA, lower_case=False),
}
_ALIASES = {
    "DistilBertTokenizer": "BertTokenizer",
    "ElectraTokenizer": "BertTokenizer",
    "LayoutLMTokenizer": "BertTokenizer",
    "MobileBertTokenizer": "BertTokenizer",
    "SqueezeBertTokenizer": "BertTokenizer",
    "BartTokenizer": "RobertaTokenizer",
    "LongformerTokenizer": "RobertaTokenizer",
}
_FAMILY_CLASSES = {
    "BertTokenizer": (
        "bert", "convbert", "distilbert", "electra", "ernie", "layoutlm", "megatron-bert",
        "mobilebert", "squeezebert",
    ),
    "RobertaTokenizer": (
        "data2vec-text", "ibert", "longformer", "mra", "roberta", "roberta-prelayernorm",
    ),
    "XLMRobertaTokenizer": ("xlm-roberta", "xmod"),
    "CamembertTokenizer": ("camembert",),
    "MPNetTokenizer": ("mpnet",),
    "AlbertTokenizer": ("albert", "yoso"),
    "DebertaTokenizer": ("deberta",),
    "DebertaV2Tokenizer": ("deberta-v2",),
}  # fmt: skip
_AS_FILED = ("modernbert", "nystromformer", "xlm-roberta-xl")  # families without a class of rules
_FILES = ("tokenizer.json", "vocab.txt", "vocab.json")
_PIECES = ("sentencepiece.bpe.model", "spiece.model", "spm.model", "tokenizer.model")


def find_tokenizer(folder: Path, core: Path) -> str:
    """Return the file that the tokenizer comes from, relative to the folder.

    Raises:
        FolderError: there is none.
    """
    for place in dict.fromkeys((core, folder)):
        for name in (*_FILES, *_PIECES):
            file = place / name
            if not file.is_file() or (
                name == "vocab.json" and not (place / "merges.txt").is_file()
            ):
                continue
            refuse_pointer(file)
            return file.relative_to(folder).as_posix()
    raise FolderError(
        f"{folder} has no tokenizer.",
        found="no tokenizer.json, vocab.txt, vocab.json with merges.txt, or sentencepiece model",
        fix="put the tokenizer files that belong to this model into the folder",
    )


def tokenizer_class(
    stated: Mapping[str, Any], config: Mapping[str, Any], family: str
) -> tuple[str, bool]:
    """Return the tokenizer class, without Fast, and whether the folder names it itself.

    Args:
        stated: the content of tokenizer_config.json.
        config: the content of config.json.
        family: the model type.
    """
    named = stated.get("tokenizer_class") or config.get("tokenizer_class")
    if isinstance(named, str) and family not in _AS_FILED:
        return named.removesuffix("Fast"), True
    own = next((name for name, families in _FAMILY_CLASSES.items() if family in families), "")
    return own, False


def find_recipe(name: str) -> Recipe | None:
    """Return the rules of a tokenizer class; None where ``tokenizer.json`` alone gives them."""
    return RECIPES.get(_ALIASES.get(name, name))


def find_casing(
    folder: Path, tokenizer: str, config: Mapping[str, Any], family: str
) -> tuple[bool | None, list[str]]:
    """Return whether the tokenizer lower-cases, and what was assumed to say so.

    Returns:
        None where the tokenizer has no such rule, or where its file alone knows.
    """
    file = folder / tokenizer
    stated = optional_json(file.parent / "tokenizer_config.json")
    recipe = find_recipe(tokenizer_class(stated, config, family)[0])
    if recipe is not None:
        _check_flags(stated, recipe, file.parent / "tokenizer_config.json")
    filed, kind = read_head(file) if file.name == "tokenizer.json" else (None, "")
    if recipe is None or kind not in ("", recipe.model):
        return filed, []
    if recipe.lower_case is None:
        return None, []
    if "do_lower_case" in stated:
        return bool(stated["do_lower_case"]), _contradiction(bool(stated["do_lower_case"]), filed)
    assumed = recipe.lower_case
    if filed is not None and filed == assumed:
        return assumed, []
    verb = "lower-cased" if assumed else "kept in their case"
    said = f"casing is not said in tokenizer_config.json: texts are {verb}, as transformers does"
    if filed is not None:
        said += (
            f"; tokenizer.json says the opposite: state {'--lower-case' if filed else '--cased'}"
        )
    elif assumed and file.name == "vocab.txt":
        said += _capitals(file)
    return assumed, [said]


def _check_flags(stated: Mapping[str, Any], recipe: Recipe, file: Path) -> None:
    """Refuse a rule that is neither on nor off; null is good where it means what absence means."""
    usual = {
        "do_lower_case": recipe.lower_case,
        "strip_accents": None,
        "tokenize_chinese_chars": True,
        "add_prefix_space": recipe.rules != "bytes",
        "keep_accents": False,
        "split_by_punct": False,
    }
    for name, default in usual.items():
        value = stated.get(name, default)
        if not (isinstance(value, bool) or (value is None and not default)):
            raise FolderError(
                f"{file} has {name} neither on nor off.",
                found=f"{name}: {value!r}"[:200],
                fix="true or false",
            )


def _contradiction(stated: bool, filed: bool | None) -> list[str]:
    if filed is None or filed == stated:
        return []
    verb = "lower-cased" if stated else "kept in their case"
    return [
        f"tokenizer_config.json and tokenizer.json contradict each other on casing: texts are "
        f"{verb}, as transformers does"
    ]


def _capitals(file: Path) -> str:
    """Return a doubt where a vocabulary that is to see lower-cased texts holds capitals."""
    words = file.read_text(encoding="utf-8", errors="replace").split("\n")
    count = sum(word != word.lower() and not word.startswith(("[", "<")) for word in words)
    return (
        f"; but {count} of its {len(words)} tokens have capitals: state --cased?" if count else ""
    )


class _Kind(msgspec.Struct, frozen=True):
    type: str = ""  # WordPiece, BPE, Unigram …; old files do not say


class _Head(msgspec.Struct):
    normalizer: dict[str, Any] | None = None
    model: _Kind = _Kind()


def read_head(file: Path) -> tuple[bool | None, str]:
    """Return what tokenizer.json does to case, None for nothing, and its kind of vocabulary."""
    try:
        head = msgspec.json.decode(file.read_bytes().lstrip(b"\xef\xbb\xbf"), type=_Head)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FolderError(
            f"{file} is not a tokenizer.", found=str(error), fix="download the file again"
        ) from None
    return _lowers(head.normalizer), head.model.type


def _lowers(normalizer: Mapping[str, Any] | None) -> bool | None:
    if normalizer is None:
        return None
    if normalizer.get("type") == "BertNormalizer":
        return bool(normalizer.get("lowercase"))
    if normalizer.get("type") == "Sequence":
        found = [_lowers(part) for part in normalizer.get("normalizers", [])]
        return True if True in found else False if False in found else None
    return True if normalizer.get("type") == "Lowercase" else None
