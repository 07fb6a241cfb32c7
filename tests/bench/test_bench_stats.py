"""Figures that follow from raw seconds."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from likewise.bench.stats import (
    coverage,
    interval,
    is_steady,
    passes_of,
    relative,
    steady_from,
    summarise,
    width,
)
from likewise.errors import ShapeError

seconds = st.floats(1e-6, 1e4)
timings = st.lists(seconds, min_size=1, max_size=250)


@given(timings, st.lists(seconds, max_size=5), st.integers(1, 20))
def test_every_figure_can_be_recomputed_from_the_raw_samples(
    taken: list[float], warmups: list[float], cycle: int
) -> None:
    samples = summarise(taken, warmups=warmups, items=8, cycle=cycle)
    again = summarise(samples.seconds, items=8, cycle=len(taken))  # one cycle: nothing dropped
    assert [*samples.warmups, *samples.seconds] == [*warmups, *taken]
    assert samples.n == len(samples.seconds) == again.n
    assert samples.median == np.median(samples.seconds)
    assert samples.p90 == np.percentile(samples.seconds, 90)
    assert (samples.low, samples.high) == interval(samples.seconds)
    assert (again.median, again.p90, again.p99) == (samples.median, samples.p90, samples.p99)


@given(timings)
def test_the_median_lies_in_its_interval_and_the_interval_in_the_samples(
    taken: list[float],
) -> None:
    low, high = interval(taken)
    assert min(taken) <= low <= np.median(taken) <= high <= max(taken)


@given(timings, st.randoms())
def test_order_does_not_change_the_interval(taken: list[float], random: Random) -> None:
    shuffled = random.sample(taken, len(taken))
    assert interval(shuffled) == interval(taken)


@pytest.mark.parametrize("n", [*range(6, 60), 100, 999, 1001, 5000])
def test_the_interval_is_the_narrowest_symmetric_one_that_covers_95_percent(n: int) -> None:
    rank = int(interval(range(1, n + 1))[0])
    covered = 1 - 2 * binom.cdf(rank - 1, n, 0.5)
    narrower = 1 - 2 * binom.cdf(rank, n, 0.5)
    assert coverage(n) == pytest.approx(covered, abs=1e-9)
    assert narrower < 0.95 <= covered


def test_the_interval_holds_the_true_median_of_a_skewed_distribution_as_often_as_it_says() -> None:
    random = np.random.default_rng(5)
    true = math.log(2)
    held = [low <= true <= high for low, high in map(interval, random.exponential(size=(2000, 15)))]
    assert np.mean(held) == pytest.approx(coverage(15), abs=0.015)


@pytest.mark.parametrize("n", range(1, 6))
def test_under_six_samples_the_interval_is_the_range_and_covers_less(n: int) -> None:
    assert interval(range(n)) == (0, n - 1)
    assert coverage(n) < 0.95
    assert width([1.0] * n) == math.inf


def test_a_99th_percentile_needs_a_hundred_samples() -> None:
    assert summarise([1.0] * 99).p99 is None
    assert summarise([1.0] * 100).p99 == 1.0


def test_nothing_measured_is_no_timing() -> None:
    with pytest.raises(ShapeError, match="at least one sample"):
        summarise([])


def test_slow_first_calls_are_warm_up_and_not_in_the_figures() -> None:
    samples = summarise([9.0, 3.0, 1.5, *[1.0, 1.01, 0.99] * 5])
    assert samples.warmups == (9.0, 3.0, 1.5)
    assert samples.median == 1.0
    assert max(samples.seconds) == 1.01


def test_a_slow_pass_in_the_middle_stays_in_the_figures() -> None:
    taken = [1.0, 1.01, 0.99, 9.0, 1.0, 1.01, 0.99]
    assert summarise(taken).seconds == tuple(taken)


def test_jitter_under_five_percent_is_never_warm_up() -> None:
    assert steady_from([1.04, *[1.0] * 20]) == 0


@given(timings, st.integers(1, 20))
def test_warm_up_is_whole_cycles_and_at_most_half(taken: list[float], cycle: int) -> None:
    start = steady_from(taken, cycle=cycle)
    assert start % cycle == 0
    assert start <= len(taken) / 2


def test_long_items_are_not_warm_up_when_they_come_again() -> None:
    assert steady_from([5.0, 1.0, 1.0] * 6, cycle=3) == 0
    assert steady_from([9.0, 3.0, 3.0, *[5.0, 1.0, 1.0] * 6], cycle=3) == 3


@pytest.mark.parametrize(
    ("passes", "steady"),
    [
        ([], False),
        ([1.0, 1.0], False),
        ([1.0, 1.0, 1.0], True),
        ([9.0, 1.0, 1.0], False),
        ([9.0, 1.0, 1.0, 1.0], True),
        ([9.0, 1.0, 4.0, 1.0], True),
        ([3.0, 2.0, 1.5, 1.2, 1.0], False),
    ],
)
def test_it_is_steady_when_two_passes_bring_no_better_best(
    passes: list[float], steady: bool
) -> None:
    assert is_steady(passes) is steady


def test_equal_work_is_compared_with_equal_work() -> None:
    taken = [1.0, 10.0, 1.0, 10.0, 1.0, 20.0]
    assert passes_of(taken, 2).tolist() == [11.0, 11.0, 21.0]
    assert relative(taken, 2).tolist() == [1.0, 1.0, 1.0, 1.0, 1.0, 2.0]
