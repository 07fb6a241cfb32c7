"""Gate 3: an item's answer does not depend on its neighbours, whatever the reference says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabricate import evidence, told
from opened import opened

from likewise.prove.verdict import judge
from likewise.run.company import in_company
from likewise.run.opening import open_runner
from likewise.types import Plan

Tiny = Callable[[str], Path]
PLAN = Plan.parse("torch/cpu/float32/b16/t1")
ENGINES = ("torch", "onnx", "openvino")


def entries(folder: Path, plan: str, items: Sequence[Any]) -> dict[str, dict[str, Any]]:
    with open_runner(folder, plan=Plan.parse(plan)) as runner:
        return {e["name"]: e for e in in_company(runner, runner.run(items), items)}


@pytest.mark.parametrize("engine", ENGINES)
def test_some_items_run_again_in_every_company(tiny: Tiny, engine: str) -> None:
    probes = opened(tiny("bert_classifier"), 67).probes
    made = entries(
        tiny("bert_classifier"), f"{engine}/cpu/float32/b16/t1", [p.item for p in probes]
    )
    assert {
        "alone", "batch_2", "batch_3", "batch_7", "batch_8", "batch_16", "reordered",
        "beside_longest", "longer_text", "two_threads", "again",
    } == set(made)  # fmt: skip
    assert len(made["batch_16"]["items"]) == 16
    assert max(m for entry in made.values() for m in entry["moved"]) < 1e-5


@pytest.mark.parametrize("engine", ENGINES)
def test_two_threads_get_their_own_answers(tiny: Tiny, engine: str) -> None:
    items = [f"text number {n} of [MASK]" for n in range(24)]
    for _ in range(3):
        made = entries(tiny("bert_fillmask"), f"{engine}/cpu/float32/b4/t1", items)
        assert max(made["two_threads"]["moved"]) < 1e-4  # of logits over a whole vocabulary


def test_a_plan_of_single_items_has_no_batches(tiny: Tiny) -> None:
    made = entries(tiny("bert_classifier"), "torch/cpu/float32/b1/t1", ["a", "b c", "d e f"])
    assert set(made) == {"alone", "two_threads", "again"}


def test_nothing_is_compared_where_no_item_has_an_answer(tiny: Tiny) -> None:
    assert entries(tiny("bert_classifier"), str(PLAN), [None, "\ud800"]) == {}


def test_what_moved_is_held_to_honest_noise() -> None:
    floor = 1e-6
    still = {"name": "batch_7", "output": "logits", "items": [1, 2], "moved": [0.0, floor]}
    assert judge(told(evidence(), "candidate", company=[still])).outcome == "equal"
    moved = {**still, "moved": [0.0, 0.1]}
    verdict = judge(told(evidence(), "candidate", company=[moved]))
    assert verdict.outcome == "outside"
    assert "in a batch of 7, item 2 moves by" in verdict.reasons[0]
    verdict = judge(told(evidence(), "candidate", company=[{**still, "moved": [0.0, None]}]))
    assert verdict.outcome == "outside"


@pytest.mark.parametrize(
    ("times", "outcome"), [(8, "equal"), (12, "undecided"), (20, "undecided"), (40, "outside")]
)
def test_ten_times_the_noise_is_not_passed_and_thirty_times_fails(times: int, outcome: str) -> None:
    made = evidence()
    noise = made.judged["logits"].distances[2]
    entry = {"name": "batch_7", "output": "logits", "items": [2], "moved": [times * noise]}
    assert judge(told(made, "candidate", company=[entry])).outcome == outcome


@pytest.mark.parametrize(
    ("fault", "ways"),
    [("S08", "batch_2"), ("I01", "beside_longest"), ("S14", "alone"), ("S13", "again")],
)
def test_a_fault_of_neighbours_or_of_kept_state_shows(tiny: Tiny, fault: str, ways: str) -> None:
    made = opened(tiny("bert_classifier"), 67).evidence(str(PLAN), fault=fault)
    verdict = judge(replace(made, truth=made.truth))
    failed = {m.metric for m in verdict.measures if m.gate == "G3" and m.holds is False}
    assert ways in failed
    assert np.isfinite([m.value for m in verdict.measures if m.metric == ways]).all()
