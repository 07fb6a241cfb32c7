"""From a folder and a plan to a verdict; children run here, in this process, unless said."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from here import Here, stand_in

import likewise
from likewise.errors import ItemError, PlanError, RefusedError
from likewise.prove.proof import prepare, prove, prove_plan
from likewise.prove.subject import open_subject
from likewise.settings import Proof, Settings
from likewise.types import Plan

PLAN = Plan.parse("torch/cpu/float32/b16/t1")
FEW = Settings(proof=Proof(items=64, truth_items=24))

Tiny = Callable[[str], Path]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    """Children run here; what one test made, the next one reuses."""
    return stand_in(monkeypatch)


@pytest.fixture
def fresh(here: Here, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    """The same, with an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return here


@pytest.fixture
def folder(tiny: Tiny) -> Path:
    return tiny("bert_classifier")


def test_a_plan_is_proven_and_its_runs_are_kept(fresh: Here, folder: Path) -> None:
    context = prepare(open_subject(folder, items=None, settings=FEW))
    first = prove_plan(context, PLAN)
    assert first.verdict.outcome == "equal", first.verdict.reasons
    assert not first.reused
    # Yardstick, truth, candidate, and one process for all canaries.
    told = [Plan.parse(p) for p in fresh.plans if "fault=" not in p]
    assert [p.dtype for p in told[:3]] == ["float32", "float64", "float32"]
    made = len(fresh.plans)
    again = prepare(open_subject(folder, items=None, settings=FEW))
    second = prove_plan(again, PLAN)
    assert again.references.reused
    assert second.reused
    assert second.verdict == first.verdict
    assert len(fresh.plans) == made


def test_what_was_tried_and_compared_with_is_told_in_json(here: Here, folder: Path) -> None:
    context = prepare(open_subject(folder, items=None, settings=FEW))
    probes, references = context.probes_facts(), context.references_facts()
    assert json.loads(json.dumps([probes, references]))
    assert probes["n"] == 67
    assert sum(probes["classes"].values()) == 67
    assert references["yardstick"]["n"] == 67
    assert 24 <= references["truth"]["n"] < 67
    assert references["truth"]["loading"]["seed"] != references["yardstick"]["loading"]["seed"]
    assert references["truth"]["repeat_equal"] is True


def test_a_changed_file_is_not_mistaken_for_the_old_one(
    here: Here, folder: Path, tmp_path: Path
) -> None:
    prepare(open_subject(folder, items=None, settings=FEW))
    copy = Path(shutil.copytree(folder, tmp_path / "model"))
    assert prepare(open_subject(copy, items=None, settings=FEW)).references.reused
    (copy / "tokenizer_config.json").write_text("{}")
    assert not prepare(open_subject(copy, items=None, settings=FEW)).references.reused


@pytest.mark.parametrize(
    "text", ["torch/cpu/float32/b1/t2", "torch/cpu/float32/b1/t1/seed=3", "torch/cpu/float64/b1/t2"]
)
def test_the_reference_is_not_compared_with_itself(here: Here, folder: Path, text: str) -> None:
    with pytest.raises(RefusedError, match="is the reference itself"):
        prove(folder, text, settings=FEW)
    assert here.plans == []


def test_without_float64_honest_runs_give_the_noise(fresh: Here, folder: Path) -> None:
    fresh.failing = "float64"
    context = prepare(open_subject(folder, items=None, settings=FEW))
    made = context.references
    assert made.truth is None
    assert "not enough memory" in made.truth_missing
    assert "not enough memory" in context.references_facts()["truth"]["missing"]
    assert made.variants
    verdict = prove_plan(context, Plan.parse("torch/cpu/float32/b7/t1")).verdict
    assert verdict.outcome == "equal", verdict.reasons
    assert verdict.noise_floor > 0


def test_without_a_yardstick_nothing_is_proven(fresh: Here, folder: Path) -> None:
    fresh.failing = "torch/cpu/float32/b1"
    with pytest.raises(RefusedError, match="not enough memory"):
        prepare(open_subject(folder, items=None, settings=FEW))


def test_a_plan_that_fails_is_refused_and_tried_again_next_time(fresh: Here, folder: Path) -> None:
    context = prepare(open_subject(folder, items=None, settings=FEW))
    fresh.failing = "b16"
    with pytest.raises(RefusedError, match="not enough memory"):
        prove_plan(context, PLAN)
    fresh.failing = ""
    assert prove_plan(context, PLAN).verdict.passes


def test_a_planted_fault_is_named_by_the_plan(here: Here, folder: Path) -> None:
    verdict = prove(folder, f"{PLAN}/fault=W11", settings=FEW)
    assert verdict.outcome == "outside"
    assert "times further from float64" in verdict.reasons[0]
    assert len(verdict.worst) == 5
    assert verdict.worst[0].reference["labels"]


def test_an_unknown_fault_says_which_there_are(here: Here, folder: Path) -> None:
    with pytest.raises(likewise.LikewiseError, match="'W99' is not a fault"):
        prove(folder, f"{PLAN}/fault=W99", settings=FEW)


def test_the_users_own_items_are_judged(here: Here, folder: Path) -> None:
    items = [f"the price of item {n} is {n * 7}" for n in range(70)]
    verdict = prove(folder, PLAN, items=items, settings=FEW)
    assert verdict.n == 70
    assert "70 own" in verdict.scope


def test_a_handful_of_items_is_undecided(here: Here, folder: Path) -> None:
    verdict = prove(folder, PLAN, items=["one text", "another text", "a third"], settings=FEW)
    assert verdict.outcome == "undecided"
    assert any("only 3 items" in reason for reason in verdict.reasons)


def test_no_items_at_all_is_an_error(here: Here, folder: Path) -> None:
    with pytest.raises(ItemError, match="no items"):
        prove(folder, PLAN, items=[], settings=FEW)


def test_what_is_no_plan_is_an_error(folder: Path) -> None:
    with pytest.raises(PlanError, match="not a plan"):
        prove(folder, "onnx")


def test_progress_is_told(here: Here, folder: Path) -> None:
    told: list[tuple[str, str]] = []
    prove(folder, PLAN, settings=FEW, progress=lambda phase, detail: told.append((phase, detail)))
    assert [phase for phase, _ in told] == ["reference", "reference", "prove"]


def test_the_room_answers_a_call(here: Here, folder: Path) -> None:
    act: Any = likewise.prove
    assert act(folder, str(PLAN), settings=FEW).passes


@pytest.mark.slow
def test_fresh_processes_give_the_same_verdict(tiny: Tiny) -> None:
    assert prove(tiny("bert_classifier"), PLAN, settings=FEW).outcome == "equal"
