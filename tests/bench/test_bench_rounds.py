"""Plans timed in turns, each in a process of its own; some of which fail."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

import likewise
from likewise.bench import rounds
from likewise.bench.machine import cores
from likewise.bench.rounds import INTERRUPTED, bench, time_plans
from likewise.bench.stats import interval
from likewise.errors import ItemError, RefusedError
from likewise.outcomes import Timing
from likewise.settings import Bench, Settings
from likewise.types import Plan

QUICK = Settings(
    bench=Bench(
        seconds=0.0, most_seconds=60.0, passes=7, width=99.0, pass_seconds=0.001, timeout_seconds=60
    )
)
TEXTS = [f"bitcoin price {n} today" * (1 + n % 5) for n in range(40)]
A, B, C = (Plan.parse(f"lame/cpu/float32/b8/t1/as={word}") for word in "ABC")


def acting(act: str, *, after: int = 1, plan: Plan = B) -> Plan:
    """Return the plan, told to do something wrong at its so many-th batch."""
    return replace(plan, extras=tuple(sorted((*plan.extras, f"act={act}", f"after={after}"))))


@pytest.fixture
def model(tiny: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a classifier's folder of this test's own; the engine ``lame`` is installed."""
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    shutil.copy(Path(__file__).parent / "lame.py", plugins)
    about = plugins / "lame-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: lame\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[likewise.engines]\nlame = lame\n")
    monkeypatch.setenv("PYTHONPATH", str(plugins))
    return Path(shutil.copytree(tiny("bert_classifier"), tmp_path / "model"))


def turns(model: Path) -> list[tuple[str, int]]:
    """Return (plan, batches) of each stretch in which one plan was running."""
    lines = (model / "turns.txt").read_text().split("\n")[:-1]
    return [(who, len(list(same))) for who, same in groupby(line.split()[0] for line in lines)]


def children() -> list[str]:
    """Return the command lines of this process's children that time something."""
    listed = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "args="],
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in listed.stdout.splitlines() if "likewise.bench.child" in line]


def timed(result: Timing | RefusedError) -> Timing:
    assert isinstance(result, Timing)
    return result


