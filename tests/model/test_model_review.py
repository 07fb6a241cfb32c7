"""What a folder may hold that once ended in a traceback, or was passed over in silence."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tiny as builders
from likewise.errors import FolderError, SettingsError, WeightsError
from likewise.model.read import read
from likewise.model.tokenizer import open_tokenizer
from likewise.run.opening import open_runner
from likewise.settings import Overrides
from likewise.types import Plan
from tiny_pictures import changed

PLAN = Plan.parse("torch/cpu/float32/b4/t1")
Build = Callable[..., Path]


@pytest.mark.parametrize(
    "changes",
    [
        {"return_dict": False},
        {"chunk_size_feed_forward": 7},
        {"output_hidden_states": True, "output_attentions": True},
        {"torchscript": True},
    ],
    ids=lambda c: next(iter(c)),
)
@pytest.mark.parametrize("build", [builders.bert_classifier, builders.sentence_transformer])
def test_what_only_shapes_a_result_changes_no_answer(
    build: Build, changes: dict[str, Any], tmp_path: Path
) -> None:
    runs = []
    for name, more in (("plain", {}), ("changed", changes)):
        folder = changed(build(tmp_path / name), "config.json", **more)
        with open_runner(folder, plan=PLAN) as runner:
            runs.append(runner.run(["one text", "and another one"]))
    assert all((a == runs[1].arrays[n]).all() for n, a in runs[0].arrays.items())


def test_a_module_without_a_path_is_refused(tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model")
    rows = json.loads((folder / "modules.json").read_text())
    del rows[1]["path"]
    (folder / "modules.json").write_text(json.dumps(rows))
    with pytest.raises(FolderError, match="without type or path"):
        read(folder)


def test_a_label_that_no_one_can_print_is_refused(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    names = {"0": "\ud800", "1": "b", "2": "c"}
    changed(folder, "config.json", id2label=names, label2id={v: int(k) for k, v in names.items()})
    with pytest.raises(FolderError, match="no name"):
        read(folder)


def test_a_padding_id_of_null_is_refused_where_positions_begin_behind_it(tmp_path: Path) -> None:
    folder = changed(
        builders.roberta_classifier(tmp_path / "model"), "config.json", pad_token_id=None
    )
    with pytest.raises(FolderError, match="no pad_token_id"):
        read(folder)


def test_a_vocabulary_without_the_unknown_token_is_refused(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    file = folder / "tokenizer.json"
    content = json.loads(file.read_text())
    vocabulary = content["model"]["vocab"]
    vocabulary["nothing"] = vocabulary.pop("[UNK]")
    added = [t for t in content["added_tokens"] if t["content"] != "[UNK]"]
    file.write_text(json.dumps({**content, "added_tokens": added}))
    (folder / "tokenizer_config.json").write_text("{}")
    with pytest.raises(FolderError, match=r"no token for what it does not know|more ids than"):
        open_tokenizer(read(folder))


def test_a_pickle_with_a_flipped_bit_is_refused(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model", format="bin")
    file = folder / "pytorch_model.bin"
    with zipfile.ZipFile(file) as archive:
        largest = max(archive.infolist(), key=lambda entry: entry.file_size)
    content = bytearray(file.read_bytes())
    content[largest.header_offset + 512 + largest.file_size // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(WeightsError, match="damaged") as caught:
        read(folder)
    assert "checksum" in caught.value.found


@pytest.mark.parametrize(
    ("build", "stated"),
    [
        (builders.bert_classifier, {"labels": ()}),
        (builders.sentence_transformer, {"labels": ("a", "b")}),
        (builders.bert_fillmask, {"problem_type": "regression"}),
    ],
)
def test_a_statement_that_nothing_follows_from_is_an_error(
    build: Build, stated: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(SettingsError):
        read(build(tmp_path / "model"), Overrides(**stated))
