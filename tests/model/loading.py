"""A folder in; what it gives through ``load``, and through the library itself, out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import tiny as builders
from likewise.model.read import read
from likewise.model.weights import Loaded, load
from likewise.types import Head, Model, Network

__all__ = ["IDS", "MASK", "PIXELS", "ROWS", "TEXT", "configured", "loaded", "network", "output",
           "reference", "rename", "same", "without"]  # fmt: skip

IDS = torch.tensor([[2, 15, 26, 37, 3], [2, 28, 39, 3, 1]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 1, 0]])
ROWS = torch.tensor([1, 6, 2])
PIXELS = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(5))
TEXT = [
    ("bert_classifier", "classes"), ("roberta_classifier", "classes"),
    ("xlmr_classifier", "classes"), ("distilbert_classifier", "classes"),
    ("electra_classifier", "classes"), ("bert_fillmask", "tokens"),
    ("roberta_fillmask", "tokens"), ("xlmr_fillmask", "tokens"),
    ("distilbert_fillmask", "tokens"), ("bert_encoder", "hidden"),
    ("sentence_transformer", "hidden"), ("roberta_fillmask", "hidden"),
    ("bert_classifier", "hidden"), ("distilbert_classifier", "hidden"),
]  # fmt: skip


def network(model: Model, head: Head) -> Network:
    if model.library == "timm":
        return Network(head, ("pixel_values",), ("features",))
    segments = ("token_type_ids",) if model.token_types > 1 else ()
    rows = ("rows",) if head == "tokens" else ()
    return Network(head, ("input_ids", "attention_mask", *segments, *rows), ("output",))


def loaded(folder: Path, head: Head, dtype: str = "float32", seed: int = 0) -> Loaded:
    model = read(folder)
    return load(model, network(model, head), dtype, seed=seed)


def output(folder: Path, head: Head, dtype: str = "float32") -> torch.Tensor:
    model = read(folder)
    feeds = {
        "input_ids": IDS,
        "attention_mask": MASK,
        "token_type_ids": torch.zeros_like(IDS),
        "rows": ROWS,
        "pixel_values": PIXELS.to(getattr(torch, dtype)),
    }
    wanted = network(model, head)
    module = load(model, wanted, dtype).module
    with torch.inference_mode():
        (result,) = module(*(feeds[name] for name in wanted.inputs))
    assert isinstance(result, torch.Tensor)
    return result


def same(ours: torch.Tensor, theirs: torch.Tensor, head: Head) -> bool:
    """Tell whether two outputs are the same, bit for bit but for those of single tokens.

    Of those transformers multiplies every position and likewise the masked rows alone: a product
    of another shape, which some processors sum in another order.
    """
    if head != "tokens":
        return torch.equal(ours, theirs)
    return float((ours - theirs).abs().max()) <= 1e-6 * float(theirs.abs().max())


def reference(folder: Path, head: Head, dtype: str = "float32") -> torch.Tensor:
    import transformers

    kind = {
        "hidden": transformers.AutoModel,
        "classes": transformers.AutoModelForSequenceClassification,
        "tokens": transformers.AutoModelForMaskedLM,
    }[head]
    module = kind.from_pretrained(
        str(folder), dtype=getattr(torch, dtype), attn_implementation="eager"
    ).eval()
    with torch.inference_mode():
        result: torch.Tensor = module(input_ids=IDS, attention_mask=MASK)[0]
    return result.reshape(-1, result.shape[-1])[ROWS] if head == "tokens" else result


def rename(folder: Path, change: Callable[[dict[str, torch.Tensor]], dict[str, Any]]) -> Path:
    """Change the tensors of a folder's safetensors file."""
    from safetensors.torch import load_file, save_file

    file = folder / "model.safetensors"
    save_file(change(load_file(file)), file)
    return folder


def without(*marks: str) -> Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]:
    return lambda tensors: {n: t for n, t in tensors.items() if not any(m in n for m in marks)}


def configured(folder: Path, **changes: Any) -> Path:
    file = folder / "config.json"
    builders.write_json(file, {**json.loads(file.read_text()), **changes})
    return folder
