"""The work that every plan is timed on."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.bench.workload import LEAST, MOST, Workload, gather, sized
from likewise.errors import ItemError
from likewise.model.read import read
from likewise.settings import Bench
from likewise.tasks._pick import pick


@pytest.fixture
def task(tiny: Any) -> Any:
    return pick(read(tiny("bert_classifier")))


@given(
    st.integers(1, MOST),
    st.floats(1e-6, 1e3),
    st.floats(1e-3, 60.0),
    st.integers(1, MOST),
)
def test_a_pass_has_16_to_512_items_where_there_are_so_many(
    count: int, seconds: float, wanted: float, most: int
) -> None:
    fitting = sized(min(count, most), seconds, wanted=wanted, most=most)
    assert min(LEAST, most) <= fitting <= most
    assert fitting in (most, fitting // LEAST * LEAST)


def test_own_items_are_drawn_once_each_in_an_order_that_a_sorted_file_does_not_decide(
    task: Any,
) -> None:
    items = [f"{n:04d}" for n in range(600)]
    work = gather(task, Bench(), items)
    assert work.name == "own items"
    assert len(set(work.items)) == MOST
    assert list(work.items) != sorted(work.items)
    assert gather(task, Bench(), items) == work


def test_an_empty_list_of_own_items_is_an_error(task: Any) -> None:
    with pytest.raises(ItemError, match="nothing to time on"):
        gather(task, Bench(), [])


@pytest.mark.parametrize("kind", ["short", "mixed", "long"])
def test_the_built_in_work_is_the_same_every_time(task: Any, kind: Any) -> None:
    work = gather(task, Bench(workload=kind))
    assert work.name == kind
    assert len(work.items) == MOST
    assert gather(task, Bench(workload=kind)) == work


def test_the_description_counts_what_is_distinct_in_the_part_that_is_used(tmp_path: Path) -> None:
    work = Workload("own items", ("a", "b", "a", "c"))
    said = work.describe(3, 2, {"median": 1.0})
    assert (said["items"], said["single_items"], said["distinct"]) == (3, 2, 2)
    assert said["fingerprint"] != work.describe(4, 2, {})["fingerprint"]
