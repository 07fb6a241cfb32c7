"""A folder, items and an engine in; what a person gets for them, and what plain libraries give."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import likewise

__all__ = ["ENGINES", "answers", "logits", "plain", "plan", "vectors"]

ENGINES = ("torch", "onnx", "openvino")
_FACES = {
    "classify": "Classifier", "embed": "Encoder", "fillmask": "FillMask",
    "image_classify": "ImageClassifier", "image_embed": "ImageEncoder",
}  # fmt: skip


def plan(engine: str, batch: int = 4) -> str:
    """Return the plan of an engine on this machine."""
    return f"{engine}/cpu/float32/b{batch}/t1"


def answers(
    folder: Path, items: Sequence[Any], engine: str, *, task: str = "classify", **stated: Any
) -> list[dict[str, Any]]:
    """Return one answer per item, as the Python names give them."""
    batch = stated.pop("batch", 4)
    top = stated.pop("top", None)
    face = getattr(likewise, _FACES[task])
    with face(folder, plan=plan(engine, batch), **stated) as predictor:
        return list(predictor.answers(items, top=top))


def logits(folder: Path, items: Sequence[Any], engine: str, **stated: Any) -> np.ndarray:
    """Return (N, C) logits of a text classifier."""
    with likewise.Classifier(folder, plan=plan(engine), **stated) as predictor:
        return predictor.open().run(list(items)).arrays["logits"]


def vectors(folder: Path, items: Sequence[Any], engine: str, **stated: Any) -> np.ndarray:
    """Return (N, D) vectors."""
    batch = stated.pop("batch", 4)
    with likewise.Encoder(folder, plan=plan(engine, batch), **stated) as predictor:
        return predictor.encode(items)


def plain(folder: Path, first: str, second: str | None = None, **limits: Any) -> np.ndarray:
    """Return (C,) logits as transformers computes them for one text or pair alone."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32
    ).eval()
    inputs = tokenizer(first, second, return_tensors="pt", truncation=True, **limits)
    with torch.no_grad():
        return model(**inputs).logits[0].numpy()
