"""Other families of encoders, loaded as they come: the same numbers as transformers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

import tiny as builders
from likewise.model.read import read
from likewise.model.weights import load
from likewise.types import Head, Network

SHAPE = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 66,
    "vocab_size": 140,
    "pad_token_id": 1,
    "num_labels": 3,
}
FAMILIES: dict[str, tuple[str, dict[str, Any], int]] = {
    "albert": ("Albert", {"embedding_size": 8}, 66),
    "camembert": ("Camembert", {}, 64),
    "deberta-v2": ("DebertaV2", {"relative_attention": True, "pos_att_type": ["p2c"]}, 66),
    "ernie": ("Ernie", {}, 66),
    "esm": ("Esm", {"position_embedding_type": "absolute", "mask_token_id": 4}, 64),
    "modernbert": ("ModernBert", {"global_attn_every_n_layers": 1}, 66),
    "mpnet": ("MPNet", {}, 64),
    "rembert": ("RemBert", {"input_embedding_size": 16, "output_embedding_size": 16}, 66),
}
KINDS: dict[Head, str] = {
    "hidden": "Model",
    "classes": "ForSequenceClassification",
    "tokens": "ForMaskedLM",
}


@pytest.mark.parametrize("head", KINDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_gives_the_numbers_of_transformers(
    family: str, head: Head, tmp_path: Path
) -> None:
    import transformers

    name, changes, limit = FAMILIES[family]
    kind = getattr(transformers, f"{name}{KINDS[head]}")
    module = kind(kind.config_class(**SHAPE, **changes)).eval()
    builders.redraw(module, 3)
    folder = tmp_path / "model"
    module.save_pretrained(str(folder))
    shutil.copy(builders.bert_encoder(tmp_path / "words") / "vocab.txt", folder)
    model = read(folder)
    assert (model.family, model.max_tokens) == (family, limit)
    assert model.trained_heads == (() if head == "hidden" else (head,))
    ids = torch.tensor([[0, 5, 6, 7, 8, 2], [0, 8, 9, 2, 1, 1]])
    feeds = {"input_ids": ids, "attention_mask": (ids != 1).long(), "rows": torch.tensor([1, 8])}
    rows = ("rows",) if head == "tokens" else ()
    wanted = Network(head, ("input_ids", "attention_mask", *rows), ("output",))
    loaded = load(model, wanted, "float32")
    with torch.inference_mode():
        (ours,) = loaded.module(*(feeds[name] for name in wanted.inputs))
        theirs = module(input_ids=ids, attention_mask=feeds["attention_mask"])[0]
    if head == "tokens":
        theirs = theirs.reshape(-1, theirs.shape[-1])[feeds["rows"]]
    assert torch.allclose(ours, theirs, atol=1e-4, rtol=0)  # eager here, sdpa there
    assert loaded.facts["checked"] + len(loaded.facts["unused"]) == loaded.facts["tensors"]


def test_the_family_is_never_guessed_from_the_folder_name(tmp_path: Path) -> None:
    folder = builders.roberta_classifier(tmp_path / "bert-base-uncased")
    config = json.loads((folder / "config.json").read_text())
    config.pop("model_type")
    builders.write_json(folder / "config.json", config)
    assert read(folder).family == "roberta"
