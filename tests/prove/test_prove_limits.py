"""The limits, the sample that float64 covers, and what a count allows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.prove.bounds import upper_rate
from likewise.prove.limits import limits_of, precision_class
from likewise.prove.stratify import stratify
from likewise.types import DTYPES, Plan

CLASSES = ("float32", "tf32", "hf32", "float16", "bfloat16", "int8")
NAMES = (
    "spread_error",
    "divergence",
    "divergence_max",
    "flips",
    "score_difference",
    "similarity_drift",
    "neighbour_overlap",
    "separation",
)


@pytest.mark.parametrize("precision", CLASSES)
@pytest.mark.parametrize("budget", ["strict", "standard", "relaxed"])
def test_every_class_has_every_limit_with_its_source(precision: str, budget: str) -> None:
    limits = limits_of(precision, budget)
    assert all(limits[name].source for name in NAMES)
    assert limits.budget == budget


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_has_a_class(dtype: str) -> None:
    assert precision_class(Plan("torch", "cpu", dtype, 1, 1)) in CLASSES


def test_an_extra_says_that_float32_is_not_quite() -> None:
    plan = Plan.parse("torch/npu/float32/b8/t1/hf32")
    assert precision_class(plan) == "hf32"
    assert not limits_of("hf32", "standard").exact


def test_a_wider_budget_never_narrows_a_limit() -> None:
    for precision in CLASSES:
        strict, standard, relaxed = (
            limits_of(precision, budget) for budget in ("strict", "standard", "relaxed")
        )
        for name in NAMES[:-2]:
            assert strict[name].value <= standard[name].value <= relaxed[name].value
        kept = [limits["neighbour_overlap"].value for limits in (strict, standard, relaxed)]
        assert kept == sorted(kept, reverse=True)


def test_no_budget_loosens_what_is_correct() -> None:
    for precision in CLASSES:
        assert limits_of(precision, "relaxed")["amplification_max"].value == 17


@pytest.mark.parametrize(
    ("bad", "total", "rate"),
    [(0, 10, 0.2589), (0, 512, 0.00583), (0, 3000, 0.001), (1, 10, 0.3942), (10, 10, 1.0)],
)
def test_the_bound_of_a_rate(bad: int, total: int, rate: float) -> None:
    """The first three: shared/verdict.md; the fourth: Clopper-Pearson, one-sided, 95 %."""
    assert upper_rate(bad, total) == pytest.approx(rate, abs=5e-5)


def test_the_sample_has_every_group_from_shortest_to_longest() -> None:
    groups = ["long"] * 30 + ["short"] * 3 + ["one"]
    lengths = [*range(30, 0, -1), 5, 7, 6, 9]
    chosen = stratify(groups, lengths, 12)
    assert {groups[i] for i in chosen} == {"long", "short", "one"}
    ours = [lengths[i] for i in chosen if groups[i] == "long"]
    assert (min(ours), max(ours)) == (1, 30)
    assert 10 <= len(chosen) <= 14


def test_an_item_without_an_answer_is_not_in_the_sample() -> None:
    assert stratify(["a"] * 4, [0, 2, 0, 3], 4) == (1, 3)


@given(
    probes=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 50)), max_size=60),
    count=st.integers(1, 70),
)
def test_the_sample_is_distinct_and_rising(probes: list[tuple[str, int]], count: int) -> None:
    groups, lengths = [p[0] for p in probes], [p[1] for p in probes]
    chosen = stratify(groups, lengths, count)
    assert list(chosen) == sorted(set(chosen))
    assert all(lengths[i] > 0 for i in chosen)
    assert len(chosen) <= max(count + 3, 2 * len(set(groups)))
