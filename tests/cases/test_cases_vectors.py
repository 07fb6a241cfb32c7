"""Rows of cases about sentence vectors, as a user meets them, on every engine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from asked import ENGINES, answers, vectors

import tiny as build

Tiny = Callable[[str], Path]
every_engine = pytest.mark.parametrize("engine", ENGINES)
TEXTS = ["good price", "bad", "", "   ", "\n", "the price is up " * 30, "今天天气很好。", "🫠"]


@every_engine
@pytest.mark.parametrize(
    "recipe",
    [
        {"modes": ("mean", "lasttoken"), "normalise": True},
        {"modes": ("cls",), "dense": ((12, "Tanh"), (5, "Identity")), "normalise": True,
         "dense_folders": ("2_Dense_1024", "odd name")},
        {"modes": ("mean",), "prompts": {"query": "the price: "}, "default_prompt_name": "query",
         "include_prompt": False},
    ],
    ids=["pooling", "dense", "prompt"],
)  # fmt: skip
def test_B049_B050_B051_B054_vectors_are_those_of_sentence_transformers(
    tmp_path: Path, engine: str, recipe: dict[str, object]
) -> None:
    import sentence_transformers

    folder = build.sentence_transformer(tmp_path / "model", **recipe)
    library = sentence_transformers.SentenceTransformer(str(folder), device="cpu")
    found = vectors(folder, TEXTS, engine)
    for text, vector in zip(TEXTS, found, strict=True):
        expected = library.encode([text], show_progress_bar=False)[0]
        assert np.abs(vector - expected).max() < 1e-5, text


@every_engine
def test_B008_the_limit_of_the_folder_holds_for_long_texts(tmp_path: Path, engine: str) -> None:
    import sentence_transformers

    folder = build.sentence_transformer(tmp_path / "model", max_seq_length=16)
    library = sentence_transformers.SentenceTransformer(str(folder), device="cpu")
    text = "good bad price " * 13
    (vector,) = vectors(folder, [text], engine)
    assert np.abs(vector - library.encode(text, show_progress_bar=False)).max() < 1e-5


@every_engine
def test_B053_normalising_keeps_the_shape_of_one_and_of_many(tiny: Tiny, engine: str) -> None:
    folder = tiny("sentence_transformer")
    one, many = vectors(folder, ["good"], engine), vectors(folder, ["good", "bad"], engine)
    assert one.shape == (1, 16)
    assert many.shape == (2, 16)
    assert np.linalg.norm(many, axis=1) == pytest.approx([1, 1], abs=1e-6)


@every_engine
@pytest.mark.parametrize("side", ["left", "right"])
def test_B056_the_last_token_is_the_last_real_one_whatever_the_padding_side(
    tmp_path: Path, engine: str, side: str
) -> None:
    folder = build.sentence_transformer(tmp_path / "model", modes=("lasttoken",))
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "padding_side": side}))
    texts = ["good", "the price is up " * 5, "bad price"]
    together = vectors(folder, texts, engine)
    alone = np.concatenate([vectors(folder, [text], engine) for text in texts])
    assert np.abs(together - alone).max() < 1e-5


@every_engine
def test_B057_B058_a_vector_does_not_depend_on_its_neighbours(tiny: Tiny, engine: str) -> None:
    folder = tiny("sentence_transformer")
    texts = ["good", "the price is up " * 9, "bad", "", "not good price up " * 3, "down"]
    alone = vectors(folder, texts, engine, batch=1)
    for batch in (2, 6):
        assert np.abs(vectors(folder, texts, engine, batch=batch) - alone).max() < 1e-5
    turned = vectors(folder, texts[::-1], engine, batch=6)[::-1]
    assert np.abs(turned - alone).max() < 1e-5


@every_engine
def test_B059_empty_and_unknown_texts_have_finite_vectors(tiny: Tiny, engine: str) -> None:
    found = answers(
        tiny("sentence_transformer"), ["", " ", "\n", "ↂↂ", "\x00"], engine, task="embed"
    )
    assert all(np.isfinite(answer["vector"]).all() for answer in found)


@every_engine
def test_B059_a_text_without_any_token_is_a_row_error(tmp_path: Path, engine: str) -> None:
    folder = build.sentence_transformer(tmp_path / "model")
    file = folder / "tokenizer.json"
    content = {**json.loads(file.read_text()), "post_processor": None}
    file.write_text(json.dumps(content))
    config = folder / "tokenizer_config.json"
    kept = {**json.loads(config.read_text()), "tokenizer_class": "PreTrainedTokenizerFast"}
    config.write_text(json.dumps(kept))
    empty, full = answers(folder, ["", "good"], engine, task="embed")
    assert "no tokens" in empty["error"]
    assert np.isfinite(full["vector"]).all()


@every_engine
def test_B060_a_vector_that_is_not_finite_fails_its_own_row(tmp_path: Path, engine: str) -> None:
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(build.sentence_transformer(tmp_path / "made"), tmp_path / "model")
    words = (folder / "vocab.txt").read_text().splitlines()
    weights = load_file(folder / "model.safetensors")
    weights["embeddings.word_embeddings.weight"][words.index("bad")] = float("nan")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    found = answers(folder, ["good", "bad price", "price"], engine, task="embed")
    assert ["error" in answer for answer in found] == [False, True, False]
    assert "not finite" in found[1]["error"]


@every_engine
def test_B090_numbers_beyond_half_precision_stay_what_they_are(tmp_path: Path, engine: str) -> None:
    from safetensors.torch import load_file, save_file

    folder = build.sentence_transformer(tmp_path / "model", normalise=False)
    weights = load_file(folder / "model.safetensors")
    weights["encoder.layer.1.output.LayerNorm.weight"][3] = 1e5  # half precision ends at 65,504
    weights["encoder.layer.1.output.LayerNorm.bias"] *= 1e-6  # and below 6e-8 it has nothing
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    expected = vectors(folder, ["good price", "bad"], "torch")
    found = vectors(folder, ["good price", "bad"], engine)
    assert np.abs(expected).max() > 65_504
    assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max()
