"""pytorch_model.bin becomes safetensors: the same names, the same bits, or a refusal in words."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import tiny as build
from likewise.errors import FolderError, WeightsError
from likewise.model.convert import convert
from likewise.model.read import read

Tiny = Callable[[str], Path]


def test_every_tensor_has_the_same_bits_and_the_folder_reads_the_same(tmp_path: Path) -> None:
    folder = build.bert_classifier(tmp_path / "model", format="bin")
    before = torch.load(folder / "pytorch_model.bin", weights_only=True)
    (done,) = convert(folder)
    after = load_file(folder / "model.safetensors")
    assert set(after) == set(before)
    assert all(torch.equal(after[name], before[name]) for name in before)
    assert done.tensors == len(before)
    model = read(folder)
    assert model.weight_files[0].path == "model.safetensors"
    assert any("names, shapes and sampled values agree" in note for note in model.warnings)
    assert (folder / "pytorch_model.bin").is_file()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int64])
def test_dtypes_nans_and_views_survive(tmp_path: Path, dtype: torch.dtype) -> None:
    whole = torch.arange(24).reshape(4, 6).to(dtype)
    state = {
        "whole": whole, "turned": whole.T, "row": whole[1], "scalar": torch.tensor(3).to(dtype),
        "empty": torch.zeros(0, 3, dtype=dtype), "twin": whole,
    }  # fmt: skip
    if dtype.is_floating_point:
        state["odd"] = torch.tensor([float("nan"), float("inf"), -0.0]).to(dtype)
    (tmp_path / "config.json").write_text("{}")
    torch.save(state, tmp_path / "pytorch_model.bin")
    convert(tmp_path)
    after = load_file(tmp_path / "model.safetensors")
    assert set(after) == set(state)
    for name, tensor in state.items():
        bits = [t.contiguous().reshape(-1).view(torch.uint8) for t in (tensor, after[name])]
        assert torch.equal(*bits), name


def test_shards_keep_their_cut_and_get_an_index(tmp_path: Path) -> None:
    folder = build.bert_classifier(tmp_path / "model", format="bin")
    whole = torch.load(folder / "pytorch_model.bin", weights_only=True)
    names = sorted(whole)
    places = {}
    for number, part in enumerate((names[::2], names[1::2]), 1):
        file = f"pytorch_model-{number:05d}-of-00002.bin"
        torch.save({name: whole[name] for name in part}, folder / file)
        places |= dict.fromkeys(part, file)
    index = {"metadata": {"total_size": 1}, "weight_map": places}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    (folder / "pytorch_model.bin").unlink()
    before = read(folder)
    assert len(convert(folder)) == 2
    after = read(folder)
    assert after.parameters == before.parameters
    assert [f.path for f in after.weight_files if f.used] == [
        "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
    ]  # fmt: skip


def test_a_nested_state_dict_is_opened_and_said(tmp_path: Path) -> None:
    folder = build.bert_classifier(tmp_path / "model", format="bin")
    whole = torch.load(folder / "pytorch_model.bin", weights_only=True)
    torch.save({"state_dict": whole, "epoch": 3}, folder / "pytorch_model.bin")
    (done,) = convert(folder)
    assert "state_dict" in done.notes[0]
    assert set(load_file(folder / "model.safetensors")) == set(whole)


def test_the_modules_of_a_sentence_transformers_folder_are_converted_too(tmp_path: Path) -> None:
    folder = build.sentence_transformer(tmp_path / "model", dense=((8, "Tanh"),), format="bin")
    dense = folder / "2_Dense"
    torch.save(load_file(dense / "model.safetensors"), dense / "pytorch_model.bin")
    (dense / "model.safetensors").unlink()
    assert {done.target for done in convert(folder)} == {
        "model.safetensors", "2_Dense/model.safetensors",
    }  # fmt: skip


class _Harm:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {self.marker}",)


def test_B038_a_pickle_that_would_run_code_is_not_converted(tmp_path: Path) -> None:
    folder = build.bert_classifier(tmp_path / "model", format="bin")
    marker = tmp_path / "ran"
    with (folder / "pytorch_model.bin").open("wb") as file:
        pickle.dump(_Harm(marker), file)
    with pytest.raises(WeightsError):
        convert(folder)
    assert not marker.exists()
    assert not (folder / "model.safetensors").exists()


def test_safetensors_that_are_there_are_never_overwritten(tmp_path: Path) -> None:
    folder = build.bert_classifier(tmp_path / "model", format="both")
    before = (folder / "model.safetensors").read_bytes()
    with pytest.raises(FolderError, match="not overwritten"):
        convert(folder)
    assert (folder / "model.safetensors").read_bytes() == before


def test_a_cut_pickle_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = build.bert_classifier(tmp_path / "model", format="bin")
    file = folder / "pytorch_model.bin"
    file.write_bytes(file.read_bytes()[:-2000])
    there = sorted(p.name for p in folder.iterdir())
    with pytest.raises(WeightsError):
        convert(folder)
    assert sorted(p.name for p in folder.iterdir()) == there


def test_a_folder_without_a_pickle_is_told_what_it_holds(tiny: Tiny, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny("bert_classifier"), tmp_path / "model")
    with pytest.raises(FolderError, match=r"no pytorch_model\.bin") as caught:
        convert(folder)
    assert "config.json" in caught.value.found


def test_an_index_of_safetensors_counts_as_safetensors(tmp_path: Path) -> None:
    folder = build.bert_classifier(tmp_path / "model", format="bin")
    (folder / "model.safetensors.index.json").write_text("{}")
    with pytest.raises(FolderError, match="not overwritten"):
        convert(folder)
    assert (folder / "model.safetensors.index.json").read_text() == "{}"


def test_a_hostile_second_shard_leaves_nothing_of_the_first(tmp_path: Path) -> None:
    torch.save({"a": torch.zeros(3)}, tmp_path / "pytorch_model-1.bin")
    with (tmp_path / "pytorch_model-2.bin").open("wb") as file:
        pickle.dump(_Harm(tmp_path / "ran"), file)
    places = {"a": "pytorch_model-1.bin", "b": "pytorch_model-2.bin"}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": places}))
    with pytest.raises(WeightsError):
        convert(tmp_path)
    assert not list(tmp_path.glob("*.safetensors*"))


def test_two_shards_that_would_become_one_are_refused(tmp_path: Path) -> None:
    places = {"a": "pytorch_model-1.bin", "b": "model-1.bin"}
    for name, file in places.items():
        torch.save({name: torch.zeros(3)}, tmp_path / file)
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": places}))
    with pytest.raises(WeightsError, match="become one"):
        convert(tmp_path)
