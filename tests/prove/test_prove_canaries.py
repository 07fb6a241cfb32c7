"""A verdict says how well it could tell wrong from right, on the very model."""

from __future__ import annotations

import pytest
from fabricate import evidence, measure

from likewise.prove.evidence import Canaries
from likewise.prove.verdict import judge

CAUGHT = dict.fromkeys(("S03", "N01", "W03", "W11", "I01", "G02", "W04", "S07"), "outside")
HONEST = dict.fromkeys(("torch/cpu/float32/b16/t2", "torch/cpu/float64/b1/t2"), "equal")


@pytest.mark.parametrize(
    ("canaries", "reason"),
    [
        (None, "too few items have a reference"),
        (Canaries({"W11": "outside"}, HONEST), "only 1 faults could be planted"),
        (Canaries({**CAUGHT, "W11": "equal"}, HONEST), "1 of 8 planted faults passed: W11"),
        (Canaries(CAUGHT, {"torch/cpu/float64/b1/t2": "outside"}), "1 of 1 honest runs did not"),
        (Canaries(CAUGHT, {"torch/cpu/float64/b1/t2": "undecided"}), "1 of 1 honest runs did not"),
    ],
    ids=["none", "few", "missed", "false alarm", "doubt"],
)
def test_a_verdict_that_cannot_tell_wrong_from_right_here_is_undecided(
    canaries: Canaries | None, reason: str
) -> None:
    verdict = judge(evidence(canaries=canaries, canaries_asked=True))
    assert verdict.outcome == "undecided"
    assert reason in verdict.reasons[0]


def test_canaries_that_were_caught_are_counted() -> None:
    verdict = judge(evidence(canaries=Canaries(CAUGHT, HONEST), canaries_asked=True))
    assert verdict.outcome == "equal"
    assert (measure(verdict, "canaries_missed").n, measure(verdict, "false_alarms").n) == (8, 2)
