"""Folders whose files contradict each other: what counts is said, or nothing is computed."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

import tiny as builders
import tiny_pictures
from likewise.errors import FolderError, LikewiseError, SettingsError, TaskError, WeightsError
from likewise.model.read import read
from likewise.model.tokenizer import open_tokenizer
from likewise.run.opening import open_runner
from likewise.settings import Overrides
from likewise.tasks._pick import pick
from likewise.types import Plan
from tiny_pictures import changed

PLAN = Plan.parse("torch/cpu/float32/b4/t1")
CASED = "Hello World Paris"


def answers(folder: Path, items: list[Any], **stated: Any) -> list[Any]:
    with open_runner(folder, plan=PLAN, overrides=Overrides(**stated)) as runner:
        return list(runner.run(items).answers)


def test_B014_a_class_that_cannot_build_the_vocabulary_is_said_and_changes_no_text(
    tmp_path: Path,
) -> None:
    folder = builders.roberta_fillmask(tmp_path / "model")
    plain = open_tokenizer(read(folder)).tokenizer.encode(CASED).ids
    changed(folder, "tokenizer_config.json", tokenizer_class="BertTokenizer")
    opened = open_tokenizer(read(folder))
    assert opened.tokenizer.encode(CASED).ids == plain
    assert any("BertTokenizer builds WordPiece" in said for said in opened.assumptions)


def test_B014_a_casing_that_two_files_contradict_is_said(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    changed(folder, "tokenizer_config.json", do_lower_case=False)
    assert any("contradict each other on casing" in said for said in read(folder).warnings)


@pytest.mark.parametrize("builder", [builders.roberta_classifier, builders.xlmr_classifier])
@pytest.mark.parametrize("lower", [True, False])
def test_a_casing_that_a_tokenizer_has_no_rule_for_is_refused(
    builder: Callable[..., Path], lower: bool, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match="casing"):
        open_tokenizer(read(builder(tmp_path / "model"), Overrides(lower_case=lower)))


def test_a_list_of_words_that_lost_its_first_line_is_refused(tmp_path: Path) -> None:
    folder = builders.bert_fillmask(tmp_path / "model", files="vocabulary")
    words = (folder / "vocab.txt").read_text().split("\n")
    assert words[0] == "[PAD]"
    (folder / "vocab.txt").write_text("\n".join(words[1:]))
    changed(folder, "config.json", pad_token_id=0)
    with pytest.raises(FolderError, match="its lines are not those of the model"):
        open_tokenizer(read(folder))


def test_another_padding_id_in_the_config_is_said(tmp_path: Path) -> None:
    folder = changed(builders.bert_classifier(tmp_path / "model"), "config.json", pad_token_id=3)
    assert any("pad_token_id 3" in said for said in open_tokenizer(read(folder)).assumptions)


def test_a_special_token_that_is_no_text_is_refused(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    changed(folder, "tokenizer_config.json", cls_token=5)
    with pytest.raises(FolderError, match="not a text") as refused:
        open_tokenizer(read(folder))
    assert "5" in refused.value.found


def test_B031_a_second_state_dict_in_a_pickle_is_named(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model", format="bin")
    file = folder / "pytorch_model.bin"
    state = torch.load(file, weights_only=True)
    torch.save({"state_dict": state, "ema": OrderedDict(state)}, file)
    said = " ".join(read(folder).warnings)
    assert "under 'state_dict'" in said
    assert "also holds tensors under ema" in said


def test_weights_of_whole_numbers_are_refused(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = builders.bert_classifier(tmp_path / "model")
    file = folder / "model.safetensors"
    state = load_file(file)
    name = "bert.encoder.layer.0.output.dense.weight"
    save_file({**state, name: (state[name] * 127).to(torch.int8)}, file)
    with pytest.raises(WeightsError, match="whole numbers") as refused:
        read(folder)
    assert name in refused.value.found


def test_a_web_page_in_place_of_weights_is_called_one(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    (folder / "model.safetensors").write_text("<!DOCTYPE html><html>Sign in</html>" * 99)
    with pytest.raises(WeightsError, match="web page"):
        read(folder)


def test_safetensors_under_the_name_of_a_pickle_are_called_by_their_own(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(WeightsError, match="safetensors under another name"):
        read(folder)


def test_a_tensor_that_is_not_plain_is_not_called_code(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model", format="bin")
    file = folder / "pytorch_model.bin"
    state = torch.load(file, weights_only=True)
    torch.save({**state, "more": torch.zeros(3, 3).to_sparse()}, file)
    with pytest.raises(WeightsError, match="more than plain tensors"):
        read(folder)


def test_B041_stated_labels_mend_a_config_that_names_the_wrong_number(tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    names = {"0": "only", "1": "two"}
    changed(folder, "config.json", id2label=names, label2id={"only": 0, "two": 1})
    with pytest.raises(FolderError, match="names 2 label"):
        read(folder)
    (answer,) = answers(folder, ["good"], labels=("x", "y", "z"))
    assert {row["label"] for row in answer["labels"]} == {"x", "y", "z"}


@pytest.mark.parametrize("stated", [["x", "y", "z"], {"0": "x", "1": "y", "2": "z"}, ...])
def test_B041_names_are_read_in_any_shape_and_the_model_loads(stated: Any, tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    label2id = {"z": 2, "x": 0, "y": 1}
    changed(folder, "config.json", id2label=stated, label2id=label2id)
    assert read(folder).labels == ("x", "y", "z")
    (answer,) = answers(folder, ["good"])
    assert {row["label"] for row in answer["labels"]} == {"x", "y", "z"}


@pytest.mark.parametrize("name", [None, {"en": "good"}, "", "  "])
def test_B041_a_label_that_is_no_name_is_refused(name: Any, tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    changed(folder, "config.json", id2label={"0": "a", "1": name, "2": "c"})
    with pytest.raises(FolderError, match="no name"):
        read(folder)


@pytest.mark.parametrize("names", [{"0": "a", "7": "b"}, {"zero": "a"}, ["a", None, "c"]])
def test_B041_names_of_pictures_number_the_outputs_or_are_refused(
    names: Any, tmp_path: Path
) -> None:
    folder = tiny_pictures.timm_classifier(tmp_path / "model")
    changed(folder, "config.json", label_names=names)
    with pytest.raises(FolderError, match="label"):
        read(folder)


@pytest.mark.parametrize(
    "stated", [{"pooling": ("cls",)}, {"normalise": True}, {"truncate_dim": 4}], ids=str
)
def test_what_changes_nothing_for_a_task_is_refused(stated: dict[str, Any], tmp_path: Path) -> None:
    folder = builders.bert_classifier(tmp_path / "model")
    with pytest.raises(TaskError, match="changes nothing here"):
        pick(read(folder, Overrides(**stated)))
    pick(read(folder, Overrides(task="embed", **stated)))


@pytest.mark.parametrize(
    "stated",
    [{"max_tokens": 9}, {"lower_case": True}, {"overflow": "cut"}, {"pooling": ("cls",)}],
    ids=str,
)
def test_what_is_for_texts_is_refused_for_pictures(stated: dict[str, Any], tmp_path: Path) -> None:
    folder = tiny_pictures.timm_classifier(tmp_path / "model")
    with pytest.raises(SettingsError, match="for texts"):
        read(folder, Overrides(**stated))


def test_a_threshold_for_a_model_without_classes_is_refused_for_that(tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model")
    with pytest.raises(SettingsError, match="this model is none"):
        read(folder, Overrides(threshold=0.5))


def test_B052_vectors_are_cut_and_scaled_again_as_sentence_transformers_does(
    tmp_path: Path,
) -> None:
    library = pytest.importorskip("sentence_transformers")
    folder = builders.sentence_transformer(tmp_path / "model")
    texts = ["good price", "", "the price is up " * 9]
    theirs = library.SentenceTransformer(str(folder), device="cpu", truncate_dim=5).encode(
        texts, normalize_embeddings=True
    )
    with open_runner(folder, plan=PLAN, overrides=Overrides(truncate_dim=5)) as runner:
        ours = runner.run(texts).arrays["vector"]
        assert runner.task.facts()["width"] == 5
    assert ours.shape == (3, 5)
    assert abs(ours - theirs).max() <= 1e-5


def test_B052_more_numbers_than_a_vector_has_are_refused(tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model")
    with pytest.raises(TaskError, match="more than a vector has"):
        pick(read(folder, Overrides(truncate_dim=10_000)))
    pictures = tiny_pictures.timm_tower(tmp_path / "pictures")
    with pytest.raises(LikewiseError, match="more than a vector has"):
        answers(pictures, [Image.new("RGB", (40, 40))], truncate_dim=10_000)


def test_B052_a_cut_that_nothing_reads_is_said(tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model")
    file = folder / "config_sentence_transformers.json"
    content = json.loads(file.read_text()) if file.is_file() else {}
    file.write_text(json.dumps({**content, "truncate_dim": 4}))
    assert any("truncate_dim 4" in said for said in read(folder).warnings)


def test_B032_a_layer_norm_under_two_names_is_refused_by_name(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = builders.bert_classifier(tmp_path / "model")
    file = folder / "model.safetensors"
    state = load_file(file)
    name = "bert.embeddings.LayerNorm"
    save_file({**state, f"{name}.gamma": state[f"{name}.weight"].clone()}, file)
    with pytest.raises(WeightsError, match="old and its new name") as refused:
        open_runner(folder, plan=PLAN)
    assert f"{name}.weight" in refused.value.found
    assert refused.value.fix


@pytest.mark.parametrize("token", ["[PAD]", "[CLS]", "[SEP]"])
def test_a_list_of_words_without_a_token_of_every_text_is_refused(
    token: str, tmp_path: Path
) -> None:
    folder = builders.bert_fillmask(tmp_path / "model", files="vocabulary")
    words = (folder / "vocab.txt").read_text().split("\n")
    words.remove(token)
    (folder / "vocab.txt").write_text("\n".join(words))
    with pytest.raises(FolderError, match="its lines are not those of the model") as refused:
        open_tokenizer(read(folder))
    assert token in refused.value.what


@pytest.mark.parametrize(
    ("file", "key"),
    [
        ("tokenizer_config.json", "do_lower_case"),
        ("tokenizer_config.json", "tokenize_chinese_chars"),
        ("tokenizer_config.json", "strip_accents"),
        ("tokenizer_config.json", "model_max_length"),
        ("1_Pooling/config.json", "include_prompt"),
        ("1_Pooling/config.json", "pooling_mode_cls_token"),
        ("sentence_bert_config.json", "do_lower_case"),
        ("sentence_bert_config.json", "max_seq_length"),
    ],
)
def test_a_rule_that_is_neither_on_nor_off_is_refused(file: str, key: str, tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model", max_seq_length=16)
    changed(folder, file, **{key: "yes"})
    with pytest.raises(FolderError, match=key) as refused:
        read(folder)
    assert Path(file).name in refused.value.what
