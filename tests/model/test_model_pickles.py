"""Pickles are read without being run, and two formats in one folder are compared."""

from __future__ import annotations

import io
import os
import pickle
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tiny as builders
from likewise.errors import FolderError, WeightsError
from likewise.model.pickled import read_checkpoint
from likewise.model.read import read


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return builders.bert_classifier(tmp_path / "model")


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.marker),)


def zipped(content: Any) -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(content, protocol=2))
        archive.writestr("archive/version", "3\n")
    return memory.getvalue()


@pytest.mark.parametrize(
    "wrap", [zipped, lambda c: pickle.dumps(c, protocol=2)], ids=["zip", "bare"]
)
def test_B038_a_pickle_that_would_run_code_is_not_opened(
    folder: Path, tmp_path: Path, wrap: Callable[[Any], bytes]
) -> None:
    marker = tmp_path / "marker"
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(wrap({"a": Trap(marker)}))
    with pytest.raises(WeightsError, match="not opened") as error:
        read(folder)
    assert "mkdir" in error.value.found
    assert not marker.exists()


def test_B038_other_pickles_beside_good_weights_are_never_opened(
    folder: Path, tmp_path: Path
) -> None:
    marker = tmp_path / "marker"
    for name in ("training_args.bin", "optimizer.pt", "pytorch_model.bin", "scheduler.pt"):
        (folder / name).write_bytes(zipped({"a": Trap(marker)}))
    model = read(folder)
    assert not marker.exists()
    assert [f.path for f in model.weight_files if f.used] == ["model.safetensors"]
    assert any("not opened" in warning for warning in model.warnings)


@pytest.mark.parametrize("old", [False, True], ids=["zip", "before torch 1.6"])
def test_a_torch_checkpoint_is_read_without_torch(folder: Path, old: bool) -> None:
    import torch
    from safetensors.torch import load_file

    tensors = load_file(folder / "model.safetensors")
    file = folder / "pytorch_model.bin"
    torch.save(tensors, file, _use_new_zipfile_serialization=not old)
    whole = read(folder)
    (folder / "model.safetensors").unlink()
    model = read(folder)
    for name in ("parameters", "trained_heads", "labels", "vocabulary", "token_types"):
        assert getattr(model, name) == getattr(whole, name)
    assert any("likewise convert" in warning for warning in model.warnings)
    placed = [tensor.placed for tensor in read_checkpoint(file).tensors.values()]
    assert all(placed) is not old


@pytest.mark.parametrize(
    "content", [b"", b"not a pickle at all", pickle.dumps([1, 2]), zipped([1]), zipped({"a": 1})]
)
def test_a_checkpoint_that_holds_no_tensors_is_refused(folder: Path, content: bytes) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(content)
    with pytest.raises(WeightsError, match=r"pytorch_model\.bin"):
        read(folder)


def test_a_cut_checkpoint_is_refused(folder: Path, tmp_path: Path) -> None:
    whole = builders.bert_classifier(tmp_path / "b", format="bin") / "pytorch_model.bin"
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(whole.read_bytes()[:-1000])
    with pytest.raises(WeightsError, match="damaged"):
        read(folder)


# ---- two formats in one folder ----


def test_two_formats_that_agree_are_said_to(tmp_path: Path) -> None:
    model = read(builders.roberta_classifier(tmp_path / "model", format="both"))
    assert [f.path for f in model.weight_files if f.used] == ["model.safetensors"]
    assert any("sampled values agree" in warning for warning in model.warnings)


def test_two_formats_that_differ_are_told_apart(tmp_path: Path) -> None:
    folder = builders.roberta_classifier(tmp_path / "model", format="both")
    other = builders.roberta_classifier(tmp_path / "other", seed=1)
    shutil.copy(other / "model.safetensors", folder / "model.safetensors")
    assert any("the two differ in" in warning for warning in read(folder).warnings)


def test_weights_in_other_formats_are_listed_and_said(folder: Path) -> None:
    for name in ("tf_model.h5", "flax_model.msgpack", "onnx/model.onnx", "ov.xml", "ov.bin"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"x")
    model = read(folder)
    formats = {file.path: file.format for file in model.weight_files}
    assert formats == {
        "model.safetensors": "safetensors",
        "tf_model.h5": "tensorflow",
        "flax_model.msgpack": "flax",
        "onnx/model.onnx": "onnx",
        "ov.xml": "openvino",
        "ov.bin": "openvino",
    }
    assert any("onnx files are not used: onnx/model.onnx" in w for w in model.warnings)
    assert all(bool(file.sha256) is file.used for file in model.weight_files)


def test_an_adapter_that_is_not_merged_is_said(folder: Path) -> None:
    shutil.copy(folder / "model.safetensors", folder / "adapter_model.safetensors")
    assert any("adapter" in warning for warning in read(folder).warnings)


def test_a_folder_that_cannot_be_read_is_refused_in_words(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").mkdir()
    with pytest.raises(FolderError):
        read(folder)
