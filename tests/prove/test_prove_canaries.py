"""A verdict says how well it could tell wrong from right, on the very model."""

from __future__ import annotations

import numpy as np
import pytest
from fabricate import evidence, measure

from likewise.prove.bounds import upper_rate
from likewise.prove.canaries import _for_few
from likewise.prove.evidence import Canaries
from likewise.prove.limits import limits_of
from likewise.prove.verdict import judge
from likewise.types import Outcome

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


EMULATION = "torch/cpu/float32/b16/t2/emulate=int8"


@pytest.mark.parametrize(("outcome", "alarms"), [("undecided", 0), ("outside", 1)])
def test_a_precision_at_the_edge_of_its_budget_does_not_stop_a_plan_that_rounds_less(
    outcome: Outcome, alarms: int
) -> None:
    seen = Canaries(CAUGHT, {**HONEST, EMULATION: outcome})
    verdict = judge(evidence(canaries=seen, canaries_asked=True))
    assert measure(verdict, "false_alarms").value == alarms
    assert verdict.outcome == ("undecided" if alarms else "equal")


@pytest.mark.parametrize("count", [24, 32])
def test_a_few_items_do_not_call_a_rate_of_flips_that_is_kept_too_high(count: int) -> None:
    """One flip of 32 is likely where 2 % may flip; a bound of 2 % cannot be shown of 32."""
    rng = np.random.default_rng(0)
    limits = _for_few(limits_of("int8", "standard"), count)["flips"]
    rate = limits_of("int8", "standard")["flips"].value
    bounds = [upper_rate(int(bad), count) for bad in rng.binomial(count, rate, 2000)]
    assert np.mean(np.array(bounds) <= limits.value) > 0.995
    assert upper_rate(count // 3, count) > limits.value
