"""Pooling reads a text's own tokens, wherever the padding stands and whatever is in it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.tasks._pool import MODES, normalise, pool


def batch(
    lengths: list[int], *, seed: int = 5, width: int = 7, room: int = 3
) -> tuple[np.ndarray, np.ndarray]:
    """Return (N, T, D) vectors and a right-padded mask, with ``room`` padding tokens at least."""
    draw = np.random.default_rng(seed)
    shape = (len(lengths), max(lengths) + room, width)
    mask = (np.arange(shape[1]) < np.array(lengths)[:, None]).astype(np.int64)
    return draw.standard_normal(shape).astype(np.float32), mask


@given(st.lists(st.integers(1, 20), min_size=1, max_size=6), st.sampled_from(sorted(MODES)))
@settings(max_examples=60, deadline=None)
def test_padding_and_neighbours_change_not_a_bit(lengths: list[int], mode: str) -> None:
    hidden, mask = batch(lengths)
    spoilt = np.where(mask[..., None] == 1, hidden, np.float32(np.nan))
    together = pool(spoilt, mask, (mode,))
    for row, length in enumerate(lengths):
        own = hidden[row : row + 1, :length]
        alone = pool(own, np.ones((1, length), np.int64), (mode,))
        assert (together[row] == alone[0]).all()


@given(st.lists(st.integers(1, 20), min_size=1, max_size=6), st.sampled_from(sorted(MODES)))
@settings(max_examples=60, deadline=None)
def test_padding_on_the_left_gives_the_same_vector(lengths: list[int], mode: str) -> None:
    hidden, mask = batch(lengths)
    turned = [
        np.roll(row, mask.shape[1] - n, axis=0) for row, n in zip(hidden, lengths, strict=True)
    ]
    left = pool(np.stack(turned), mask[:, ::-1], (mode,))
    assert left == pytest.approx(pool(hidden, mask, (mode,)), abs=1e-6)


def test_modes_are_joined_in_order_and_differ() -> None:
    hidden, mask = batch([4, 9])
    joined = pool(hidden, mask, ("mean", "cls", "max"))
    assert joined.shape == (2, 21)
    assert (joined[:, 7:14] == hidden[:, 0]).all()
    singles = [pool(hidden, mask, (mode,)) for mode in MODES]
    for index, one in enumerate(singles):
        assert all(np.abs(one - other).max() > 0.01 for other in singles[:index])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_is_kept(dtype: type) -> None:
    hidden, mask = batch([4, 9])
    vectors = pool(hidden.astype(dtype), mask, tuple(MODES))
    assert vectors.dtype == normalise(vectors).dtype == dtype


def test_a_zero_vector_stays_finite() -> None:
    vectors = normalise(np.array([[0.0, 0.0], [3.0, 4.0]], dtype=np.float32))
    assert vectors.tolist() == pytest.approx(np.array([[0.0, 0.0], [0.6, 0.8]]))
