"""A text classifier's scores are those of transformers' own pipeline, by the same rules."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.errors import TaskError
from likewise.model.read import read
from likewise.tasks import classify
from likewise.types import Model

Tiny = Callable[[str], Path]

TEXTS = ["the price is good and the news is bad", "", "I do not like this!", "bitcoin " * 90]
LOGITS = np.array([[0.2, -1.5, 3.0], [4.0, 4.5, -2.0]], dtype=np.float32)
UP = np.array([[9.0, 0.0, 0.0]], dtype=np.float32)


@pytest.fixture(scope="session")
def model(tiny: Tiny) -> Model:
    return read(tiny("bert_classifier"))


def answers(task: Any, logits: Any, top: int | None = None) -> list[dict[str, Any]]:
    inputs = {"input_ids": np.ones((len(logits), 3), dtype=np.int64)}
    return task.answers(inputs, task.finish(inputs, {"logits": logits}), top=top)


@pytest.mark.parametrize("name", ["bert", "roberta", "xlmr", "distilbert", "electra"])
def test_labels_and_scores_are_those_of_the_pipeline(tiny: Tiny, name: str) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, pipeline

    folder = tiny(f"{name}_classifier")
    module = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    task = classify.open(read(folder))
    inputs = task.collate(task.encode(TEXTS))
    with torch.no_grad():
        logits = module(**{key: torch.tensor(value) for key, value in inputs.items()}).logits
    ours = task.answers(inputs, task.finish(inputs, {"logits": logits.numpy()}), top=None)
    whole = pipeline("text-classification", model=module, tokenizer=tokenizer, device="cpu")
    theirs = whole(TEXTS, top_k=None, truncation=True, max_length=64)
    for our, their in zip(ours, theirs, strict=True):
        assert [entry["label"] for entry in our["labels"]] == [entry["label"] for entry in their]
        assert [e["score"] for e in our["labels"]] == pytest.approx(
            [e["score"] for e in their], abs=1e-6
        )


def test_an_unsaid_problem_type_is_a_softmax_and_is_said(model: Model) -> None:
    task = classify.open(model)
    assert task.kinds == {"logits": "logits", "scores": "distribution"}
    assert "softmax" in task.assumptions[-1]
    assert task.facts()["activation"] == "softmax"
    assert task.facts()["labels"] == ["Bearish", "Neutral", "Bullish"]
    best_first = answers(task, LOGITS)[0]["labels"]
    assert [entry["label"] for entry in best_first] == ["Bullish", "Bearish", "Neutral"]
    assert sum(entry["score"] for entry in best_first) == pytest.approx(1)
    json.dumps([task.facts(), best_first])


def test_B042_a_multi_label_model_scores_each_label_alone(model: Model) -> None:
    task = classify.open(replace(model, problem_type="multi_label_classification"))
    assert task.kinds["scores"] == "scores"
    assert task.assumptions == ()
    scores = {e["label"]: e["score"] for e in answers(task, LOGITS)[0]["labels"]}
    one_up = {e["label"]: e["score"] for e in answers(task, LOGITS + UP)[0]["labels"]}
    assert scores["Bullish"] == one_up["Bullish"] == pytest.approx(1 / (1 + np.exp(-3.0)))
    assert scores["Bearish"] < one_up["Bearish"]


@pytest.mark.parametrize(
    ("problem_type", "activation", "said"),
    [
        ("regression", "none", False),
        ("multi_label_classification", "sigmoid", False),
        ("single_label_classification", "sigmoid", True),
        ("", "sigmoid", True),
    ],
)
def test_B041_B043_one_label_follows_transformers_rule(
    model: Model, problem_type: str, activation: str, said: str
) -> None:
    one = replace(model, labels=("score",), problem_type=problem_type)
    task = classify.open(one)
    assert task.facts()["activation"] == activation
    assert bool(task.assumptions) == said
    logits = np.array([[-2.5], [7.0]], dtype=np.float32)
    if activation == "none":
        assert answers(task, logits) == [{"value": -2.5}, {"value": 7.0}]
    else:
        scores = [answer["labels"][0]["score"] for answer in answers(task, logits)]
        assert scores == pytest.approx([1 / (1 + np.exp(2.5)), 1 / (1 + np.exp(-7.0))])


def test_a_regression_of_several_values_gives_them_in_order(model: Model) -> None:
    task = classify.open(replace(model, problem_type="regression"))
    assert answers(task, LOGITS)[0]["values"] == pytest.approx([0.2, -1.5, 3.0])
    assert "error" in answers(task, np.array([[1.0, np.nan, 2.0]]))[0]


def test_B043_a_problem_type_that_does_not_exist_is_an_error(model: Model) -> None:
    with pytest.raises(TaskError, match="'two_labels' is not a problem_type"):
        classify.open(replace(model, problem_type="two_labels"))


@pytest.mark.parametrize("short", ["single_label", "multi_label"])
def test_a_problem_type_may_be_shortened(model: Model, short: str) -> None:
    task = classify.open(replace(model, problem_type=short))
    assert task.facts()["problem_type"] == f"{short}_classification"


def test_B045_two_labels_of_one_name_stay_apart(model: Model) -> None:
    task = classify.open(replace(model, labels=("A", "B", "A")))
    entries = answers(task, LOGITS)[0]["labels"]
    assert [(e["label"], e["index"]) for e in entries] == [("A", 2), ("A", 0), ("B", 1)]


def test_a_wrong_number_of_labels_is_an_error_not_a_guess(model: Model) -> None:
    task = classify.open(replace(model, labels=("up", "down")))
    with pytest.raises(TaskError, match="not this model's"):
        answers(task, LOGITS)


def test_B024_an_encoder_without_a_trained_head_is_refused(tiny: Tiny) -> None:
    for name in ("bert_encoder", "bert_fillmask"):
        with pytest.raises(TaskError, match="no trained head that scores classes"):
            classify.open(read(tiny(name)))


def test_double_precision_stays_double(model: Model) -> None:
    arrays = classify.open(model).finish({}, {"logits": LOGITS.astype(np.float64)})
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.float64)}
