"""One plan in a process of its own, and in this one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from likewise.errors import FolderError, RefusedError, TaskError
from likewise.run.child import run_here
from likewise.run.items import fingerprint, save_items
from likewise.run.opening import open_runner
from likewise.run.process import Job, run_job
from likewise.run.store import load_run
from likewise.settings import Overrides
from likewise.types import Plan

Tiny = Callable[[str], Path]
PLAN = "torch/cpu/float32/b4/t1"
TEXTS = ["the moon", "a river and a long road to the old town", "", "cold cold rain", "sun"]


@pytest.fixture
def job(tiny: Tiny, tmp_path: Path) -> Callable[..., Job]:
    """Return job(**changes): TEXTS through the tiny classifier."""
    save_items(TEXTS, tmp_path / "items")

    def make(**changes: object) -> Job:
        values = {
            "source": str(tiny("bert_classifier")),
            "plan": PLAN,
            "items": str(tmp_path / "items"),
            "out": str(tmp_path / "out"),
        }
        return Job(**{**values, **changes})  # type: ignore[arg-type]  # the tests know the fields

    return make


def test_a_fresh_process_gives_what_this_one_gives(job: Callable[..., Job], tiny: Tiny) -> None:
    run = run_job(job(repeat=2, top=1), timeout=120)
    with open_runner(tiny("bert_classifier"), plan=Plan.parse(PLAN)) as runner:
        here = runner.run(TEXTS, top=1)
    assert run.answers == here.answers
    assert np.array_equal(run.arrays["logits"], here.arrays["logits"])
    assert run.items_fingerprint == fingerprint(TEXTS)
    assert run.plan == Plan.parse(PLAN)
    assert run.facts["repeat_equal"] is True
    seconds = run.facts["process"]
    assert 0 < seconds["open_seconds"] <= seconds["first_result_seconds"] < 120
    assert 10**8 < seconds["peak_bytes"] < 10**10


def test_what_the_child_finds_wrong_is_this_ones_refusal(job: Callable[..., Job]) -> None:
    with pytest.raises(RefusedError, match="'abacus' is not a device"):
        run_job(job(plan="torch/abacus/float32/b4/t1"), timeout=60)
    with pytest.raises(RefusedError, match="There is no folder"):
        run_job(job(source="/no/such/folder"), timeout=60)


def test_without_arrays_the_answers_stay(job: Callable[..., Job], tmp_path: Path) -> None:
    run_here(job(keep=False))
    run = load_run(tmp_path / "out")
    assert run.arrays == {}
    assert len(run.answers) == len(TEXTS)
    assert "repeat_equal" not in run.facts


def test_overrides_and_task_reach_the_runner(job: Callable[..., Job], tmp_path: Path) -> None:
    run_here(job(overrides=Overrides(labels=("x", "y", "z")), task="classify", top=3))
    answer = load_run(tmp_path / "out").answers[0]
    assert {label["label"] for label in answer["labels"]} == {"x", "y", "z"}
    with pytest.raises(TaskError):
        run_here(job(task="fillmask"))


def test_the_seed_of_loading_changes_nothing(job: Callable[..., Job], tmp_path: Path) -> None:
    runs = []
    for seed in (0, 7):
        run_here(job(seed=seed))
        runs.append(load_run(tmp_path / "out"))
    assert [run.facts["loading"]["seed"] for run in runs] == [0, 7]
    assert runs[0].arrays["logits"].tobytes() == runs[1].arrays["logits"].tobytes()
    assert runs[0].plan == runs[1].plan


def test_the_plans_own_seed_goes_first(job: Callable[..., Job], tmp_path: Path) -> None:
    run_here(job(plan=f"{PLAN}/seed=5", seed=7))
    run = load_run(tmp_path / "out")
    assert run.facts["loading"]["seed"] == 5
    assert str(run.plan) == f"{PLAN}/seed=5"


def test_a_folder_that_is_not_there_is_an_error_of_its_own_here() -> None:
    with pytest.raises(FolderError):
        open_runner("/no/such/folder", plan=Plan.parse(PLAN))
