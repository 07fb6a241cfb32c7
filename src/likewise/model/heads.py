"""Tensor names and shapes in; which heads were trained, and how large the tables are, out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from likewise.model.header import Tensor

__all__ = ["classes_of", "elements", "rows", "stored_dtype", "text_heads"]

_CLASS_LAYERS = (
    "classifier.weight",  # BERT, DistilBERT, ALBERT, DeBERTa, ModernBERT
    "classifier.out_proj.weight",  # RoBERTa, XLM-R, ELECTRA, MPNet, ESM
    "score.weight",
    "sequence_summary.summary.weight",  # XLM, FlauBERT
)
_TOKEN_LAYERS = (
    "cls.predictions.transform.dense.weight",  # BERT
    "cls.predictions.dense.weight",  # RemBERT
    "cls.predictions.bias",
    "lm_head.dense.weight",  # RoBERTa, XLM-R, MPNet
    "lm_head.weight",  # EuroBERT
    "lm_predictions.lm_head.dense.weight",  # DeBERTa
    "vocab_transform.weight",  # DistilBERT
    "generator_predictions.dense.weight",  # ELECTRA
    "predictions.dense.weight",  # ALBERT
    "head.dense.weight",  # ModernBERT, together with its decoder
    "pred_layer.proj.bias",  # XLM, FlauBERT
)
_DECODERS = re.compile(
    r"(cls\.predictions|lm_head|predictions)\.decoder\.weight|lm_head\.weight|vocab_projector\.weight|"
    r"generator_lm_head\.weight|decoder\.weight|pred_layer\.proj\.weight"
)
_OTHER_CLASSES = re.compile(r"\w+For(TokenClassification|MultipleChoice|QuestionAnswering)")


def text_heads(
    tensors: Mapping[str, Tensor], config: Mapping[str, Any], architecture: str
) -> tuple[str, ...]:
    """Return the heads whose tensors are in the file: of classes, tokens.

    A ``classifier`` of a token classifier scores tokens, not texts, and does not count; nor does
    a mask head whose decoder is neither stored nor tied to the embeddings (case B036).
    """
    found = []
    if classes_of(tensors) is not None and not _OTHER_CLASSES.fullmatch(architecture):
        found.append("classes")
    tied = config.get("tie_word_embeddings", True) is not False
    decoder = any(_DECODERS.fullmatch(name) for name in tensors)
    if any(name in tensors for name in _TOKEN_LAYERS) and (tied or decoder):
        scores_texts = "head.dense.weight" in tensors and "classes" in found  # ModernBERT
        found += [] if scores_texts else ["tokens"]
    return tuple(found)


def classes_of(tensors: Mapping[str, Tensor]) -> int | None:
    """Return the rows of the last classifier layer, C; None where there is none."""
    last = next((tensors[name] for name in _CLASS_LAYERS if name in tensors), None)
    return last.shape[0] if last is not None and len(last.shape) == 2 else None


def rows(tensors: Mapping[str, Tensor], endings: Sequence[str]) -> int | None:
    """Return the rows of the first table whose name ends so; None where there is none."""
    for ending in endings:
        for name, tensor in tensors.items():
            if (name == ending or name.endswith(f".{ending}")) and len(tensor.shape) == 2:
                return tensor.shape[0]
    return None


def elements(tensors: Mapping[str, Tensor]) -> int:
    """Return how many numbers the floating tensors hold, each counted once."""
    return sum(tensor.elements for tensor in tensors.values() if tensor.floating)


def stored_dtype(tensors: Mapping[str, Tensor]) -> str:
    """Return the dtype of most elements."""
    counts: Counter[str] = Counter()
    for tensor in tensors.values():
        counts[tensor.dtype] += tensor.elements
    return counts.most_common(1)[0][0]
