"""sentence-transformers folders are followed to the letter, or refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tiny as builders
from likewise.errors import FolderError, SettingsError, WeightsError
from likewise.model.modules import MODES
from likewise.model.read import read
from likewise.settings import Overrides
from likewise.tasks._pick import pick
from likewise.types import Dense, Pooling

Tiny = Callable[[str], Path]


def rows(folder: Path) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = json.loads((folder / "modules.json").read_text())
    return content


def test_the_modules_of_a_folder_are_read_in_order(tmp_path: Path) -> None:
    folder = builders.sentence_transformer(
        tmp_path / "model",
        dense=((12, "Tanh"), (8, "Identity")),
        dense_folders=("2_Dense_12", "odd"),
        max_seq_length=16,
    )
    model = read(folder)
    assert model.sentence_transformer
    assert model.pooling == Pooling(("mean",), assumed=False)
    assert model.dense == (
        Dense("2_Dense_12", 16, 12, True, "Tanh"),
        Dense("odd", 12, 8, True, "Identity"),
    )
    assert (model.normalise, model.max_tokens) == (True, 16)
    used = {file.path for file in model.weight_files if file.used}
    assert used == {"model.safetensors", "2_Dense_12/model.safetensors", "odd/model.safetensors"}
    assert model.warnings == ()


@pytest.mark.parametrize("mode", MODES)
def test_B051_each_pooling_is_read_as_itself(mode: str, tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model", modes=(mode,))
    assert read(folder).pooling == Pooling((mode,), assumed=False)


def test_B051_joined_poolings_have_the_order_of_sentence_transformers(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    folder = builders.sentence_transformer(tmp_path / "model", modes=("lasttoken", "mean", "cls"))
    reference = SentenceTransformer(str(folder), device="cpu")[1].pooling_mode
    model = read(folder)
    assert model.pooling is not None
    assert model.pooling.modes == reference == ("cls", "mean", "lasttoken")


@pytest.mark.parametrize(
    ("stated", "modes"),
    [
        ("cls", ("cls",)),
        (["mean_sqrt_len_tokens", "cls"], ("mean_sqrt_len", "cls")),
        (["mean", "max"], ("mean", "max")),
    ],
)
def test_the_newer_spelling_of_pooling_is_read(
    stated: Any, modes: tuple[str, ...], tmp_path: Path
) -> None:
    folder = builders.sentence_transformer(tmp_path / "model")
    builders.write_json(
        folder / "1_Pooling" / "config.json", {"embedding_dimension": 16, "pooling_mode": stated}
    )
    assert read(folder).pooling == Pooling(modes, assumed=False)


@pytest.mark.parametrize("config", [{"pooling_mode": "median"}, {"pooling_mode_median": True}])
def test_B051_an_unknown_pooling_is_refused_by_name(config: Any, tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model")
    builders.write_json(folder / "1_Pooling" / "config.json", config)
    with pytest.raises(FolderError, match="pooling") as error:
        read(folder)
    assert "median" in error.value.found


def test_B051_without_modules_mean_is_assumed_and_said(tiny: Tiny) -> None:
    model = read(tiny("bert_encoder"))
    assert model.pooling == Pooling(("mean",), assumed=True)
    assert model.normalise is None
    assert any("no modules.json" in said for said in pick(model).assumptions)
    stated = read(tiny("bert_encoder"), Overrides(pooling=("cls",), normalise=True))
    assert stated.pooling == Pooling(("cls",), assumed=False)
    assert pick(stated).assumptions == ()


@pytest.mark.parametrize(
    "kind",
    [
        "sentence_transformers.models.LSTM",
        "sentence_transformers.models.LayerNorm",
        "sentence_transformers.base.modules.router.Router",
        "custom.models.Dense",
        "Dense",
    ],
)
def test_B049_a_module_of_another_kind_is_refused_by_name(kind: str, tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model")
    modules = rows(folder)
    modules.insert(2, {"idx": 2, "name": "2", "path": "2_X", "type": kind})
    builders.write_json(folder / "modules.json", modules)
    with pytest.raises(FolderError) as error:
        read(folder)
    assert kind in error.value.found


@pytest.mark.parametrize("order", [[0], [1, 0], [0, 2, 1], [0, 1, 2, 2], [2]])
def test_B049_modules_in_another_order_are_refused(order: list[int], tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model")
    modules = rows(folder)
    builders.write_json(folder / "modules.json", [modules[index] for index in order])
    with pytest.raises(FolderError, match="order"):
        read(folder)


@pytest.mark.parametrize(
    "package", ["sentence_transformers.base.modules.transformer", "sentence_transformers.models"]
)
def test_newer_dotted_paths_are_known(package: str, tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model", dense=((8, "Tanh"),))
    modules = [
        {**row, "type": f"{package}.{row['type'].rpartition('.')[2]}"} for row in rows(folder)
    ]
    builders.write_json(folder / "modules.json", modules)
    assert len(read(folder).dense) == 1


def test_what_sentence_transformers_itself_saves_is_read(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    folder = builders.sentence_transformer(
        tmp_path / "model",
        modes=("cls", "max"),
        dense=((8, "Tanh"),),
        prompts={"query": "ask: ", "passage": ""},
        default_prompt_name="query",
    )
    SentenceTransformer(str(folder), device="cpu").save(str(tmp_path / "saved"))
    before, after = read(folder), read(tmp_path / "saved")
    for name in ("pooling", "dense", "normalise", "default_prompt", "max_tokens", "parameters"):
        assert getattr(after, name) == getattr(before, name), name
    # sentence-transformers adds the names that it fills in itself
    assert {"query": "ask: ", "passage": ""}.items() <= dict(after.prompts).items()


def test_a_transformer_in_a_sub_folder_is_followed(tmp_path: Path) -> None:
    folder = builders.sentence_transformer(
        tmp_path / "model", transformer="0_Transformer", max_seq_length=20
    )
    model = read(folder)
    assert model.tokenizer == "0_Transformer/tokenizer.json"
    assert [f.path for f in model.weight_files if f.used] == ["0_Transformer/model.safetensors"]
    assert model.max_tokens == 20


@pytest.mark.parametrize("path", ["../outside", "/etc"])
def test_modules_do_not_leave_the_folder(path: str, tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model")
    modules = rows(folder)
    modules[1]["path"] = path
    builders.write_json(folder / "modules.json", modules)
    with pytest.raises(FolderError, match="leaves its folder"):
        read(folder)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"use_residual": True}, "use_residual"),
        ({"activation_function": "custom.Swish"}, "custom.Swish"),
        ({"in_features": None}, "in_features"),
        ({"module_input_name": "token_embeddings"}, "token_embeddings"),
    ],
)
def test_B049_a_dense_module_with_more_to_it_is_refused(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    folder = builders.sentence_transformer(tmp_path / "model", dense=((8, "Tanh"),))
    file = folder / "2_Dense" / "config.json"
    builders.write_json(file, {**json.loads(file.read_text()), **changes})
    with pytest.raises(FolderError, match="Dense") as error:
        read(folder)
    assert said in error.value.found


def test_B050_a_dense_module_without_weights_is_refused(tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model", dense=((8, "Tanh"),))
    (folder / "2_Dense" / "model.safetensors").unlink()
    with pytest.raises(WeightsError, match="has no weights"):
        read(folder)


@pytest.mark.parametrize("changes", [{"out_features": 9}, {"bias": False}])
def test_B050_dense_weights_of_another_shape_are_refused(changes: Any, tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model", dense=((8, "Tanh"),))
    file = folder / "2_Dense" / "config.json"
    builders.write_json(file, {**json.loads(file.read_text()), **changes})
    with pytest.raises(WeightsError, match="does not fit"):
        read(folder)


def test_B050_a_dense_module_that_does_not_fit_the_pooling_is_refused(tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model", dense=((8, "Tanh"),))
    file = folder / "1_Pooling" / "config.json"
    config = {**json.loads(file.read_text()), "pooling_mode_cls_token": True}
    builders.write_json(file, config)
    with pytest.raises(FolderError, match="does not fit the module before it"):
        read(folder)


def test_B054_prompts_are_read_and_one_can_be_chosen(tmp_path: Path) -> None:
    folder = builders.sentence_transformer(
        tmp_path / "model",
        prompts={"query": "query: ", "passage": "passage: "},
        default_prompt_name="query",
        include_prompt=False,
    )
    model = read(folder)
    assert model.default_prompt == "query: "
    assert model.pooling == Pooling(("mean",), assumed=False, include_prompt=False)
    assert read(folder, Overrides(prompt="passage")).default_prompt == "passage: "
    assert read(folder, Overrides(prompt="")).default_prompt == ""
    with pytest.raises(SettingsError, match="no prompt 'other'"):
        read(folder, Overrides(prompt="other"))


def test_B054_a_default_prompt_that_is_not_there_is_refused(tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model", default_prompt_name="query")
    with pytest.raises(FolderError, match="default prompt"):
        read(folder)
