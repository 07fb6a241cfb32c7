"""A text's vector is the one that sentence-transformers gives from the same folder."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny as builders
from likewise.errors import LikewiseError, TaskError, WeightsError
from likewise.model.read import read
from likewise.settings import Overrides
from likewise.tasks import embed
from likewise.tasks._dense import ACTIVATIONS, open_layer
from likewise.tasks._pool import MODES
from likewise.types import Dense, Pooling

Tiny = Callable[[str], Path]

TEXTS = [
    "the price is good", "", "bitcoin is going to the moon today, " * 9, "I do not like this!",
    "今天天气很好。", "a b c d e f g h",
]  # fmt: skip
RECIPES = {
    **{mode: {"modes": (mode,), "normalise": False} for mode in MODES},
    "joined": {"modes": ("cls", "max", "lasttoken"), "normalise": True},
    "dense": {
        "modes": ("mean",), "dense": ((12, "Tanh"), (5, "Identity")), "normalise": True,
        "dense_folders": ("2_Dense_1024", "odd name"),
    },
    "gelu": {"dense": ((6, "ReLU"), (9, "GELU"), (8, "Sigmoid"), (4, "SiLU")), "normalise": False},
    "prompt": {"prompts": {"query": "the news: "}, "default_prompt_name": "query"},
    "prompt not pooled": {
        "modes": ("cls", "mean", "weightedmean"), "prompts": {"query": "the news: "},
        "default_prompt_name": "query", "include_prompt": False,
    },
}  # fmt: skip


def theirs(folder: Path) -> tuple[np.ndarray, object]:
    """Return sentence-transformers' own vectors, and its encoder."""
    with warnings.catch_warnings():  # of their own renamed options, on import and load
        warnings.simplefilter("ignore")
        from sentence_transformers import SentenceTransformer

        library = SentenceTransformer(str(folder), device="cpu")
        return library.encode(TEXTS, batch_size=3), library[0].auto_model


def ours(task: embed.Embed, encoder: object, dtype: str = "float32") -> np.ndarray:
    """Return the task's vectors over the hidden states of an encoder."""
    import torch

    module = encoder.to(getattr(torch, dtype))
    inputs = task.collate(task.encode(TEXTS))
    with torch.no_grad():
        hidden = module(**{key: torch.tensor(value) for key, value in inputs.items()})[0].numpy()
    return task.finish(inputs, {"last_hidden_state": hidden})["vector"]


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=list(RECIPES))
def test_B049_B050_B051_vectors_equal_sentence_transformers(
    tmp_path: Path, recipe: dict[str, Any]
) -> None:
    folder = builders.sentence_transformer(tmp_path / "model", **recipe)
    task = embed.open(read(folder))
    wanted, encoder = theirs(folder)
    vectors = ours(task, encoder)
    assert vectors.shape == wanted.shape == (len(TEXTS), task.facts()["width"])
    assert np.abs(vectors - wanted).max() <= 1e-5
    double = ours(task, encoder, "float64")
    assert double.dtype == np.float64
    assert np.abs(double - wanted).max() <= 1e-5
    json.dumps(task.facts())


def test_the_modes_of_pooling_give_other_vectors(tmp_path: Path) -> None:
    made = {}
    for mode in ("cls", "mean"):
        folder = builders.sentence_transformer(tmp_path / mode, modes=(mode,), normalise=False)
        made[mode], _ = theirs(folder)
    assert np.abs(made["cls"] - made["mean"]).max() > 0.5


def test_B051_a_plain_encoder_is_pooled_and_normalised_aloud(tiny: Tiny) -> None:
    task = embed.open(read(tiny("bert_encoder")))
    assert task.facts()["pooling"] == ["mean"]
    assert task.facts()["normalise"]
    assert any("pooling is not said" in said for said in task.assumptions)
    assert any("normalising is not said" in said for said in task.assumptions)


def test_what_the_user_states_is_not_assumed(tiny: Tiny) -> None:
    stated = Overrides(pooling=("cls",), normalise=False)
    task = embed.open(read(tiny("bert_encoder"), stated))
    assert task.facts()["pooling"] == ["cls"]
    assert not task.facts()["normalise"]
    assert task.assumptions == ()


