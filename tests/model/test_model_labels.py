"""Labels, problem types, and what is odd about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tiny as builders
from likewise.errors import FolderError
from likewise.model.labels import PROBLEM_TYPES
from likewise.model.read import read
from likewise.tasks._pick import pick


def configured(folder: Path, **changes: Any) -> Path:
    file = folder / "config.json"
    content = {**json.loads(file.read_text()), **changes}
    builders.write_json(file, {k: v for k, v in content.items() if v is not ...})
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return builders.bert_classifier(tmp_path / "model")


@pytest.mark.parametrize(
    "stated",
    [
        {"0": "a", "1": "b", "2": "c"},
        {"2": "c", "0": "a", "1": "b"},
        ["a", "b", "c"],
    ],
)
def test_labels_are_ordered_by_index(folder: Path, stated: Any) -> None:
    assert read(configured(folder, id2label=stated, label2id=...)).labels == ("a", "b", "c")


def test_labels_of_ten_and_more_are_not_sorted_as_words(tmp_path: Path) -> None:
    names = {str(index): f"class {index}" for index in range(12)}
    model = read(builders.bert_classifier(tmp_path / "model", id2label=names))
    assert model.labels == tuple(f"class {index}" for index in range(12))


@pytest.mark.parametrize(
    "stated", [{"0": "a", "1": "b", "3": "c"}, {"a": 0}, {"x": "y"}, "abc", {"1": "a"}]
)
def test_labels_without_an_index_of_their_own_are_refused(folder: Path, stated: Any) -> None:
    with pytest.raises(FolderError, match="id2label"):
        read(configured(folder, id2label=stated))


def test_B079_labels_that_the_weights_do_not_have_are_refused(folder: Path) -> None:
    configured(folder, id2label={"0": "a", "1": "b"})
    with pytest.raises(FolderError, match=r"names 2 label\(s\) and the weights have 3"):
        read(folder)


def test_unnamed_labels_are_said(folder: Path) -> None:
    model = read(configured(folder, id2label=..., label2id=...))
    assert model.labels == ("LABEL_0", "LABEL_1", "LABEL_2")
    assert any("labels have no names" in warning for warning in model.warnings)


@pytest.mark.parametrize(
    "label2id",
    [
        {"Bearish": 2, "Neutral": 1, "Bullish": 0},
        {"Bearish": "1", "Neutral": "0", "Bullish": "2"},
        {"Bearish": 0, "Neutral": 1, "Up": 2},
    ],
)
def test_B045_a_conflict_of_the_two_tables_is_said(folder: Path, label2id: Any) -> None:
    model = read(configured(folder, label2id=label2id))
    assert model.labels == builders.LABELS
    assert any("id2label and label2id conflict" in warning for warning in model.warnings)


def test_B045_two_labels_of_one_name_are_said(folder: Path) -> None:
    model = read(configured(folder, id2label={"0": "A", "1": "B", "2": "A"}, label2id=...))
    assert model.labels == ("A", "B", "A")
    assert any("same name: A" in warning for warning in model.warnings)


def test_B046_ids_written_as_text_are_ids(folder: Path) -> None:
    label2id = {"Bearish": "0", "Neutral": "1", "Bullish": "2"}
    model = read(configured(folder, label2id=label2id))
    assert not any("conflict" in warning for warning in model.warnings)


@pytest.mark.parametrize("stated", PROBLEM_TYPES)
def test_B043_a_problem_type_is_taken_as_it_is(folder: Path, stated: str) -> None:
    model = read(configured(folder, problem_type=stated))
    assert model.problem_type == stated
    assert model.warnings == ()


@pytest.mark.parametrize("stated", ["multi_label", "softmax", 1, ["regression"]])
def test_B043_an_unknown_problem_type_is_refused(folder: Path, stated: Any) -> None:
    with pytest.raises(FolderError, match="problem_type that there is not"):
        read(configured(folder, problem_type=stated))


@pytest.mark.parametrize(("labels", "assumed"), [(1, "sigmoid"), (3, "softmax")])
def test_B041_an_unsaid_problem_type_is_assumed_aloud(
    labels: int, assumed: str, tmp_path: Path
) -> None:
    model = read(builders.bert_classifier(tmp_path / "model", num_labels=labels))
    assert model.problem_type == ""
    said = pick(model).assumptions
    assert any(assumed in line for line in said)


def test_a_model_without_a_classifier_has_no_labels(tmp_path: Path) -> None:
    folder = builders.bert_fillmask(tmp_path / "model")
    model = read(configured(folder, id2label={"0": "a", "1": "b"}, problem_type="nonsense"))
    assert (model.labels, model.problem_type) == ((), "")


def test_a_token_classifier_is_no_text_classifier(folder: Path) -> None:
    configured(folder, architectures=["BertForTokenClassification"])
    assert read(folder).trained_heads == ()
