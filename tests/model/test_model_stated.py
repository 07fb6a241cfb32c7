"""What is stated in place of the folder, what identifies a model, and what port leaves."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tiny as builders
from likewise.errors import FolderError, LikewiseError
from likewise.model.read import configuration, read
from likewise.settings import Overrides

Tiny = Callable[[str], Path]


def test_what_is_stated_replaces_what_the_folder_says_and_is_said(tiny: Tiny) -> None:
    stated = Overrides(
        labels=("a", "b", "c"), problem_type="multi_label_classification", pooling=("cls",)
    )
    model = read(tiny("bert_classifier"), stated)
    assert model.labels == ("a", "b", "c")
    assert model.problem_type == "multi_label_classification"
    assert model.pooling is not None
    assert (model.pooling.modes, model.pooling.assumed) == (("cls",), False)
    assert any("stated by the user: labels, pooling, problem_type" in w for w in model.warnings)
    assert not any("problem_type is not said" in w for w in model.warnings)


def test_a_likewise_json_beside_the_model_is_read_and_flags_win(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    beside = {"labels": ["x", "y", "z"], "problem_type": "multi_label_classification"}
    builders.write_json(folder / "likewise.json", beside)
    model = read(folder)
    assert (model.labels, model.problem_type) == (("x", "y", "z"), "multi_label_classification")
    assert any("likewise.json" in warning for warning in model.warnings)
    assert read(folder, Overrides(labels=("1", "2", "3"))).labels == ("1", "2", "3")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"label": ["a"]}, "a key"),
        ({"labels": 3}, "a value"),
        ({"problem_type": "x"}, "problem_type"),
    ],
)
def test_a_likewise_json_that_cannot_be_is_refused(
    content: dict[str, Any], said: str, tmp_path: Path
) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    builders.write_json(folder / "likewise.json", content)
    with pytest.raises(LikewiseError, match=said):
        read(folder)


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        (Overrides(labels=("a",)), "1 label"),
        (Overrides(problem_type="softmax"), "problem_type"),
        (Overrides(pooling=("median",)), "pooling"),
        (Overrides(prompt="query"), "no prompt 'query'"),
    ],
)
def test_what_cannot_be_stated_is_refused(tiny: Tiny, stated: Overrides, said: str) -> None:
    with pytest.raises(LikewiseError, match=said):
        read(tiny("bert_classifier"), stated)


# ---- identity ----


@pytest.mark.parametrize(
    "file",
    ["config.json", "tokenizer.json", "vocab.txt", "model.safetensors", "1_Pooling/config.json"],
)
def test_the_fingerprint_follows_every_file_that_decides(file: str, tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model")
    before = read(folder).fingerprint
    content = bytearray((folder / file).read_bytes())
    if file == "model.safetensors":
        content[-1] ^= 1
    else:
        content += b" \n"
    (folder / file).write_bytes(content)
    assert read(folder).fingerprint != before


def test_the_fingerprint_does_not_follow_the_place_or_a_readme(tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model")
    shutil.copytree(folder, tmp_path / "copy")
    (tmp_path / "copy" / "README.md").write_text("about")
    assert read(tmp_path / "copy").fingerprint == read(folder).fingerprint


def test_the_configuration_lists_files_in_sub_folders(tmp_path: Path) -> None:
    folder = builders.sentence_transformer(
        tmp_path / "model", transformer="0_Transformer", dense=((8, "Tanh"),)
    )
    names = configuration(folder)
    assert {"modules.json", "0_Transformer/config.json", "0_Transformer/vocab.txt"} <= set(names)
    assert {"1_Pooling/config.json", "2_Dense/config.json"} <= set(names)
    assert not any(name.endswith(".safetensors") for name in names)


# ---- a ported folder ----


def ported(folder: Path, source: Path, head: str) -> Path:
    """Make what port leaves: configuration, tokenizer, a graph and its manifest, no weights."""
    body = folder / "model"
    shutil.copytree(source, body)
    (body / "model.safetensors").unlink()
    (body / "model.onnx").write_bytes(b"graph")
    (body / "model.onnx.data").write_bytes(b"weights")
    manifest = {"fingerprint": "f" * 64, "head": head, "loading": {"dtypes": {"float32": 7}}}
    builders.write_json(body / "export.json", manifest)
    return folder


def test_a_ported_folder_is_read_without_weights(tiny: Tiny, tmp_path: Path) -> None:
    folder = ported(tmp_path / "out", tiny("bert_classifier"), "classes")
    for source in (folder, folder / "model"):
        model = read(source)
        assert model.folder == (folder / "model").resolve()
        assert (model.fingerprint, model.parameters) == ("f" * 64, 7)
        assert model.trained_heads == ("classes",)
        assert model.labels == builders.LABELS
        used = [f.path for f in model.weight_files if f.used]
        assert used == ["model.onnx", "model.onnx.data"]
        assert not any("not used" in warning for warning in model.warnings)


def test_a_ported_picture_folder_is_read_without_weights(tiny: Tiny, tmp_path: Path) -> None:
    folder = ported(tmp_path / "out", tiny("timm_classifier"), "picture")
    model = read(folder)
    assert (model.trained_heads, model.classes_head) == (("picture",), True)
    assert read(ported(tmp_path / "b", tiny("timm_tower"), "picture")).classes_head is False


def test_a_ported_folder_without_its_graph_is_refused(tiny: Tiny, tmp_path: Path) -> None:
    folder = ported(tmp_path / "out", tiny("bert_classifier"), "classes")
    (folder / "model" / "model.onnx").unlink()
    with pytest.raises(FolderError, match=r"no model\.onnx"):
        read(folder)
