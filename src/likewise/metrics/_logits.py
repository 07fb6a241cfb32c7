"""Logits in; what softmax makes of them, and how near the best two are, out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likewise.metrics._rows import parts

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers
    from likewise.types import Floats, Ints

__all__ = ["centred", "deviations", "gaps", "log_softmax", "margins", "top"]


def centred(logits: Numbers) -> Numbers:
    """Return (N, C) rows with mean 0: softmax cannot see a constant added to a row."""
    rows: Numbers = logits - logits.mean(axis=1, keepdims=True)
    return rows


def deviations(reference: Numbers, candidate: Numbers) -> Numbers:
    """Return (N,): the largest difference of a row's centred logits; a formula for ``by_rows``."""
    largest: Numbers = np.abs(centred(candidate) - centred(reference)).max(axis=1)
    return largest


def log_softmax(logits: Numbers) -> Numbers:
    """Return (N, C) natural logarithms of the softmax, without overflow."""
    shifted = logits - logits.max(axis=1, keepdims=True)
    logarithms: Numbers = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return logarithms


def margins(scores: Floats) -> Numbers:
    """Return (N,): by how much the best of a row leads the second; infinite for one class."""
    if scores.shape[1] < 2:
        return np.full(len(scores), np.inf)
    best = [np.partition(scores[part], -2, axis=1)[:, -2:] for part in parts(scores)]
    pairs = np.concatenate(best).astype(np.float64)
    lead: Numbers = pairs[:, 1] - pairs[:, 0]
    return lead


def top(scores: Floats, count: int) -> Ints:
    """Return (N, count) indices of a row's largest, best first; a NaN counts as largest."""
    most = min(count, scores.shape[1])
    return np.concatenate([_top(scores[part], most) for part in parts(scores)])


def _top(scores: Floats, count: int) -> Ints:
    best = np.argpartition(scores, -count, axis=1)[:, -count:]
    order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1)


def gaps(reference: Floats, candidate: Floats, count: int) -> Numbers:
    """Return (N, count): by how much each of the candidate's best falls short in the reference.

    0 where the reference has it among its own best, else the distance to the last of those. A
    reversal of two that are equally good is no gap.
    """
    short = []
    for part in parts(reference):
        chosen = top(candidate[part], count)
        ours = np.asarray(reference[part], np.float64)
        last = np.partition(ours, -chosen.shape[1], axis=1)[:, -chosen.shape[1], None]
        short.append(np.maximum(last - np.take_along_axis(ours, chosen, axis=1), 0.0))
    return np.concatenate(short)
