"""The choice: the fastest plan that passed, and nothing that was not measured."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from likewise.outcomes import Entry, Samples, Timing, Verdict
from likewise.port.choice import choose


def samples(seconds: float, width: float = 0.01) -> Samples:
    return Samples(
        (seconds,) * 5, (), 10, 5, seconds, seconds, None,
        seconds * (1 - width), seconds * (1 + width),
    )  # fmt: skip


def entry(
    plan: str,
    outcome: str,
    *,
    pass_seconds: float | None = None,
    error: float = 1e-7,
    peak_bytes: int = 1,
) -> Entry:
    verdict = Verdict(
        outcome=outcome, measures=(), n=256, decisive=None, noise_floor=None, reference="r",
        candidate=plan, budget="standard", reasons=(), errors=(error,),
    )  # fmt: skip
    timing = None
    if pass_seconds is not None:
        one = samples(pass_seconds)
        timing = Timing(
            plan=plan, workload={}, offline=one, single=samples(pass_seconds / 5),
            items_per_second=10 / pass_seconds, phases={}, open_seconds=1.0,
            first_result_seconds=1.1, peak_bytes=peak_bytes, doubts=(),
        )  # fmt: skip
    return Entry(plan, verdict=verdict, timing=timing)


def test_the_fastest_plan_that_passed_is_chosen():
    chosen = choose(
        [entry("slow", "equal", pass_seconds=2), entry("fast", "within", pass_seconds=1)],
        goal="throughput",
    )
    assert chosen.plan == "fast"
    assert chosen.ranking == ("fast", "slow")


def test_a_faster_plan_that_is_outside_is_never_chosen():
    chosen = choose(
        [entry("wrong", "outside", pass_seconds=0.1), entry("right", "equal", pass_seconds=9)],
        goal="throughput",
    )
    assert chosen.plan == "right"
    assert "wrong" not in chosen.ranking + chosen.front


def test_an_undecided_plan_is_never_chosen():
    assert choose([entry("who knows", "undecided", pass_seconds=1)], goal="throughput").plan is None


def test_a_plan_that_was_not_timed_is_never_chosen():
    chosen = choose([entry("untimed", "equal")], goal="throughput")
    assert chosen.plan is None
    assert "1 passed but not timed" in chosen.reason


def test_where_nothing_passed_the_reason_counts_what_happened():
    chosen = choose(
        [Entry("a", refusal="not here"), entry("b", "outside", pass_seconds=1)], goal="latency"
    )
    assert chosen.plan is None
    assert "1 refused" in chosen.reason
    assert "1 outside" in chosen.reason


def test_overlapping_intervals_are_called_a_draw():
    chosen = choose(
        [entry("a", "equal", pass_seconds=1.0), entry("b", "equal", pass_seconds=1.001)],
        goal="throughput",
    )
    assert "draw" in chosen.reason


def test_in_a_draw_the_plan_that_takes_least_memory_is_chosen():
    chosen = choose(
        [
            entry("fastest by nothing", "equal", pass_seconds=1.0, peak_bytes=381),
            entry("small", "equal", pass_seconds=1.001, peak_bytes=293),
            entry("slow and tiny", "equal", pass_seconds=2.0, peak_bytes=7),
        ],
        goal="throughput",
    )
    assert chosen.ranking == ("small", "fastest by nothing", "slow and tiny")
    assert chosen.plan == "small"
    assert "draw with fastest by nothing (" in chosen.reason
    assert "least memory" in chosen.reason


def test_memory_does_not_decide_where_the_samples_show_a_difference():
    chosen = choose(
        [
            entry("fast", "equal", pass_seconds=1.0, peak_bytes=381),
            entry("small", "equal", pass_seconds=1.1, peak_bytes=293),
        ],
        goal="latency",
    )
    assert chosen.plan == "fast"
    assert "1.10x the next, small" in chosen.reason


@given(st.lists(st.tuples(st.floats(0.01, 10), st.floats(1e-9, 1e-1)), min_size=1, max_size=8))
def test_no_plan_on_the_front_is_beaten_on_both_speed_and_error(pairs):
    entries = [entry(f"p{i}", "equal", pass_seconds=s, error=e) for i, (s, e) in enumerate(pairs)]
    front = set(choose(entries, goal="throughput").front)
    assert front
    for one in front:
        s, e = pairs[int(one[1:])]
        assert not any(t < s and f < e for t, f in pairs)
