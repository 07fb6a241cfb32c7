"""Rows of cases about texts, labels and masks, as a user meets them, on every engine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from asked import ENGINES, answers, logits, plain

import tiny as build

Tiny = Callable[[str], Path]
every_engine = pytest.mark.parametrize("engine", ENGINES)


def words(count: int) -> str:
    """Return a text of so many words, each one token of the tiny vocabularies."""
    some = ["good", "bad", "price"]
    return " ".join(some[i % 3] for i in range(count))


@every_engine
@pytest.mark.parametrize("builder", ["bert_classifier", "roberta_classifier", "xlmr_classifier"])
def test_B001_texts_around_the_limit_are_answered_as_transformers_answers_them(
    tiny: Tiny, engine: str, builder: str
) -> None:
    folder = tiny(builder)
    texts = [words(n) for n in (1, 30, 61, 62, 63, 64, 200)]
    got = logits(folder, texts, engine)
    for text, row in zip(texts, got, strict=True):
        assert np.abs(row - plain(folder, text, max_length=64)).max() < 1e-4


@every_engine
def test_B002_the_limit_follows_the_padding_id(tmp_path: Path, engine: str) -> None:
    folder = build.roberta_classifier(tmp_path, pad_token_id=3, max_position_embeddings=68)
    found = answers(folder, [words(200)], engine)
    assert found[0]["truncated"]
    assert found[0]["tokens"] == 64


@every_engine
def test_B006_late_differences_count_where_the_model_is_long_enough(
    tmp_path: Path, engine: str
) -> None:
    folder = build.bert_classifier(tmp_path, max_position_embeddings=1024)
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "model_max_length": 1024}))
    head = words(600)
    one, other = answers(folder, [f"{head} good", f"{head} bad"], engine)
    assert not one["truncated"]
    assert one["labels"] != other["labels"]


@every_engine
def test_B007_B009_an_answer_says_how_many_tokens_were_given_and_used(
    tiny: Tiny, engine: str
) -> None:
    (answer,) = answers(tiny("bert_classifier"), [words(180)], engine)
    assert (answer["tokens"], answer["truncated"]) == (64, True)
    assert answer["tokens_given"] > 180


@every_engine
def test_B009_a_text_over_the_limit_is_refused_where_that_is_the_policy(
    tiny: Tiny, engine: str
) -> None:
    folder = tiny("bert_classifier")
    long, short = answers(folder, [words(180), words(3)], engine, overflow="refuse")
    assert "too long" in long["error"]
    assert "limit is 64" in long["error"]
    assert "labels" in short


@every_engine
@pytest.mark.parametrize("builder", ["bert_classifier", "roberta_classifier", "xlmr_classifier"])
def test_B012_pairs_are_answered_as_transformers_answers_them(
    tiny: Tiny, engine: str, builder: str
) -> None:
    folder = tiny(builder)
    pairs = [("good price", "bad"), (words(70), "not good"), ("up", words(90)), (words(50),) * 2]
    got = logits(folder, pairs, engine)
    for pair, row in zip(pairs, got, strict=True):
        assert np.abs(row - plain(folder, *pair, max_length=64)).max() < 1e-4


def test_B012_the_second_text_of_a_pair_has_its_own_segment(tiny: Tiny) -> None:
    folder = tiny("bert_classifier")
    one, other = logits(folder, [("good", "bad"), "good [SEP] bad"], "torch")
    assert np.abs(one - other).max() > 1e-3


@every_engine
def test_B015_emoji_give_one_token_sequence_and_one_answer(tiny: Tiny, engine: str) -> None:
    folder = tiny("roberta_classifier")
    texts = ["🫠", "👨‍👩‍👧", "🇨🇳", "1️⃣", "👍🏽"]
    got = logits(folder, texts, engine)
    for text, row in zip(texts, got, strict=True):
        assert np.abs(row - plain(folder, text)).max() < 1e-4


@every_engine
def test_B020_an_item_of_another_kind_fails_alone_and_by_its_place(tiny: Tiny, engine: str) -> None:
    items = ["good", None, 3, float("nan"), ["a", "b"], {}, "bad"]
    found = answers(tiny("bert_classifier"), items, engine)
    assert ["error" in answer for answer in found] == [False, True, True, True, True, True, False]
    assert answers(tiny("bert_classifier"), [], engine) == []


@every_engine
@pytest.mark.parametrize(
    ("problem", "kind"),
    [("regression", "value"), (None, "labels"), ("multi_label_classification", "labels")],
)
def test_B041_B043_one_logit_means_the_same_on_every_engine(
    tmp_path: Path, engine: str, problem: str | None, kind: str
) -> None:
    stated = {"problem_type": problem} if problem else {}
    folder = build.bert_classifier(tmp_path, num_labels=1, **stated)
    (answer,) = answers(folder, ["good"], engine)
    raw = float(plain(folder, "good")[0])
    got = answer["value"] if kind == "value" else answer["labels"][0]["score"]
    assert got == pytest.approx(raw if kind == "value" else 1 / (1 + np.exp(-raw)), abs=1e-5)


@every_engine
def test_B042_several_labels_are_scored_apart_and_a_threshold_keeps_some(
    tmp_path: Path, engine: str
) -> None:
    folder = build.bert_classifier(tmp_path, problem_type="multi_label_classification")
    (every,) = answers(folder, ["good"], engine)
    expected = 1 / (1 + np.exp(-plain(folder, "good")))
    scores = {entry["index"]: entry["score"] for entry in every["labels"]}
    assert [scores[i] for i in range(3)] == pytest.approx(expected.tolist(), abs=1e-5)
    middle = sorted(scores.values())[1]
    (kept,) = answers(folder, ["good"], engine, threshold=round(middle - 1e-4, 6))
    assert len(kept["labels"]) == 2


@every_engine
def test_B045_two_labels_of_one_name_keep_their_own_index(tmp_path: Path, engine: str) -> None:
    folder = build.bert_classifier(tmp_path, id2label={0: "A", 1: "A", 2: "B"})
    (answer,) = answers(folder, ["good"], engine)
    assert sorted(entry["index"] for entry in answer["labels"]) == [0, 1, 2]


@every_engine
def test_B048_top_is_honoured_and_softmax_sums_to_one(tiny: Tiny, engine: str) -> None:
    folder = tiny("bert_classifier")
    (every,) = answers(folder, ["good"], engine, top=99)
    assert sum(entry["score"] for entry in every["labels"]) == pytest.approx(1, abs=1e-6)
    (few,) = answers(folder, ["good"], engine, top=1)
    assert few["labels"] == every["labels"][:1]


@every_engine
@pytest.mark.parametrize("builder", ["bert_fillmask", "roberta_fillmask", "xlmr_fillmask"])
def test_B062_B063_a_mask_that_is_cut_away_or_absent_fails_its_own_row_only(
    tiny: Tiny, engine: str, builder: str
) -> None:
    texts = ["good <mask>", f"{words(100)} <mask>", "no hole", "", f"[MASK] {words(100)}"]
    found = answers(tiny(builder), texts, engine, task="fillmask")
    assert ["error" in answer for answer in found] == [False, True, True, True, False]
    assert "mask beyond the limit" in found[1]["error"]
    assert "limit 64" in found[1]["error"]


@every_engine
def test_B062_a_window_answers_a_mask_anywhere(tiny: Tiny, engine: str) -> None:
    folder = tiny("bert_fillmask")
    texts = [f"{words(100)} <mask>", f"{words(80)} <mask> {words(80)}", "<mask> good"]
    found = answers(folder, texts, engine, task="fillmask", overflow="window")
    assert all(len(answer["masks"]) == 1 for answer in found)
    near = [*words(100).split(), "<mask>"]
    (alone,) = answers(folder, [" ".join(near[-62:])], engine, task="fillmask")
    (far,) = answers(folder, [" ".join(near)], engine, task="fillmask", overflow="window")
    assert far["truncated"]
    assert [e["token"] for e in far["masks"][0]] == [e["token"] for e in alone["masks"][0]]
    assert far["masks"][0][0]["score"] == pytest.approx(alone["masks"][0][0]["score"], abs=1e-6)
    (apart,) = answers(
        folder, [f"<mask> {words(90)} <mask>"], engine, task="fillmask", overflow="window"
    )
    assert "do not fit one window" in apart["error"]


@every_engine
def test_B062_a_window_finds_a_mask_far_into_a_huge_text(tiny: Tiny, engine: str) -> None:
    huge = f"{words(60_000)} <mask> {words(60_000)}"
    (answer,) = answers(tiny("bert_fillmask"), [huge], engine, task="fillmask", overflow="window")
    assert len(answer["masks"]) == 1
    assert answer["truncated"]


@every_engine
def test_targets_have_a_status_of_their_own(tiny: Tiny, engine: str) -> None:
    folder = tiny("bert_fillmask")
    (plain_answer,) = answers(folder, ["<mask> price"], engine, task="fillmask", top=10_000)
    scores = {entry["token"]: entry["score"] for entry in plain_answer["masks"][0]}
    (answer,) = answers(
        folder, ["<mask> price"], engine, task="fillmask", targets=("good", "unheardofword", "bad")
    )
    entries = answer["masks"][0]
    assert {entry["token"] for entry in entries[:2]} == {"good", "bad"}
    for entry in entries[:2]:
        assert entry["score"] == pytest.approx(scores[entry["token"]], abs=1e-6)
    assert entries[2]["score"] is None
    assert "not one token" in entries[2]["reason"]


def test_truncation_takes_the_side_that_the_folder_names(tmp_path: Path) -> None:
    folder = build.bert_classifier(tmp_path)
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "truncation_side": "left"}))
    texts = [f"good {words(100)} bad", "up " * 40_000 + "down"]
    got = logits(folder, texts, "torch")
    for text, row in zip(texts, got, strict=True):
        assert np.abs(row - plain(folder, text, max_length=64)).max() < 1e-4


def test_a_mask_at_the_end_of_a_huge_text_is_kept_where_the_beginning_is_cut(
    tmp_path: Path,
) -> None:
    folder = build.bert_fillmask(tmp_path)
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "truncation_side": "left"}))
    texts = [f"{words(9_000)} <mask>", f"<mask> {words(9_000)}", f"{words(100)} <mask>"]
    found = answers(folder, texts, "torch", task="fillmask")
    assert ["error" in answer for answer in found] == [False, True, False]


def test_two_huge_texts_of_a_pair_take_little_time_and_memory(tiny: Tiny) -> None:
    import tracemalloc

    tracemalloc.start()
    (answer,) = answers(tiny("bert_classifier"), [(words(40_000), words(40_000))], "torch")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert answer["truncated"]
    assert peak < 100 * 2**20


def test_a_regression_predicts_values(tmp_path: Path) -> None:
    import likewise

    folder = build.bert_classifier(tmp_path, num_labels=1, problem_type="regression")
    results, values = likewise.Classifier(folder).predict(["good", "bad"])
    assert [r["value"] for r in results] == pytest.approx(values[:, 0].tolist())


def test_what_is_stated_beside_the_model_names_its_task(tmp_path: Path) -> None:
    import likewise

    folder = build.bert_classifier(tmp_path)
    (folder / "likewise.json").write_text('{"task": "embed"}')
    assert likewise.inspect(folder).task == "embed"
    assert answers(folder, ["good"], "torch", task="embed")[0]["vector"]
