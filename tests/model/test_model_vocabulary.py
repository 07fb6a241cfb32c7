"""A tokenizer neither cuts nor pads, says what it assumes, and is refused where it is damaged."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tokens import opened, our_ids

import tiny as builders
from likewise.errors import FolderError
from likewise.model.read import read
from likewise.model.tokenizer import open_tokenizer

Tiny = Callable[[str], Path]


def test_B011_saved_truncation_and_padding_are_cleared(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model")
    file = folder / "tokenizer.json"
    content = json.loads(file.read_text())
    content["truncation"] = {
        "direction": "Right",
        "max_length": 6,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    content["padding"] = {
        "strategy": {"Fixed": 6},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    }
    file.write_text(json.dumps(content))
    tokenizer = opened(folder).tokenizer
    assert len(tokenizer.encode("the " * 20).ids) == 22
    assert len(tokenizer.encode("the").ids) == 3


def test_B013_threads_share_one_tokenizer_without_changing_it(tiny: Tiny) -> None:
    tokenizer = opened(tiny("bert_encoder")).tokenizer
    wrong: list[int] = []

    def work(words: int) -> None:
        for _ in range(200):
            length = len(tokenizer.encode("the " * words).ids)
            if length != words + 2:
                wrong.append(length)

    threads = [threading.Thread(target=work, args=(words,)) for words in (6, 38, 6, 38)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_B014_an_assumed_casing_is_said_and_can_be_stated(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model", cased=True, files="vocabulary")
    (folder / "tokenizer_config.json").unlink()
    assumed = read(folder)
    assert assumed.lower_case is True
    assert any("casing is not said" in w and "52 of its" in w for w in assumed.warnings)
    stated = opened(folder, lower_case=False).tokenizer.encode("The Fox").tokens
    assert stated == ["[CLS]", "T", "##h", "##e", "F", "##o", "##x", "[SEP]"]
    assert opened(folder).tokenizer.encode("The Fox").tokens[1] == "the"


def test_B014_tokenizer_config_decides_on_casing(tmp_path: Path) -> None:
    for files in ("vocabulary", "json"):
        folder = builders.bert_encoder(tmp_path / files, cased=True, files=files)
        model = read(folder)
        assert model.lower_case is False
        assert not any("casing" in warning for warning in model.warnings)
        assert open_tokenizer(model).tokenizer.encode("The").tokens[1] == "T"


def test_B014_a_contradiction_about_casing_is_said(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model", cased=True, files="json")
    (folder / "tokenizer_config.json").unlink()
    assert any("says the opposite" in warning for warning in read(folder).warnings)
    assert opened(folder, lower_case=False).tokenizer.encode("The").tokens[1] == "T"


def test_lower_casing_before_the_tokenizer_is_that_of_sentence_transformers(
    tmp_path: Path,
) -> None:
    from sentence_transformers import SentenceTransformer

    folder = builders.sentence_transformer(tmp_path / "model", cased=True)
    builders.write_json(
        folder / "sentence_bert_config.json", {"max_seq_length": 32, "do_lower_case": True}
    )
    reference = SentenceTransformer(str(folder), device="cpu").tokenizer
    ours = opened(folder).tokenizer
    for text in ("The Quick Fox", "Ä [MASK]", "好 A"):
        assert ours.encode(text).ids == reference(text)["input_ids"]


def test_B018_more_ids_than_embedding_rows_are_refused(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model", files="vocabulary")
    with (folder / "vocab.txt").open("a") as file:
        file.write("hodl\nmoonshot\n")
    with pytest.raises(FolderError, match="more ids than the model has embedding rows") as error:
        opened(folder)
    assert "hodl" in error.value.found


def test_B018_blank_last_lines_of_a_vocabulary_are_no_tokens(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model", files="vocabulary")
    before = our_ids(opened(folder))
    with (folder / "vocab.txt").open("a") as file:
        file.write("\n\n")
    assert our_ids(opened(folder)) == before


def test_B017_sentencepiece_needs_packages_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    folder = builders.xlmr_fillmask(tmp_path / "model", files="vocabulary")
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "sentencepiece" else find(name)
    )
    with pytest.raises(FolderError, match="packages that are not here") as error:
        opened(folder)
    assert "sentencepiece" in error.value.found
    assert "likewise[port]" in error.value.fix


def test_B017_a_conversion_that_differs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformers

    folder = builders.xlmr_fillmask(tmp_path / "model", files="vocabulary")
    other = transformers.AutoTokenizer.from_pretrained(str(builders.bert_encoder(tmp_path / "b")))
    monkeypatch.setattr(
        transformers.AutoTokenizer, "from_pretrained", staticmethod(lambda *_, **__: other)
    )
    with pytest.raises(FolderError, match="other tokens than the file itself"):
        opened(folder)


def test_a_saved_tokenizer_gives_the_same_ids_again(tmp_path: Path) -> None:
    # port writes the proven tokenizer into the folder it makes; see likewise/port/folder.py
    for name in ("bert_encoder", "roberta_fillmask", "xlmr_fillmask"):
        folder = getattr(builders, name)(tmp_path / name, files="vocabulary")
        before = opened(folder)
        copy = tmp_path / f"{name} again"
        shutil.copytree(folder, copy)
        for raw in ("vocab.txt", "vocab.json", "merges.txt", "sentencepiece.bpe.model"):
            (copy / raw).unlink(missing_ok=True)
        before.tokenizer.save(str(copy / "tokenizer.json"))
        assert our_ids(opened(copy)) == our_ids(before)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("tokenizer.json", "{", "is not a tokenizer"),
        ("tokenizer.json", '{"model": 1}', "is not a tokenizer"),
        ("vocab.json", '{"a": "b"}', "is not a vocabulary"),
        ("vocab.json", '{"a": 0}', "do not belong together"),
        ("vocab.txt", "a\nb\n", "no token for unknown words"),
    ],
)
def test_a_damaged_tokenizer_is_refused(file: str, content: str, said: str, tmp_path: Path) -> None:
    builder = builders.roberta_fillmask if file == "vocab.json" else builders.bert_encoder
    folder = builder(tmp_path / "model", files="both" if file == "tokenizer.json" else "vocabulary")
    (folder / file).write_text(content)
    with pytest.raises(FolderError, match=said):
        opened(folder)


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model")
    for name in ("vocab.txt", "tokenizer.json"):
        (folder / name).unlink()
    with pytest.raises(FolderError, match="has no tokenizer"):
        read(folder)


def test_a_class_with_rules_of_its_own_is_refused(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model", files="vocabulary")
    file = folder / "tokenizer_config.json"
    config = json.loads(file.read_text())
    builders.write_json(file, {**config, "tokenizer_class": "BertJapaneseTokenizer"})
    with pytest.raises(FolderError, match="rules that likewise does not have"):
        opened(folder)
