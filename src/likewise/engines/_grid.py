"""A model and a network in; the batches that an exported graph is tried with, out.

Tracing can freeze an axis that was declared dynamic, and padding can be ignored where the example
held none, so batch, length and padding vary together (case B084).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.model.files import read_object
from likewise.model.modules import core_of
from likewise.types import Model, Network

if TYPE_CHECKING:
    from likewise.types import Arrays

__all__ = ["LARGE", "Point", "example", "feed", "points"]

LARGE = 300_000_000
"""Parameters above which the grid is small: four batches instead of two dozen."""

_PICTURES_MOST = 50_000_000


@dataclass(frozen=True)
class Point:
    """One batch of the grid."""

    items: int
    length: int  # tokens with padding; 0 for pictures
    padded: bool  # all items but the first are shorter than ``length``


def points(model: Model, network: Network) -> list[Point]:
    """Return the batches to try; one at the limit of length is as dear as all short ones."""
    if network.head in ("picture", "picture_features"):
        small = (model.parameters or 0) <= _PICTURES_MOST
        return [Point(items, 0, False) for items in ((1, 3, 17) if small else (1, 3))]
    limit = model.max_tokens
    if (model.parameters or 0) > LARGE:
        wanted = {(1, 1, False), (1, 8, False), (3, min(20, limit), True), (1, limit, False)}
        return [Point(*p) for p in sorted(wanted)]
    lengths = sorted({min(length, limit) for length in (1, 8, 20)})
    short = [Point(n, length, False) for length in lengths for n in (1, 3, 17)]
    padded = [Point(p.items, p.length, True) for p in short if p.items > 1 and p.length > 1]
    return [*short, *padded, Point(1, limit, False), Point(3, limit, True)]


def example(model: Model, network: Network) -> Arrays:
    """Return the batch that is traced: no axis of size 1, and with padding."""
    return feed(Point(2, min(7, model.max_tokens), True), model, network)


def feed(point: Point, model: Model, network: Network) -> Arrays:
    """Return a batch in the network's names, drawn with the point as its seed.

    Token ids are any of the vocabulary; each item has at least one real token, for nobody agrees
    on what attention over none should give.
    """
    random = np.random.default_rng([point.items, point.length, point.padded])
    if network.head in ("picture", "picture_features"):
        assert model.preprocessing is not None
        pixels = (point.items, *model.preprocessing.size)
        return {"pixel_values": random.standard_normal(pixels, dtype=np.float32)}
    shape = (point.items, point.length)
    ids = random.integers(0, model.vocabulary, shape, dtype=np.int64)
    lengths = np.full(point.items, point.length)
    if point.padded:
        lengths[1:] = [max(1, point.length - 1 - i % point.length) for i in range(1, point.items)]
    mask = (np.arange(point.length) < lengths[:, None]).astype(np.int64)
    made = {
        "input_ids": np.where(mask == 1, ids, _pad_id(model)),
        "attention_mask": mask,
        "token_type_ids": random.integers(0, max(1, model.token_types), shape, dtype=np.int64),
        "rows": np.arange(point.items) * point.length + np.arange(point.items) % lengths,
    }
    return {name: made[name] for name in network.inputs}


def _pad_id(model: Model) -> int:
    config = read_object(core_of(model.folder) / "config.json")
    return int(config.get("pad_token_id") or 0)
