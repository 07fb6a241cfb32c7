"""Faults of our own measurement (group M), planted in our own code: no such verdict passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from opened import Opened, opened

from likewise.metrics import spread_error
from likewise.outcomes import Verdict
from likewise.prove.checks import finite
from likewise.prove.evidence import Canaries, Evidence
from likewise.prove.limits import Limit, Limits
from likewise.prove.pairs import Pairs
from likewise.prove.verdict import judge

PLAN = "torch/cpu/float32/b16/t1"
HONEST = ("torch/cpu/float32/b16/t1", "torch/cpu/float32/b3/t1")
FAULTS = ("S03", "N01", "W03", "W11", "I01", "I04", "G02", "W04")


@pytest.fixture(scope="module")
def runs(tiny: Callable[[str], Path]) -> dict[str, Evidence]:
    """Evidence of eight planted faults and of honest runs, made before any sabotage."""
    made: Opened = opened(tiny("bert_classifier"))
    faulty = {name: made.evidence(PLAN, fault=name) for name in FAULTS}
    return {**faulty, **{plan: made.evidence(plan) for plan in HONEST}}


def verdict(
    runs: dict[str, Evidence], spoil: Callable[[Evidence], Evidence] = lambda e: e
) -> Verdict:
    """Judge an honest plan, with its canaries, as ``prove`` does."""
    seen = {name: judge(spoil(made)).outcome for name, made in runs.items()}
    caught = {name: seen[name] for name in FAULTS}
    canaries = Canaries(caught, {plan: seen[plan] for plan in HONEST})
    return judge(spoil(replace(runs[PLAN], canaries=canaries, canaries_asked=True)))


def test_without_sabotage_the_plan_passes(runs: dict[str, Evidence]) -> None:
    assert verdict(runs).outcome == "equal"


def test_M01_a_candidate_compared_with_itself_never_passes(runs: dict[str, Evidence]) -> None:
    def itself(made: Evidence) -> Evidence:
        return replace(made, candidate=replace(made.yardstick, plan=made.candidate.plan))

    assert verdict(runs, itself).outcome == "undecided"


def test_M02_one_wrong_row_in_many_is_seen_whatever_the_mean_says(
    runs: dict[str, Evidence],
) -> None:
    made = runs[PLAN]
    rows = {name: array.copy() for name, array in made.candidate.arrays.items()}
    for array in rows.values():
        array[40] = array[41]
    spoilt = replace(made, candidate=replace(made.candidate, arrays=rows))
    pairs = next(iter(spoilt.judged.values()))
    assert np.median(pairs.amplification) < 3  # a middle sees nothing
    assert judge(spoilt).outcome == "outside"


def test_M03_a_nan_that_is_passed_over_never_passes(
    runs: dict[str, Evidence], monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = spread_error.rows
    monkeypatch.setattr(finite, "check", lambda _: [])
    monkeypatch.setattr(spread_error, "rows", lambda *a, **k: np.nan_to_num(honest(*a, **k)))
    missed = replace(runs["N01"], canaries=None, canaries_asked=False)
    assert judge(missed).outcome != "equal"
    assert verdict(runs).outcome == "equal"  # the honest plan itself: its canary was caught


def test_M05_a_tolerance_from_the_candidates_own_error_never_passes(
    runs: dict[str, Evidence], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Pairs.__init__

    def lenient(pairs: Pairs, *args: object, **more: object) -> None:
        made(pairs, *args, **more)
        object.__setattr__(pairs, "honest", (pairs.candidate[pairs.known],))

    monkeypatch.setattr(Pairs, "__init__", lenient)
    assert judge(runs["W11"]).outcome == "outside"  # the limits of its class need no noise
    assert {judge(runs[name]).outcome for name in FAULTS} == {"outside"}


def test_M06_limits_that_nothing_exceeds_never_pass(
    runs: dict[str, Evidence], monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(limits: Limits, name: str) -> Limit:
        return replace(limits.table[name], value=float("inf"))

    monkeypatch.setattr(Limits, "__getitem__", endless)
    assert verdict(runs).outcome == "undecided"


def test_M10_what_is_patched_in_this_process_does_not_reach_the_reference(
    tiny: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from likewise.prove.proof import prepare
    from likewise.prove.subject import open_subject
    from likewise.settings import Proof, Settings

    made: list[np.ndarray] = []
    for name in ("clean", "patched"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
        settings = Settings(proof=Proof(items=64, truth_items=24))
        subject = open_subject(tiny("bert_classifier"), items=None, settings=settings)
        truth = prepare(subject).references.truth
        assert truth is not None
        made.append(truth.arrays["logits"])
        monkeypatch.setattr(torch.nn.functional, "gelu", torch.nn.functional.relu)
    assert np.array_equal(*made)


def test_a_check_that_is_gone_is_missed(
    runs: dict[str, Evidence], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every gate that a canary is there for is needed: without the first, some pass."""
    from likewise.prove.checks import faithful, flips

    for check in (faithful, flips):
        monkeypatch.setattr(check, "check", lambda _: [])
    assert verdict(runs).outcome == "undecided"
