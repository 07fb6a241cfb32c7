"""Settings of a folder that are easy to overlook: followed, or refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tiny as builders
import tiny_pictures
from likewise.errors import FolderError, SettingsError, WeightsError
from likewise.model.convert import convert
from likewise.model.read import read
from likewise.model.tokenizer import open_tokenizer
from likewise.run.opening import open_runner
from likewise.settings import Overrides
from likewise.types import Plan
from tiny_pictures import changed

PLAN = Plan.parse("torch/cpu/float32/b4/t1")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("config_args", {"hidden_act": "relu"}),
        ("tokenizer_args", {"model_max_length": 8}),
        ("model_args", {"add_pooling_layer": True}),
        ("transformer_task", "fill-mask"),
        ("something_else", 1),
    ],
)
def test_B050_arguments_of_a_transformer_module_are_refused_by_name(
    key: str, value: Any, tmp_path: Path
) -> None:
    folder = builders.sentence_transformer(tmp_path / "model", max_seq_length=16)
    changed(folder, "sentence_bert_config.json", **{key: value})
    with pytest.raises(FolderError, match=key) as refused:
        read(folder)
    assert refused.value.fix


def test_B050_arguments_without_effect_are_read_over(tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model", max_seq_length=16)
    more = {"model_args": {"torch_dtype": "float16"}, "transformer_task": "feature-extraction"}
    assert read(changed(folder, "sentence_bert_config.json", **more)).max_tokens == 16


@pytest.mark.parametrize("kind", ["SparseEncoder", "CrossEncoder"])
def test_B050_another_kind_of_encoder_is_refused(kind: str, tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model")
    changed(folder, "config_sentence_transformers.json", model_type=kind)
    with pytest.raises(FolderError, match="no sentence embedder"):
        read(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"extra_special_tokens": {"a": "price"}},
        {"unk_token": "the"},
        {"truncation_side": "left"},
    ],
    ids=str,
)
def test_B014_settings_of_the_tokenizer_are_those_of_transformers(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    from transformers import AutoTokenizer

    folder = changed(builders.bert_classifier(tmp_path / "m"), "tokenizer_config.json", **changes)
    theirs = AutoTokenizer.from_pretrained(str(folder))
    ours = open_tokenizer(read(folder))
    for text in ("the price goes up", "goes zebra 🫠 quux", ""):
        assert ours.tokenizer.encode(text).ids == theirs(text)["input_ids"]
    assert ours.cut_left == (theirs.truncation_side == "left")


def test_B011_the_side_of_truncation_saved_in_the_file_is_kept(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    folder = builders.bert_classifier(tmp_path / "model")
    saved = {"direction": "Left", "max_length": 8, "strategy": "LongestFirst", "stride": 0}
    changed(folder, "tokenizer.json", truncation=saved)
    assert AutoTokenizer.from_pretrained(str(folder)).truncation_side == "left"
    assert open_tokenizer(read(folder)).cut_left


@pytest.mark.parametrize("changes", [{"truncation_side": "middle"}, {"split_special_tokens": True}])
def test_a_setting_that_is_not_followed_is_refused(changes: dict[str, Any], tmp_path: Path) -> None:
    folder = changed(builders.bert_classifier(tmp_path / "m"), "tokenizer_config.json", **changes)
    with pytest.raises(FolderError, match="not followed") as refused:
        open_tokenizer(read(folder))
    assert next(iter(changes)) in refused.value.found


def test_pictures_of_another_size_than_a_network_was_built_for_are_refused(tmp_path: Path) -> None:
    folder = tiny_pictures.timm_classifier(tmp_path / "model", architecture="test_vit3")
    with pytest.raises(FolderError, match="another size") as refused:
        open_runner(folder, plan=PLAN)
    assert "160" in refused.value.found


@pytest.mark.parametrize("stated", [{"problem_type": "regression"}, {"threshold": 0.5}], ids=str)
def test_pictures_are_scored_in_one_way(stated: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="takes pictures"):
        read(tiny_pictures.timm_classifier(tmp_path / "model"), Overrides(**stated))


def test_a_stated_casing_is_not_contradicted_by_an_assumption(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model", files="vocabulary")
    file = folder / "tokenizer_config.json"
    content = json.loads(file.read_text())
    content.pop("do_lower_case", None)
    file.write_text(json.dumps(content))
    assert any("lower-cased" in said for said in read(folder).warnings)
    assert not any("lower-cased" in s for s in read(folder, Overrides(lower_case=False)).warnings)


def test_converting_names_the_tensors_that_it_leaves_out(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model", format="bin")
    file = folder / "pytorch_model.bin"
    state = torch.load(file, weights_only=True)
    torch.save({"state_dict": state, "ema": state}, file)
    (done,) = convert(folder)
    assert any("ema" in note for note in done.notes)


@pytest.mark.parametrize("prefix", ["state_dict.", "_fsdp_wrapped_module.", "base_model.model."])
def test_B030_more_prefixes_of_wrappers_are_taken_off(prefix: str, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = builders.bert_classifier(tmp_path / "model")
    with open_runner(folder, plan=PLAN) as runner:
        expected = runner.run(["good"]).arrays["logits"]
    file = folder / "model.safetensors"
    save_file({f"{prefix}{name}": tensor for name, tensor in load_file(file).items()}, file)
    with open_runner(folder, plan=PLAN) as runner:
        assert np.array_equal(runner.run(["good"]).arrays["logits"], expected)


def test_a_torch_file_called_safetensors_is_called_by_its_own_name(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model", format="bin")
    (folder / "pytorch_model.bin").rename(folder / "model.safetensors")
    with pytest.raises(WeightsError, match="torch checkpoint under another name"):
        read(folder)


def test_damaged_pickles_are_named_with_their_sizes(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model", format="bin")
    file = folder / "pytorch_model.bin"
    whole = file.read_bytes()
    for content, said in ((b"", "0 bytes"), (whole[:-200], f"{len(whole) - 200:,} bytes")):
        file.write_bytes(content)
        with pytest.raises(WeightsError) as refused:
            read(folder)
        assert said in refused.value.found
