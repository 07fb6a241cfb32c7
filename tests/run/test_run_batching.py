"""Batches: every item once, inside both limits, little padding."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from likewise.run.batching import batches

costs = st.lists(st.integers(0, 600), max_size=200)


@given(costs, st.integers(1, 40), st.integers(1, 2000))
def test_every_index_comes_once(tokens: list[int], items_limit: int, token_limit: int) -> None:
    made = batches(tokens, items_limit, token_limit)
    assert sorted(i for batch in made for i in batch) == list(range(len(tokens)))
    assert all(made)


@given(costs, st.integers(1, 40), st.integers(1, 2000))
def test_both_limits_hold_save_for_one_long_item(
    tokens: list[int], items_limit: int, token_limit: int
) -> None:
    for batch in batches(tokens, items_limit, token_limit):
        assert len(batch) <= items_limit
        padded = len(batch) * max(tokens[i] for i in batch)
        assert len(batch) == 1 or padded <= token_limit


@given(costs, st.integers(1, 40))
def test_the_longest_come_first(tokens: list[int], items_limit: int) -> None:
    lengths = [tokens[i] for batch in batches(tokens, items_limit) for i in batch]
    assert lengths == sorted(lengths, reverse=True)


def test_equal_items_keep_their_order() -> None:
    assert batches([4, 4, 4, 4, 4], 2) == [[0, 1], [2, 3], [4]]


def test_an_item_over_the_limit_is_a_batch_of_its_own() -> None:
    assert batches([5, 100, 5], 16, token_limit=10) == [[1], [0, 2]]
