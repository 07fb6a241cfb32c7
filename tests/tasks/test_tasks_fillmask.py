"""Each mask is answered with the tokens that transformers' own pipeline gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny as builders
from likewise.errors import TaskError
from likewise.model.read import read
from likewise.tasks import fillmask

Tiny = Callable[[str], Path]

FAMILIES = ("bert_fillmask", "roberta_fillmask", "xlmr_fillmask", "distilbert_fillmask")
TEXTS = ["the price is {} today", "{} is going to the moon", "I do {} like this, but {} may!"]


@pytest.fixture(scope="session")
def task(tiny: Tiny) -> Any:
    return fillmask.open(read(tiny("bert_fillmask")))


def logits_at(inputs: Any, width: int, seed: int = 3) -> np.ndarray:
    """Return (R, V) made-up logits, one row for each mask."""
    return np.random.default_rng(seed).normal(0, 3, (len(inputs["rows"]), width)).astype("float32")


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("generic", fillmask.GENERIC)
def test_tokens_and_scores_are_those_of_the_pipeline(tiny: Tiny, name: str, generic: str) -> None:
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer, pipeline

    folder = tiny(name)
    module = AutoModelForMaskedLM.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    task = fillmask.open(read(folder))
    inputs = task.collate(task.encode([text.replace("{}", generic) for text in TEXTS]))
    tensors = {key: torch.tensor(value) for key, value in inputs.items() if key != "rows"}
    with torch.no_grad():
        logits = module(**tensors).logits.flatten(0, 1)[inputs["rows"]].numpy()
    ours = task.answers(inputs, task.finish(inputs, {"logits": logits}), top=None)
    whole = pipeline("fill-mask", model=module, tokenizer=tokenizer, device="cpu")
    theirs = whole([text.replace("{}", tokenizer.mask_token) for text in TEXTS])
    for our, their in zip(ours, theirs, strict=True):
        each = their if isinstance(their[0], list) else [their]
        assert [[e["index"] for e in mask] for mask in our["masks"]] == [
            [e["token"] for e in mask] for mask in each
        ]
        assert [[e["token"] for e in mask] for mask in our["masks"]] == [
            [e["token_str"] for e in mask] for mask in each
        ]
        assert [e["score"] for e in our["masks"][0]] == pytest.approx(
            [e["score"] for e in each[0]], abs=1e-6
        )


def test_rows_name_the_masks_of_a_batch_and_their_owners(task: Any) -> None:
    rows = task.encode(["the [MASK] is good", "[MASK] [MASK]", "a <mask>"])
    inputs = task.collate(rows)
    length = inputs["input_ids"].shape[1]
    assert (inputs["input_ids"].reshape(-1)[inputs["rows"]] == task.mask_id).all()
    assert inputs["rows"].dtype == np.int64
    assert task.owners(inputs).tolist() == [0, 1, 1, 2]
    assert inputs["rows"].tolist() == [2, length + 1, length + 2, 2 * length + 2]


def test_several_masks_are_answered_one_list_each(task: Any) -> None:
    inputs = task.collate(task.encode(["the [MASK] is [MASK]", "[MASK]"]))
    arrays = task.finish(inputs, {"logits": logits_at(inputs, 119)})
    answers = task.answers(inputs, arrays, top=3)
    assert [len(answer["masks"]) for answer in answers] == [2, 1]
    for answer, row in ((answers[0]["masks"][1], 1), (answers[1]["masks"][0], 2)):
        scores = arrays["scores"][row]
        assert [e["index"] for e in answer] == np.argsort(-scores)[:3].tolist()
        assert [e["score"] for e in answer] == [float(scores[e["index"]]) for e in answer]
    json.dumps([answers, task.facts(), task.hints()])


@pytest.mark.parametrize(("top", "count"), [(None, 5), (0, 0), (1, 1), (999, 119)])
def test_top_is_honoured_and_clamped(task: Any, top: int | None, count: int) -> None:
    inputs = task.collate(task.encode(["the [MASK]"]))
    arrays = task.finish(inputs, {"logits": logits_at(inputs, 119)})
    assert len(task.answers(inputs, arrays, top=top)[0]["masks"][0]) == count


def test_B062_a_mask_beyond_the_limit_is_that_row_s_problem(task: Any) -> None:
    words = "the " * 70
    rows = task.encode(
        ["the [MASK]", words + "[MASK]", f"[MASK] {words}", f"a [MASK] {words}<mask>"]
    )
    assert [row.problem for row in rows] == [
        None,
        "mask beyond the limit (position 71, limit 64)",
        None,
        "mask beyond the limit (position 73, limit 64)",
    ]
    assert rows[1].notes["truncated"]
    assert len(task.collate([rows[0], rows[2]])["rows"]) == 2


def test_B062_a_mask_in_a_part_that_was_never_read_is_a_problem_too(task: Any) -> None:
    text = "the " * 50_000 + "[MASK]"
    assert task.encode([text])[0].problem == "mask beyond the limit (character 200000, limit 64)"


@pytest.mark.parametrize("before", [16_378, 16_380, 16_383, 16_384])
def test_B062_a_mask_that_the_first_reading_cuts_in_two_is_found(task: Any, before: int) -> None:
    text = ("[MASK]" + " the" * 5000)[:before] + "[MASK]" + " the" * 9
    wanted = "position" if before + len("[MASK]") <= 1 << 14 else f"character {before}"
    assert f"mask beyond the limit ({wanted}" in str(task.encode([text])[0].problem)


def test_B063_a_text_without_a_mask_leaves_the_others_alone(task: Any) -> None:
    rows = task.encode(["the [MASK]", "the news", "", None])
    assert [row.problem for row in rows] == [
        None,
        "no mask in the text: put [MASK] for a word",
        "no mask in the text: put [MASK] for a word",
        "not a text: null",
    ]


@pytest.mark.parametrize("name", FAMILIES)
def test_targets_limit_the_answers_and_keep_their_scores(tiny: Tiny, name: str) -> None:
    targets = ("go", "to") if name == "xlmr_fillmask" else ("the", "is")
    task: Any = fillmask.open(replace(read(tiny(name)), targets=targets))
    inputs = task.collate(task.encode(["I <mask> you"]))
    arrays = task.finish(inputs, {"logits": logits_at(inputs, task.texts.vocabulary.size)})
    entries = task.answers(inputs, arrays, top=None)[0]["masks"][0]
    assert {entry["token"].strip() for entry in entries} == set(targets)
    assert [e["score"] for e in entries] == [
        float(arrays["scores"][0, e["index"]]) for e in entries
    ]
    assert sum(entry["score"] for entry in entries) < 1
    assert len(task.facts()["targets"]) == 2


def test_a_target_that_is_not_one_token_says_so_and_the_others_are_scored(tiny: Tiny) -> None:
    model = replace(read(tiny("bert_fillmask")), targets=("the", "moonlight"))
    task: Any = fillmask.open(model)
    assert any("'moonlight' is not one token" in line for line in task.assumptions)
    inputs = task.collate(task.encode(["I <mask> you"]))
    arrays = task.finish(inputs, {"logits": logits_at(inputs, task.texts.vocabulary.size)})
    known, unknown = task.answers(inputs, arrays, top=None)[0]["masks"][0]
    assert known["score"] == float(arrays["scores"][0, known["index"]])
    assert (unknown["token"], unknown["score"]) == ("moonlight", None)
    assert "not one token" in unknown["reason"]


def test_a_number_that_is_not_finite_is_that_text_s_error(task: Any) -> None:
    inputs = task.collate(task.encode(["the [MASK]", "a [MASK] [MASK]"]))
    logits = logits_at(inputs, 119)
    logits[2, 7] = np.nan
    answers = task.answers(inputs, task.finish(inputs, {"logits": logits}), top=2)
    assert "masks" in answers[0]
    assert "not finite" in answers[1]["error"]


def test_a_model_without_a_trained_head_or_a_mask_is_refused(tiny: Tiny, tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="no trained head that scores tokens"):
        fillmask.open(read(tiny("bert_classifier")))
    folder = builders.bert_fillmask(tmp_path / "model", files="json")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        file = folder / name
        file.write_text(file.read_text(encoding="utf-8").replace("[MASK]", "[HOLE]"), "utf-8")
    renamed = fillmask.open(read(folder))
    assert renamed.mask_token == "[HOLE]"
    assert renamed.encode(["the <mask>"])[0].problem is None
    vocabulary = replace(renamed.texts.vocabulary, mask_token=None, mask_id=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("likewise.tasks._text.open_tokenizer", lambda _: vocabulary)
        with pytest.raises(TaskError, match="no mask token"):
            fillmask.open(read(folder))


def test_double_precision_stays_double(task: Any) -> None:
    arrays = task.finish({}, {"logits": np.zeros((2, 9))})
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.float64)}
