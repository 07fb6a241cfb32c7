"""When a plan is warm, when it has enough, and what is said of its work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from likewise.bench.lane import MOST_WARMUPS, Lane, Scenario, Size
from likewise.bench.workload import Workload
from likewise.outcomes import Timing
from likewise.settings import Bench
from likewise.types import Plan

ASKED = Bench(seconds=6.0, most_seconds=20.0, passes=7, width=0.05)
WORK = Workload("own items", tuple(str(n) for n in range(32)))


class Script:
    """A process whose passes take the seconds it was given."""

    peak_bytes = 1 << 30

    def __init__(self, passes: Iterator[float], *, late: float, padding: float) -> None:
        self.passes = passes
        self.late = late
        self.facts = {"batching": {"padding_share": padding}}

    def ask(self, command: str) -> tuple[dict[str, Any], float]:
        word, _, count = command.partition(" ")
        if word == "single":
            return {"wake": 0.1, "seconds": [0.1] * int(count)}, 0.1 * (int(count) + 1)
        seconds = next(self.passes)
        look = {
            "phases": {"compute": seconds / 2},
            "tokens": {},
            "problems": 0,
            "facts": self.facts,
        }
        return {"seconds": seconds, **(look if word == "look" else {})}, seconds + self.late


def lane_of(*passes: float, late: float = 0.0, padding: float = 0.1) -> Lane:
    process: Any = Script(iter(passes), late=late, padding=padding)
    opened = {"open_seconds": 1.0, "first_result_seconds": 1.2}
    plan = Plan("onnx", "cpu", "float32", 16, 2)
    return Lane.of(plan, process, ASKED, Size(16, 16), opened)


def test_a_plan_is_warm_when_it_gets_no_faster() -> None:
    lane = lane_of(3.0, 2.0, 1.0, 1.01, 0.99, 7.0)
    lane.warm_up()
    assert lane.offline.warmups == [3.0, 2.0, 1.0, 1.01, 0.99]
    assert lane.doubts == []


@pytest.mark.parametrize("passes", [[15.0, 10.0], [0.9**n for n in range(MOST_WARMUPS)]])
def test_a_plan_that_never_gets_warm_is_timed_with_a_doubt(passes: list[float]) -> None:
    lane = lane_of(*passes)
    lane.warm_up()
    assert lane.offline.warmups == passes
    [doubt] = lane.doubts
    assert f"not known to be steady after {len(passes)} warm-up pass(es): raise" in doubt


def timed(lane: Lane) -> Timing:
    lane.warm_up()
    for _ in range(7):
        lane.turn("offline")
        lane.turn("single")
    return lane.timing(WORK)


def test_the_last_warm_up_pass_tells_the_shares_of_the_phases() -> None:
    timing = timed(lane_of(*[1.0] * 10))
    assert timing.phases == {"compute": 0.5}
    assert timing.items_per_second == 16.0
    assert timing.peak_bytes == 1 << 30
    assert len(timing.single.warmups) == 1 + 16 + 7  # a block, and one call before every block
    assert timing.doubts == ()


def test_time_that_no_figure_holds_is_a_doubt() -> None:
    [doubt] = timed(lane_of(*[1.0] * 10, late=0.5)).doubts
    assert "16% of the time until answers came is not in the figures" in doubt


def test_padding_that_a_longer_job_would_not_have_is_a_doubt() -> None:
    [doubt] = timed(lane_of(*[1.0] * 10, padding=0.75)).doubts
    assert "a pass of 16 items leaves 75% padding" in doubt


@pytest.mark.parametrize(
    ("seconds", "enough", "full"),
    [
        ([], False, False),
        ([1.0] * 6, False, False),  # passes
        ([0.5] * 7, False, False),  # seconds
        ([1.0, 1.1] * 4, False, False),  # width
        ([1.0] * 7, True, False),
        ([1.0, 1.1] * 10, False, True),
        ([15.0] * 2, False, False),  # no timing rests on two samples
        ([15.0] * 3, False, True),
    ],
)
def test_a_scenario_has_enough_by_count_and_time_and_width_and_is_full_by_time(
    seconds: list[float], enough: bool, full: bool
) -> None:
    scenario = Scenario("offline", ASKED.passes, 16, 1, seconds=seconds)
    assert scenario.enough(ASKED) is enough
    assert scenario.full(ASKED) is full
