"""Gate 4: labelled items, the bounds of what was lost, and labels in every form."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabricate import evidence, finish, measure, run
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from likewise.errors import ItemError
from likewise.model.read import read
from likewise.prove.evidence import LabelledRuns
from likewise.prove.inferiority import items_needed, most_lost, rank_difference
from likewise.prove.labelled import read_labelled
from likewise.prove.verdict import judge
from likewise.tasks._pick import pick
from likewise.types import Task

Tiny = Callable[[str], Path]


@pytest.mark.parametrize(("lost", "won", "of"), [(12, 2, 50), (3, 0, 90), (5, 9, 400)])
def test_the_bound_is_where_the_score_statistic_is_the_quantile(
    lost: int, won: int, of: int
) -> None:
    """With the likelihood under the constraint maximised by a general optimiser."""
    bound = most_lost(lost, won, of)

    def unlikelihood(share: float) -> float:
        parts = (share + bound, share, 1 - 2 * share - bound)
        if min(parts) <= 0:
            return np.inf
        return -float(np.dot((lost, won, of - lost - won), np.log(parts)))

    best = minimize_scalar(
        unlikelihood, bounds=(1e-12, (1 - bound) / 2), method="bounded", options={"xatol": 1e-12}
    ).x
    deviation = np.sqrt(of * (2 * best + bound * (1 - bound)))
    assert (lost - won - of * bound) / deviation == pytest.approx(-1.6448536, abs=1e-3)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 400))
def test_the_bound_is_above_what_was_seen_and_falls_with_more_items(
    lost: int, won: int, more: int
) -> None:
    total = lost + won + more + 1
    bound = most_lost(lost, won, total)
    assert (lost - won) / total <= bound <= 1
    assert most_lost(lost + 1, won, total + 1) >= bound - 1e-6


def test_the_bound_covers_the_truth_about_95_times_in_100() -> None:
    random = np.random.default_rng(1)
    shares = (0.02, 0.01, 0.97)
    covered = 0
    for lost, won, _ in random.multinomial(400, shares, 2000):
        covered += most_lost(int(lost), int(won), 400) >= shares[0] - shares[1]
    assert 0.93 < covered / 2000 < 0.98


def test_without_any_difference_a_loss_is_still_bounded_by_the_number_of_items() -> None:
    assert most_lost(0, 0, 100) == pytest.approx(0.026, abs=1e-3)
    assert most_lost(0, 0, 10_000) < 3e-4
    assert items_needed(0.002, 0.005) == pytest.approx(690, rel=0.01)


def test_spearman_of_equal_runs_differs_by_nothing() -> None:
    random = np.random.default_rng(2)
    gold = random.standard_normal(200)
    ours = gold + random.standard_normal(200)
    one, other, low, high = rank_difference(gold, ours, ours.copy())
    assert one == other
    assert (low, high) == (0, 0)
    _, worse, low, high = rank_difference(gold, ours, random.standard_normal(200))
    assert worse < one
    assert high < -0.2


def labelled(count: int, wrong: int, plan: str) -> Any:
    """Evidence with labelled runs in which the candidate has ``wrong`` answers of its own."""
    logits = np.random.default_rng(3).standard_normal((count, 3)).astype(np.float32)
    theirs = logits.copy()
    theirs[:wrong] = np.roll(theirs[:wrong], 1, axis=1)
    runs = [run(p, finish("softmax", a)) for p, a in ((plan, logits), (plan, theirs))]
    gold = tuple(logits.argmax(axis=1).astype(float).tolist())
    return replace(evidence(plan=plan), labelled=LabelledRuns(gold, *runs))


@pytest.mark.parametrize(
    ("count", "wrong", "outcome"),
    [(3000, 0, "within"), (200, 0, "undecided"), (3000, 60, "outside")],
)
def test_a_lossy_plan_must_not_lose_more_than_the_margin(
    count: int, wrong: int, outcome: str
) -> None:
    verdict = judge(labelled(count, wrong, "onnx/cpu/bfloat16/b16/t2"))
    assert verdict.outcome == outcome
    loss = measure(verdict, "accuracy_loss")
    assert loss.n == count
    assert loss.value >= wrong / count
    assert measure(verdict, "accuracy", "candidate").value == pytest.approx(1 - wrong / count)
    if outcome == "undecided":
        assert "items would tell" in verdict.reasons[0]


def test_a_float32_plan_that_loses_an_item_is_not_equal() -> None:
    assert judge(labelled(300, 0, "onnx/cpu/float32/b16/t2")).outcome == "equal"
    verdict = judge(labelled(300, 1, "onnx/cpu/float32/b16/t2"))
    assert verdict.outcome == "undecided"
    assert "1 of 300 labelled items" in verdict.reasons[0]


@pytest.fixture
def classify(tiny: Tiny) -> Task:
    return pick(read(tiny("bert_classifier")))


def test_B046_a_label_is_a_name_an_index_or_an_index_as_text(
    classify: Task, tmp_path: Path
) -> None:
    names = classify.facts()["labels"]
    file = tmp_path / "some.jsonl"
    forms = [names[1], 1, "1", 1.0]
    file.write_text("\n".join(json.dumps({"text": "a", "label": form}) for form in forms))
    made = read_labelled(file, classify)
    assert made.gold == (1.0, 1.0, 1.0, 1.0)
    assert made.items == ("a",) * 4


@pytest.mark.parametrize("stated", ["unheard-of", 99, -1, 0.5, None])
def test_B046_an_unknown_label_is_an_error_with_its_row(
    classify: Task, tmp_path: Path, stated: Any
) -> None:
    file = tmp_path / "some.jsonl"
    rows = [{"text": "a", "label": 0}, {"text": "b", "label": stated}]
    file.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(ItemError, match="Row 2 of"):
        read_labelled(file, classify)


def test_tables_with_a_header_are_read_and_pairs_too(
    classify: Task, tiny: Tiny, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text('sentence,label\n"one, two",0\nthree,1\n')
    assert read_labelled(tmp_path / "a.csv", classify).items == ("one, two", "three")
    (tmp_path / "b.tsv").write_text("sentence1\tsentence2\tlabel\na\tb\t0\n")
    assert read_labelled(tmp_path / "b.tsv", classify).items == (("a", "b"),)
    embed = pick(read(tiny("sentence_transformer")))
    (tmp_path / "c.csv").write_text("text,text_pair,score\na,b,0.5\nc,d,2\n")
    made = read_labelled(tmp_path / "c.csv", embed)
    assert (made.items, made.gold) == (("a", "c", "b", "d"), (0.5, 2.0))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("none.jsonl", None, "cannot be read"),
        ("empty.jsonl", "", "holds no items"),
        ("list.jsonl", "[1]", "no object"),
        ("broken.jsonl", "{", "not a list of labelled items"),
        ("other.csv", "a,b\n1,2\n", "no text"),
    ],
)
def test_a_file_that_is_none_says_what_is_wrong(
    classify: Task, tmp_path: Path, name: str, content: str | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(ItemError, match=said):
        read_labelled(tmp_path / name, classify)
