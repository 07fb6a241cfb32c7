"""Families that padding changes: a text has one answer, whatever lies beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny as builders
from likewise.run.batching import batches
from likewise.run.opening import open_runner
from likewise.types import Plan

TEXTS = ["x", "the price", "the moon is good. the moon is good. the moon is good.", "y"]
SMALL = {"num_labels": 3, "hidden_size": 16, "num_hidden_layers": 2, "intermediate_size": 32}
HEADS = {"num_attention_heads": 2, "max_position_embeddings": 64}


def saved(family: str, folder: Path) -> Path:
    """Return a folder of another family over the tiny BERT's tokenizer, drawn from a seed."""
    import json

    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    source = builders.bert_classifier(folder)
    vocabulary = json.loads((source / "config.json").read_text())["vocab_size"]
    more: dict[str, Any] = {
        "mobilebert": {"embedding_size": 16, "intra_bottleneck_size": 16, **HEADS},
        "fnet": {"max_position_embeddings": 64},
        "convbert": {"embedding_size": 16, **HEADS},
    }[family]
    torch.manual_seed(5)
    config = AutoConfig.for_model(family, vocab_size=vocabulary, **SMALL, **more)
    model = AutoModelForSequenceClassification.from_config(config)
    builders.redraw(model, 5)
    (source / "model.safetensors").unlink()
    model.save_pretrained(source)
    return source


@pytest.mark.parametrize(
    ("family", "engine"), [("mobilebert", "torch"), ("mobilebert", "onnx"), ("fnet", "torch")]
)
def test_a_text_beside_a_long_one_is_answered_as_it_is_alone(
    family: str, engine: str, tmp_path: Path
) -> None:
    folder = saved(family, tmp_path / "model")
    runs = []
    for batch in (1, 4):
        plan = Plan.parse(f"{engine}/cpu/float32/b{batch}/t1")
        with open_runner(folder, plan=plan) as runner:
            runs.append(runner.run(TEXTS).arrays["logits"])
            said = any("padding changes" in note for note in runner.notes)
            assert said == (batch > 1)
    assert np.abs(runs[0] - runs[1]).max() < 1e-5


def test_a_family_that_heeds_the_mask_is_batched_as_ever(tiny: Callable[[str], Path]) -> None:
    for name in ("bert_classifier", "sentence_transformer", "roberta_fillmask", "xlmr_classifier"):
        with open_runner(tiny(name), plan=Plan.parse("torch/cpu/float32/b4/t1")) as runner:
            assert not runner.alike


def test_only_items_of_one_length_share_a_batch_where_that_is_asked() -> None:
    assert batches([3, 9, 3, 8], 16, alike=True) == [[1], [3], [0, 2]]
