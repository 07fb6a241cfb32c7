"""What is said of figures that may not be what they seem."""

from collections.abc import Sequence

import numpy as np
import pytest

from likewise.bench.doubts import doubts
from likewise.bench.stats import summarise
from likewise.settings import Bench

ASKED = Bench(passes=7, width=0.05)


def about(taken: Sequence[float], *, least: int = 7, cycle: int = 1) -> list[str]:
    return doubts("offline", summarise(taken, cycle=cycle), ASKED, least=least, cycle=cycle)


def test_steady_samples_leave_no_doubt() -> None:
    assert about([1.0, 1.01, 0.99] * 4) == []


@pytest.mark.parametrize(
    ("taken", "words"),
    [
        ([1.0] * 4, "only 4 sample(s), not 7"),
        (np.linspace(1.3, 1.0, 12).tolist(), "95 % interval is"),
        ([*[1.0, 1.01] * 5, *[1.2, 1.21] * 5], "second half was 20% slower"),
        ([*[1.2, 1.21] * 5, *[1.0, 1.01] * 5], "second half was 17% faster"),
        ([1.0, 1.0, 1.0, 1.9, 1.0, 1.0, 1.0, 1.0, 1.9], "2 of 9 samples took over 1.5 times"),
    ],
)
def test_each_doubt_names_its_scenario_its_figure_and_what_to_do(
    taken: list[float], words: str
) -> None:
    found = [doubt for doubt in about(taken) if words in doubt]
    assert len(found) == 1
    assert found[0].startswith("offline: ")
    assert "raise" in found[0] or "repeat" in found[0]


def test_an_interval_that_covers_too_little_is_said_even_where_so_few_were_asked_for() -> None:
    assert about([1.0, 1.0, 1.0], least=3) == [
        "offline: 3 sample(s): the interval holds the median with 75%, not 95%: raise bench.passes"
    ]


def test_items_of_different_length_are_no_noise() -> None:
    lengths = np.geomspace(1.0, 30.0, 16)
    assert about(np.tile(lengths, 8).tolist(), least=30, cycle=16) == []


def test_noise_between_equal_cycles_is_seen_under_the_spread_of_lengths() -> None:
    lengths = np.geomspace(1.0, 30.0, 16)
    cycles = [lengths * factor for factor in (1, 1.2, 1, 1.2, 1, 1.2, 1, 1.2)]
    assert "95 % interval is" in about(np.concatenate(cycles).tolist(), least=30, cycle=16)[0]
