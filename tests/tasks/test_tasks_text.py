"""Texts are cut, padded and counted by our own code, and every token is transformers' own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tiny as builders
from likewise.errors import FolderError, TaskError
from likewise.model.read import read
from likewise.settings import Overrides
from likewise.tasks import classify, embed
from likewise.tasks._text import Texts, open_texts
from likewise.tasks._words import whole_words

Tiny = Callable[[str], Path]

FAMILIES = ("bert_classifier", "roberta_classifier", "xlmr_classifier", "distilbert_classifier")
WORDS = "the price is good and the news is bad today "


@pytest.fixture(scope="session", params=FAMILIES)
def pair(request: pytest.FixtureRequest, tiny: Tiny) -> tuple[Texts, Any]:
    """The text side of a tiny model, and transformers' tokenizer of the same folder."""
    from transformers import AutoTokenizer

    folder = tiny(request.param)
    return open_texts(read(folder)), AutoTokenizer.from_pretrained(folder)


@pytest.fixture(scope="session")
def texts(tiny: Tiny) -> Texts:
    return open_texts(read(tiny("bert_classifier")))


def ids(texts: Texts, text: str) -> list[int]:
    return texts.cut([text])[0].ids.tolist()


@given(text=st.text(max_size=120))
@settings(max_examples=60, deadline=None)
def test_every_token_is_transformers_own(pair: tuple[Texts, Any], text: str) -> None:
    texts, theirs = pair
    wanted = theirs(text, truncation=True, max_length=texts.limit)["input_ids"]
    whole = theirs(text)["input_ids"]
    cut = texts.cut([text])[0]
    assert cut.ids.tolist() == wanted
    assert cut.notes == {
        "tokens": len(wanted),
        "tokens_given": len(whole),
        "truncated": len(whole) > len(wanted),
    }


def test_B001_a_text_at_the_limit_is_whole_and_one_token_more_is_cut(tiny: Tiny) -> None:
    texts = open_texts(read(tiny("roberta_classifier")))
    assert texts.limit == 64  # 66 positions, less the padding's own two
    words = " the" * 70
    for given_tokens, kept in ((63, 63), (64, 64), (65, 64), (72, 64)):
        text = words[: 4 * (given_tokens - 2)]
        row = texts.encode([text])[0]
        assert row.notes["tokens_given"] == given_tokens
        assert row.tokens == len(row.arrays["input_ids"]) == kept
        assert row.notes["truncated"] == (given_tokens > 64)


def test_B002_the_limit_follows_the_padding_id(tmp_path: Path) -> None:
    folder = builders.roberta_classifier(tmp_path / "model", pad_token_id=3)
    texts = open_texts(read(folder))
    assert texts.limit == 66 - 3 - 1
    assert max(len(ids(texts, " the" * n)) for n in (55, 60, 61, 62, 99)) == texts.limit


def test_B006_two_long_texts_that_differ_late_differ_unless_the_cut_is_said(texts: Texts) -> None:
    same = "the " * 30
    late, beyond = same + "moon", "the " * 100 + "moon"
    assert ids(texts, late) != ids(texts, same + "news")
    cuts = texts.cut([beyond, "the " * 100 + "news"])
    assert cuts[0].ids.tolist() == cuts[1].ids.tolist()
    assert all(cut.notes["truncated"] for cut in cuts)


def test_B007_B009_the_answer_says_how_much_of_a_text_was_used(texts: Texts) -> None:
    row = texts.encode([WORDS * 30])[0]
    assert row.notes == {"tokens": 64, "tokens_given": 302, "truncated": True}


def test_B008_the_limit_of_a_sentence_transformers_folder_is_kept(tmp_path: Path) -> None:
    folder = builders.sentence_transformer(tmp_path / "model", max_seq_length=16)
    rows = embed.open(read(folder)).encode([WORDS * 4, "the news"])
    assert [row.tokens for row in rows] == [16, 4]
    assert [row.notes["truncated"] for row in rows] == [True, False]


def test_B010_the_last_token_kept_is_the_end_mark(pair: tuple[Texts, Any]) -> None:
    texts, theirs = pair
    assert ids(texts, WORDS * 30)[-1] == theirs.sep_token_id
    assert ids(texts, WORDS * 30)[0] == theirs.cls_token_id


def test_B011_a_saved_truncation_or_padding_changes_nothing(tiny: Tiny, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny("bert_classifier"), tmp_path / "model")
    file = folder / "tokenizer.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    content["truncation"] = {
        "direction": "Right", "max_length": 6, "strategy": "LongestFirst", "stride": 0,
    }  # fmt: skip
    content["padding"] = {
        "strategy": {"Fixed": 6}, "direction": "Right", "pad_to_multiple_of": None,
        "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]",
    }  # fmt: skip
    file.write_text(json.dumps(content), encoding="utf-8")
    saved, plain = open_texts(read(folder)), open_texts(read(tiny("bert_classifier")))
    for text in (WORDS * 2, "the"):
        assert ids(saved, text) == ids(plain, text)


def test_B012_segment_ids_are_sent_only_where_there_is_more_than_one_type(tiny: Tiny) -> None:
    one, two = (
        classify.open(read(tiny("roberta_classifier"))),
        classify.open(read(tiny("bert_classifier"))),
    )
    assert one.network.inputs == ("input_ids", "attention_mask")
    assert two.network.inputs == ("input_ids", "attention_mask", "token_type_ids")
    assert "token_type_ids" not in one.collate(one.encode(["the news"]))
    assert not two.collate(two.encode(["the news", "the"]))["token_type_ids"].any()


