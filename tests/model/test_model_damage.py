"""Weight files that are not what they seem are refused, once, before anything is loaded."""

from __future__ import annotations

import io
import json
import os
import pickle
import shutil
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiny as builders
from likewise.errors import FolderError, WeightsError
from likewise.model.header import read_header
from likewise.model.pickled import read_checkpoint
from likewise.model.read import read

Tiny = Callable[[str], Path]


def parts(file: Path) -> tuple[dict[str, Any], bytes]:
    content = file.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def joined(header: Any, data: bytes) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return builders.bert_classifier(tmp_path / "model")


@pytest.mark.parametrize(
    "cut",
    [lambda c: c[:-100], lambda c: c[:0], lambda c: c + bytes(16), lambda c: c[:5]],
    ids=["cut short", "empty", "longer", "5 bytes"],
)
def test_B030_a_file_of_the_wrong_size_says_what_it_should_be(
    folder: Path, cut: Callable[[bytes], bytes]
) -> None:
    file = folder / "model.safetensors"
    whole = file.read_bytes()
    file.write_bytes(cut(whole))
    with pytest.raises(WeightsError, match=r"incomplete|corrupt") as error:
        read(folder)
    assert f"has {len(cut(whole)):,}" in error.value.found
    assert "expected" in error.value.found


def test_B030_a_header_longer_than_the_file_is_refused(folder: Path) -> None:
    file = folder / "model.safetensors"
    content = bytearray(file.read_bytes())
    content[:8] = struct.pack("<Q", 1 << 62)
    file.write_bytes(content)
    with pytest.raises(WeightsError, match="incomplete"):
        read(folder)


def overlap(header: dict[str, Any]) -> None:
    header["classifier.bias"]["data_offsets"] = [0, 12]


def gap(header: dict[str, Any]) -> None:
    for entry in header.values():
        entry["data_offsets"] = [n + 4 for n in entry["data_offsets"]]


def grow(header: dict[str, Any]) -> None:
    header["classifier.bias"]["shape"] = [4]


def negative(header: dict[str, Any]) -> None:
    header["classifier.bias"]["shape"] = [-3]


def unknown(header: dict[str, Any]) -> None:
    header["classifier.bias"]["dtype"] = "F12"


def nameless(header: dict[str, Any]) -> None:
    header["classifier.bias"] = [1, 2]


@pytest.mark.parametrize("harm", [overlap, gap, grow, negative, unknown, nameless])
def test_B030_a_header_that_contradicts_itself_is_refused(
    folder: Path, harm: Callable[[dict[str, Any]], None]
) -> None:
    file = folder / "model.safetensors"
    header, data = parts(file)
    header.pop("__metadata__", None)
    harm(header)
    file.write_bytes(joined(header, data))
    with pytest.raises(WeightsError, match="corrupt"):
        read(folder)


@pytest.mark.parametrize(
    "header",
    [b"{", b"[]", b"{}", b'{"a": 1, "a": 2}', b'{"__metadata__": {}}', b"[" * 100_000, b"\xff"],
)
def test_B030_a_header_that_is_no_list_of_tensors_is_refused(header: bytes, tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(joined(header, b""))
    with pytest.raises(WeightsError, match="corrupt"):
        read_header(file)


@given(place=st.integers(0, 5000), value=st.integers(0, 255))
@settings(max_examples=60, deadline=None)
def test_any_changed_byte_of_a_header_is_read_or_refused_in_words(place: int, value: int) -> None:
    import tempfile

    import numpy as np
    from safetensors.numpy import save

    content = bytearray(save({f"layer.{i}.weight": np.ones((2, 3), "f4") for i in range(40)}))
    content[place % len(content)] = value
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "model.safetensors"
        file.write_bytes(content)
        try:
            found = len(read_header(file))
        except WeightsError:
            found = 40
        assert found == 40


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_git_lfs_pointer_is_recognised(folder: Path, name: str) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 438000000\n"
    (folder / name).write_text(pointer)
    with pytest.raises(WeightsError, match="git-lfs pointer") as error:
        read(folder)
    assert "438000000" in error.value.found
    assert "git lfs pull" in error.value.fix


def test_a_folder_without_weights_says_what_there_is(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "model.onnx")
    with pytest.raises(WeightsError, match="no weights") as error:
        read(folder)
    assert "model.onnx (onnx)" in error.value.found


# ---- shards ----


def shard(folder: Path) -> dict[str, str]:
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    names = sorted(tensors)
    places = {}
    for index, part in enumerate((names[::2], names[1::2])):
        file = f"model-0000{index + 1}-of-00002.safetensors"
        save_file({name: tensors[name] for name in part}, folder / file)
        places |= dict.fromkeys(part, file)
    (folder / "model.safetensors").unlink()
    builders.write_json(folder / "model.safetensors.index.json", {"weight_map": places})
    return places


def test_shards_are_read_as_one(folder: Path) -> None:
    whole = read(folder)
    shard(folder)
    model = read(folder)
    assert (model.parameters, model.trained_heads) == (whole.parameters, whole.trained_heads)
    assert sum(file.used for file in model.weight_files) == 2


def test_a_missing_shard_is_named(folder: Path) -> None:
    shard(folder)
    (folder / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(WeightsError, match="not there") as error:
        read(folder)
    assert "model-00002-of-00002.safetensors" in error.value.found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"extra.weight": "model-00001-of-00002.safetensors"}, "no shard holds"),
        ({"x": "../model.safetensors"}, "outside its folder"),
        (None, "no weight_map"),
    ],
)
def test_an_index_that_lies_is_refused(
    folder: Path, change: dict[str, str] | None, said: str
) -> None:
    places = shard(folder)
    content = {} if change is None else {"weight_map": {**places, **change}}
    builders.write_json(folder / "model.safetensors.index.json", content)
    with pytest.raises(WeightsError, match=said):
        read(folder)


# ---- pickles ----


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