def test_plans_take_turns_over_the_same_work(model: Path) -> None:
    results = time_plans(model, [A, B, C, A], settings=QUICK, items=TEXTS)
    first, *others = (timed(results[plan]) for plan in (A, B, C))
    assert [other.workload for other in others] == [first.workload] * 2
    order = [who for who, _ in turns(model)]
    assert order == [*"ABC"] * (len(order) // 3)  # opening and warming up, then the rounds
    assert len(order) // 3 >= 1 + first.offline.n
    # Later rounds hold fewer scenarios once one of them has enough; the first holds both for all.
    assert len({batches for _, batches in turns(model)[3:6]}) == 1
    assert children() == []


def test_a_timing_says_what_it_rests_on_and_every_figure_follows_from_it(model: Path) -> None:
    timing = timed(time_plans(model, [A], settings=QUICK, items=TEXTS)[A])
    for samples in (timing.offline, timing.single):
        assert samples.n == len(samples.seconds)
        assert samples.median == np.median(samples.seconds)
        assert samples.p90 == np.percentile(samples.seconds, 90)
        assert (samples.low, samples.high) == interval(samples.seconds)
        assert samples.warmups
    assert timing.offline.n >= 7
    assert timing.single.n >= 30
    assert timing.offline.items == timing.workload["items"]
    assert timing.items_per_second == timing.workload["items"] / timing.offline.median
    assert 0 < timing.open_seconds < timing.first_result_seconds < 60
    assert set(timing.phases) == {"encode", "compute", "finish"}
    assert 0 < sum(timing.phases.values()) <= 1
    assert timing.peak_bytes > 1 << 24
    assert timing.facts["engine"] == "lame"
    assert timing.workload["tokens"]["max"] >= timing.workload["tokens"]["median"] > 0
    json.dumps([timing.workload, dict(timing.facts), timing.doubts], allow_nan=False)


def test_plans_that_fail_are_refused_with_the_reason_and_the_rest_goes_on(model: Path) -> None:
    reasons = {
        "refuse": "it was told to refuse",
        "raise": "a mood",
        "crash": "SIGSEGV",
        "die": "out of memory",
    }
    bad = {acting(act, after=20): found for act, found in reasons.items()}
    results = time_plans(model, [*bad, A], settings=QUICK, items=TEXTS[:16])
    for plan, found in bad.items():
        assert isinstance(results[plan], RefusedError)
        assert found in str(results[plan])
    assert timed(results[A]).offline.n >= 7
    assert children() == []


def test_a_plan_that_hangs_on_opening_is_ended_when_its_time_is_up(model: Path) -> None:
    quick = Settings(bench=replace(QUICK.bench, timeout_seconds=2.0))
    [refusal] = time_plans(model, [acting("hang")], settings=quick, items=TEXTS[:16]).values()
    assert "took longer than it may" in str(refusal)
    assert "bench.timeout_seconds" in str(refusal)
    assert children() == []


def test_a_plan_that_hangs_in_a_round_is_ended_and_the_rest_goes_on(model: Path) -> None:
    bad = acting("hang", after=30)
    quick = Settings(bench=replace(QUICK.bench, timeout_seconds=5.0))
    results = time_plans(model, [A, bad], settings=quick, items=TEXTS[:16])
    assert "took longer than it may" in str(results[bad])
    assert timed(results[A]).offline.n >= 7
    assert children() == []


def test_a_crash_on_closing_costs_a_word_and_not_the_timing(model: Path) -> None:
    bad = acting("close")
    timing = timed(time_plans(model, [bad], settings=QUICK, items=TEXTS[:16])[bad])
    assert any("ended with -11 when closing" in doubt for doubt in timing.doubts)


def test_what_a_library_prints_does_not_disturb_the_protocol(model: Path) -> None:
    loud = acting("chatter", after=3)
    timing = timed(time_plans(model, [loud], settings=QUICK, items=TEXTS[:16])[loud])
    assert min(timing.offline.seconds) > 0


def test_items_without_an_answer_are_a_doubt(model: Path) -> None:
    broken = acting("nan")
    timing = timed(time_plans(model, [broken], settings=QUICK, items=TEXTS[:16])[broken])
    assert any("16 of 16 items have no answer" in doubt for doubt in timing.doubts)


def test_what_is_built_once_a_model_is_no_part_of_a_cold_start(model: Path) -> None:
    building = acting("build")
    timed(time_plans(model, [building], settings=QUICK, items=TEXTS[:16])[building])
    timed(time_plans(model, [building], settings=QUICK, items=TEXTS[:16])[building])
    assert (model / "opens.txt").read_text().split() == ["missing", "found", "found"]


def test_plans_that_do_not_fit_together_are_timed_one_after_another_and_say_so(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "crowding", lambda *_: "too large together: end other programs")
    results = time_plans(model, [A, B], settings=QUICK, items=TEXTS[:16])
    assert [who for who, _ in turns(model)] == ["A", "B"]
    for plan in (A, B):
        assert "too large together: end other programs" in timed(results[plan]).doubts


@pytest.mark.parametrize(("interrupted", "complete"), [("round 9", True), ("round 2", False)])
def test_ctrl_c_keeps_what_is_complete_enough(
    model: Path, interrupted: str, complete: bool
) -> None:
    def progress(phase: str, detail: str) -> None:
        if detail.startswith(interrupted):
            raise KeyboardInterrupt

    longer = Settings(bench=replace(QUICK.bench, passes=20))
    results = time_plans(model, [A, B], settings=longer, items=TEXTS[:16], progress=progress)
    assert set(results) == ({A, B} if complete else set())
    for timing in results.values():
        assert INTERRUPTED in timed(timing).doubts
    assert children() == []


def test_few_items_and_many_threads_are_doubts(model: Path) -> None:
    crowd = Plan.parse(f"lame/cpu/float32/b8/t{cores() + 1}/as=A")
    timing = timed(time_plans(model, [crowd], settings=QUICK, items=["one", "one"])[crowd])
    assert timing.workload["items"] == 2
    assert timing.workload["distinct"] == 1
    assert any("a pass is only 2 item(s)" in doubt for doubt in timing.doubts)
    assert any(f"{cores() + 1} threads on" in doubt for doubt in timing.doubts)


def test_a_heavy_parent_does_not_weigh_on_its_child(model: Path) -> None:
    weight = np.ones(1 << 26)  # 512 MiB, touched
    timing = timed(time_plans(model, [A], settings=QUICK, items=TEXTS[:16])[A])
    assert timing.peak_bytes < weight.nbytes


def test_bench_times_one_plan_or_says_why_not(model: Path) -> None:
    assert likewise.bench(model, A, settings=QUICK, items=TEXTS[:16]).plan == str(A)
    with pytest.raises(RefusedError, match="lame/cpu"):
        bench(model, acting("refuse"), settings=QUICK, items=TEXTS[:16])
    with pytest.raises(ItemError, match="nothing to time on"):
        bench(model, A, settings=QUICK, items=[])


def test_bench_interrupted_too_early_has_nothing_to_give(model: Path) -> None:
    def progress(phase: str, detail: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench(model, A, settings=QUICK, items=TEXTS[:16], progress=progress)


def test_the_built_in_workload_suits_the_task_and_its_lengths_are_stated(model: Path) -> None:
    short = Settings(bench=replace(QUICK.bench, workload="short"))
    timing = bench(model, A, settings=short)
    assert timing.workload["name"] == "short"
    assert timing.workload["items"] >= 16
    assert 0 < timing.workload["tokens"]["median"] <= timing.workload["tokens"]["max"] <= 64


def test_a_real_engine_is_timed(tiny: Callable[[str], Path]) -> None:
    plan = Plan.parse("torch/cpu/float32/b16/t1")
    timing = bench(tiny("bert_classifier"), plan, settings=QUICK, items=TEXTS[:16])
    assert timing.facts["engine"] == "torch"
    assert timing.offline.n >= 7
    assert timing.open_seconds < timing.first_result_seconds