def test_B013_threads_with_other_limits_do_not_cut_one_another_s_texts(texts: Texts) -> None:
    short = replace(texts, model=replace(texts.model, max_tokens=8))
    wanted = {id(side): ids(side, WORDS * 9) for side in (short, texts)}

    def encode(side: Texts) -> bool:
        return all(ids(side, WORDS * 9) == wanted[id(side)] for _ in range(100))

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(encode, [short, texts] * 4))


def test_B018_a_word_without_an_embedding_row_is_found_at_load(tiny: Tiny, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny("bert_classifier"), tmp_path / "model")
    (folder / "tokenizer.json").unlink()
    with (folder / "vocab.txt").open("a", encoding="utf-8") as file:
        file.write("extra\nwords\n")
    with pytest.raises(FolderError, match="embedding"):
        open_texts(read(folder))


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (None, "null"), (3, "int"), (float("nan"), "float"), (["a", "b"], "list"), ({}, "dict"),
        (b"text", "bytes"), (True, "bool"),
    ],
)  # fmt: skip
def test_B020_an_item_that_is_not_a_text_has_a_problem_of_its_own(
    texts: Texts, item: Any, said: str
) -> None:
    rows = texts.encode(["the news", item, "the moon"])
    assert rows[1].problem == f"not a text: {said}"
    assert rows[1].arrays == {}
    assert [rows[0].problem, rows[2].problem] == [None, None]


def test_no_items_are_no_rows(texts: Texts) -> None:
    assert texts.encode([]) == []


@pytest.mark.parametrize("text", ["a\ud800b", "\udfff", "今\ud83d"])
def test_a_lone_surrogate_is_that_item_s_problem(texts: Texts, text: str) -> None:
    rows = texts.encode(["the", text])
    assert "surrogate at character" in str(rows[1].problem)
    assert rows[0].problem is None


@pytest.mark.parametrize("name", FAMILIES[:3])
@pytest.mark.parametrize("text", ["qzx " * 60_000, "天" * 200_000, WORDS * 450_000])
def test_B022_only_the_start_of_a_huge_text_is_read_and_gives_the_tokens_of_all(
    tiny: Tiny, name: str, text: str
) -> None:
    texts = open_texts(read(tiny(name)))
    cut = texts.cut([text])[0]
    assert cut.read == 1 << 14  # of up to 20 MB, which would take a quarter of a minute
    assert cut.notes["truncated"]
    assert cut.notes["tokens_given_at_least"]
    assert cut.ids.tolist() == ids(texts, text[:1200])


@pytest.mark.parametrize("text", ["qzx" * 600_000, " " * 1_500_000])
def test_B022_a_huge_text_that_never_fills_the_limit_is_read_to_a_megabyte(
    texts: Texts, text: str
) -> None:
    cut = texts.cut([text])[0]
    assert cut.read == 1 << 20
    assert cut.notes["truncated"]


def test_a_text_that_is_read_whole_is_counted_exactly(texts: Texts) -> None:
    assert "tokens_given_at_least" not in texts.cut([WORDS * 300])[0].notes


def test_a_huge_text_of_few_tokens_is_read_on(texts: Texts) -> None:
    text = "the" + " " * 300_000 + "moon"
    assert ids(texts, text) == ids(texts, "the moon")
    assert not texts.cut([text])[0].notes["truncated"]


@given(lengths=st.lists(st.integers(0, 70), min_size=1, max_size=9))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_padding_hides_behind_the_mask(texts: Texts, lengths: list[int]) -> None:
    rows = texts.encode(["the " * length for length in lengths])
    batch = texts.collate(rows)
    assert {array.dtype for array in batch.values()} == {np.dtype(np.int64)}
    assert batch["input_ids"].shape == (len(rows), max(row.tokens for row in rows))
    mask = batch["attention_mask"].astype(bool)
    assert (batch["input_ids"][~mask] == texts.vocabulary.pad_id).all()
    for row, given_ids, kept in zip(rows, batch["input_ids"], mask, strict=True):
        assert given_ids[kept].tolist() == row.arrays["input_ids"].tolist()


def test_a_limit_without_room_for_a_text_is_refused(tiny: Tiny) -> None:
    model = read(tiny("bert_classifier"), Overrides(max_tokens=2))
    with pytest.raises(TaskError, match="no room"):
        open_texts(model)


def test_words_are_tokens_of_their_own(pair: tuple[Texts, Any]) -> None:
    texts, theirs = pair
    hints = texts.hints()
    assert hints["special_tokens"] == 2
    assert hints["max_tokens"] == 64
    assert hints["words"] == whole_words(texts.vocabulary.tokenizer)
    assert len(set(hints["words"])) == len(hints["words"]) > 5
    for word in hints["words"]:
        assert len(theirs(f" {word}")["input_ids"]) == 3
    json.dumps([hints, texts.facts()])


def test_a_vocabulary_of_residues_gives_residues_and_does_not_know_english(
    tiny: Tiny, tmp_path: Path
) -> None:
    folder = shutil.copytree(tiny("bert_fillmask"), tmp_path / "model")
    _residues(folder)
    hints = open_texts(read(folder)).hints()
    assert set(hints["words"]) == set("ACDEFGHIKLMNPQRSTVWY")
    assert hints["unknown_share"] > 0.9


def _residues(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokens = [*specials, *"ACDEFGHIKLMNPQRSTVWY"]
    (folder / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    config["do_lower_case"] = False
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
