"""Token vectors and their mask in; one vector per text, out.

The modes are those of sentence-transformers, and equal to it within 1e-5 (tests/tasks). Sums run in
float64: the length of the neighbours in a batch then changes nothing, not even the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import TaskError

if TYPE_CHECKING:
    import numpy.typing as npt

    from likewise.types import Floats, Ints

    Bools = npt.NDArray[np.bool_]
    Mode = Callable[[Floats, Bools, Ints], npt.NDArray[np.floating[Any]]]

__all__ = ["MODES", "normalise", "pool", "shape", "too_short"]


def pool(hidden: Floats, mask: Ints, modes: Sequence[str], *, skip: int = 0) -> Floats:
    """Pool the tokens of each text, in every mode, and join the results.

    Args:
        hidden: (N, T, D) token vectors; what stands at padding is never read, NaN or not.
        mask: (N, T), 1 at tokens, on the left or on the right of the padding.
        modes: names from MODES.
        skip: tokens at the start of each text that are left out: a prompt's.

    Returns:
        (N, D × modes), in the dtype of ``hidden``.
    """
    counts = np.cumsum(mask, axis=1) * mask  # 1, 2, 3 … at a text's own tokens, 0 at padding
    pooled = counts > skip
    clean = np.where(pooled[..., None], hidden, 0) if not pooled.all() else hidden
    parts = [MODES[mode](clean, pooled, counts) for mode in modes]
    return np.concatenate(parts, axis=1).astype(hidden.dtype, copy=False)


def shape(vectors: Floats, *, keep: int | None, unit: bool) -> Floats:
    """Return the first ``keep`` numbers of (N, D) vectors, all for None; of length 1 for ``unit``.

    The cut comes first: cosine and dot product of the result agree, as they did before it.

    Raises:
        TaskError: the vectors have fewer numbers.
    """
    if keep is not None and keep > vectors.shape[1]:
        raise too_short(vectors.shape[1], keep)
    kept = vectors[:, :keep]
    return normalise(kept) if unit else kept


def too_short(width: int, keep: int) -> TaskError:
    """Return the refusal to keep more numbers than a vector has."""
    return TaskError(
        f"truncate_dim {keep} is more than a vector has.",
        found=f"{width} numbers",
        fix=f"--truncate-dim {width} or less; or leave it out",
    )


def normalise(vectors: Floats) -> Floats:
    """Return (N, D) vectors of length 1; a zero vector stays zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths: Floats = np.maximum(norms, 1e-12).astype(vectors.dtype, copy=False)
    return vectors / lengths


def _cls(hidden: Floats, mask: Bools, _: Ints) -> Floats:
    first: Floats = hidden[np.arange(len(hidden)), mask.argmax(axis=1)]
    return first


def _last(hidden: Floats, mask: Bools, _: Ints) -> Floats:
    places = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
    last: Floats = hidden[np.arange(len(hidden)), places]
    return last


def _max(hidden: Floats, mask: Bools, _: Ints) -> Floats:
    highest: Floats = np.where(mask[..., None], hidden, -np.inf).max(axis=1)
    return highest


def _mean(hidden: Floats, mask: Bools, _: Ints) -> Floats:
    return _sum(hidden) / _at_least_one(mask.sum(axis=1))


def _mean_sqrt_len(hidden: Floats, mask: Bools, _: Ints) -> Floats:
    return _sum(hidden) / np.sqrt(_at_least_one(mask.sum(axis=1)))


def _weighted_mean(hidden: Floats, mask: Bools, counts: Ints) -> Floats:
    weights = counts * mask
    return _sum(hidden * weights[..., None]) / _at_least_one(weights.sum(axis=1))


def _sum(hidden: Floats) -> Floats:
    total: Floats = hidden.sum(axis=1, dtype=np.float64)
    return total


def _at_least_one(counts: Ints) -> Ints:
    return np.maximum(counts, 1)[:, None]


MODES: dict[str, Mode] = {
    "cls": _cls,
    "mean": _mean,
    "max": _max,
    "mean_sqrt_len": _mean_sqrt_len,
    "weightedmean": _weighted_mean,
    "lasttoken": _last,
}
