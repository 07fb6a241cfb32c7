"""Weight files that are not what they seem are refused, once, before anything is loaded."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiny as builders
from likewise.errors import WeightsError
from likewise.model.header import read_header
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