def test_B052_only_what_the_folder_declares_is_applied(tmp_path: Path) -> None:
    bare = embed.open(read(builders.sentence_transformer(tmp_path / "bare", normalise=False)))
    whole = embed.open(
        read(builders.sentence_transformer(tmp_path / "whole", dense=((4, "Tanh"),)))
    )
    assert (bare.facts()["normalise"], bare.facts()["dense"]) == (False, [])
    assert whole.facts()["normalise"]
    assert whole.facts()["dense"] == [
        {"folder": "2_Dense", "shape": [16, 4], "activation": "Tanh"},
    ]
    assert bare.assumptions == whole.assumptions == ()


def test_an_unknown_pooling_mode_is_refused(tiny: Tiny) -> None:
    model = read(tiny("bert_encoder"))
    for modes in (("attention",), ("mean", "first"), ()):
        with pytest.raises(TaskError, match="pooling mode"):
            embed.open(replace(model, pooling=Pooling(modes, assumed=False)))


def test_a_prompt_counts_in_the_limit(tmp_path: Path) -> None:
    folder = builders.sentence_transformer(
        tmp_path / "model", prompts={"p": "the news: "}, default_prompt_name="p", max_seq_length=9
    )
    rows = embed.open(read(folder)).encode(["the price is good", "the moon"])
    assert [row.notes["tokens"] for row in rows] == [9, 7]
    assert [row.notes["truncated"] for row in rows] == [False, False]
    assert embed.open(read(folder)).encode(["the price is good !"])[0].notes["truncated"]


def test_a_dense_layer_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model", dense=((4, "Tanh"),))
    model = read(folder)
    with pytest.raises(TaskError, match="does not fit"):
        embed.open(replace(model, pooling=Pooling(("mean", "cls"), assumed=False)))


def test_a_dense_layer_s_odd_parts_are_refused(tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model", dense=((4, "Tanh"),))
    dense = read(folder).dense[0]
    with pytest.raises(TaskError, match="activation"):
        open_layer(folder, replace(dense, activation="Softshrink"))
    with pytest.raises(WeightsError, match=r"not those of its config\.json"):
        open_layer(folder, replace(dense, outputs=5))
    (folder / dense.folder / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(WeightsError, match="cannot be read"):
        open_layer(folder, dense)
    (folder / dense.folder / "model.safetensors").unlink()
    with pytest.raises(WeightsError, match="no weights"):
        open_layer(folder, dense)


@pytest.mark.parametrize("stored", ["float64", "float16", "bfloat16"])
def test_dense_weights_are_read_in_any_stored_precision(tmp_path: Path, stored: str) -> None:
    import torch
    from safetensors.torch import save_file

    weight = torch.tensor([[0.5, -1.25, 3.0], [2.0, 0.0, -7.5]])
    (tmp_path / "2_Dense").mkdir()
    file = tmp_path / "2_Dense" / "model.safetensors"
    save_file({"linear.weight": weight.to(getattr(torch, stored))}, file)
    layer = open_layer(tmp_path, Dense("2_Dense", 3, 2, bias=False, activation="Identity"))
    assert layer(np.eye(3, dtype=np.float32)).T.tolist() == weight.tolist()


def test_dense_weights_are_read_from_a_pickle(tmp_path: Path) -> None:
    import torch

    (tmp_path / "2_Dense").mkdir()
    tensors = {"linear.weight": torch.ones(2, 3), "linear.bias": torch.tensor([0.5, -0.5])}
    torch.save(tensors, tmp_path / "2_Dense" / "pytorch_model.bin")
    layer = open_layer(tmp_path, Dense("2_Dense", 3, 2, bias=True, activation="Identity"))
    assert layer(np.ones((1, 3), dtype=np.float64)).tolist() == [[3.5, 2.5]]


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_activations_are_torch_s_own(name: str) -> None:
    import torch

    values = np.linspace(-6, 6, 41)[None]
    options = {"dim": -1} if name.endswith("Softmax") else {}
    wanted = getattr(torch.nn, name)(**options)(torch.tensor(values)).numpy()
    assert ACTIVATIONS[name](values) == pytest.approx(wanted, abs=1e-7)


def test_a_picture_model_is_no_text_encoder(tiny: Tiny) -> None:
    with pytest.raises(LikewiseError, match="no text encoder"):
        embed.open(read(tiny("timm_classifier")))
