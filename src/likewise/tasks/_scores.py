"""Logits in; probabilities, and entries sorted best first, out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from likewise.types import Answer, Floats, Ints, Json

Activation = Literal["softmax", "sigmoid", "none"]

NOT_FINITE = "the model's output for this item is not finite"

__all__ = ["NOT_FINITE", "Activation", "apply", "best", "finite", "labelled", "vectors"]


def apply(activation: Activation, logits: Floats) -> Floats:
    """Return the scores of (R, C) logits, in their own dtype; a NaN stays a NaN in its row."""
    return _ACTIVATIONS[activation](logits)


def best(scores: Floats, top: int | None) -> Ints:
    """Return (R, K) indices of the K highest scores of each row, best first, ties by index.

    Selects before it sorts: of a large vocabulary's 250,002 scores a row, five are wanted.

    Args:
        scores: (R, C) floats.
        top: K, cut to [0, C]; None is C.
    """
    count = scores.shape[1] if top is None else max(0, min(top, scores.shape[1]))
    rest = scores.shape[1] - count
    if rest and count:
        chosen = np.sort(np.argpartition(scores, rest, axis=1)[:, rest:], axis=1)
    else:
        chosen = np.broadcast_to(np.arange(count), (len(scores), count))
    order = np.argsort(-np.take_along_axis(scores, chosen, axis=1), axis=1, kind="stable")
    return np.take_along_axis(chosen, order, axis=1)


def labelled(scores: Floats, name: Callable[[int], str], top: int | None) -> list[Answer]:
    """Return one answer per row: its labels with index and score, best first.

    The index tells apart two labels of the same name. A row that is not finite has no answer.
    """
    indices = best(np.nan_to_num(scores, nan=-np.inf), top)
    values = np.take_along_axis(scores, indices, axis=1)
    return [
        {"labels": _entries(row, kept, name)} if good else {"error": NOT_FINITE}
        for row, kept, good in zip(indices.tolist(), values.tolist(), finite(scores), strict=True)
    ]


def vectors(rows: Floats) -> list[Answer]:
    """Return one answer per row of (N, D): its vector. A row that is not finite has no answer."""
    return [
        {"vector": row} if good else {"error": NOT_FINITE}
        for row, good in zip(rows.tolist(), finite(rows), strict=True)
    ]


def finite(rows: Floats) -> list[bool]:
    """Tell of each row of (R, C) whether every number in it is finite."""
    whole: Ints = np.isfinite(rows).sum(axis=1)
    return [count == rows.shape[1] for count in whole.tolist()]


def _entries(
    indices: Sequence[int], values: Sequence[float], name: Callable[[int], str]
) -> list[dict[str, Json]]:
    return [
        {"label": name(index), "index": index, "score": value}
        for index, value in zip(indices, values, strict=True)
    ]


def _softmax(logits: Floats) -> Floats:
    with np.errstate(invalid="ignore"):  # inf - inf is NaN, and is meant to be
        scores: Floats = logits - logits.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    return scores


def _sigmoid(logits: Floats) -> Floats:
    # exp of a negative number only: no overflow on either side
    small = np.exp(-np.abs(logits))
    return np.where(logits >= 0, 1 / (1 + small), small / (1 + small))


def _raw(logits: Floats) -> Floats:
    return logits


_ACTIVATIONS: dict[Activation, Callable[[Floats], Floats]] = {
    "softmax": _softmax,
    "sigmoid": _sigmoid,
    "none": _raw,
}
