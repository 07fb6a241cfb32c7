"""Probe pictures are distinct, seeded, decodable, and hold every mode and odd size."""

from __future__ import annotations

from collections import Counter
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from likewise.probes import picture
from likewise.tasks._picture import Pictures
from likewise.types import Preprocessing, Probe

HINTS = {"mask_token": None, "max_tokens": 0, "words": [], "size": [64, 48]}
WANTED = Preprocessing((3, 64, 64), "bicubic", 1.0, "center", (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))


@pytest.fixture(scope="session")
def deck() -> list[Probe]:
    return picture.probes(128, 20, HINTS)


def opened(probes: list[Probe]) -> list[Image.Image]:
    return [Image.open(BytesIO(probe.item)) for probe in probes]


def test_pictures_are_as_many_as_asked_distinct_and_the_same_again(deck: list[Probe]) -> None:
    assert len(deck) == len({probe.item for probe in deck}) == 128
    assert picture.probes(24, 20, HINTS) == deck[:24]
    assert picture.probes(24, 21, HINTS)[0] != deck[0]
    assert picture.probes(0, 20, HINTS) == []


def test_every_mode_and_odd_size_is_there(deck: list[Probe]) -> None:
    pictures = opened(deck)
    assert {"RGB", "L", "RGBA", "P", "CMYK", "I;16"} <= {p.mode for p in pictures}
    assert {"PNG", "JPEG"} == {p.format for p in pictures}
    assert min(min(p.size) for p in pictures) < 8
    assert max(p.width / p.height for p in pictures) > 5
    assert max(p.height / p.width for p in pictures) > 5
    assert (48, 64) in {p.size for p in pictures}
    assert max(max(p.size) for p in pictures) <= 512
    assert any(p.getexif().get(0x0112, 1) != 1 for p in pictures)
    groups = Counter(probe.group for probe in deck)
    assert groups["mixture"] > 50
    assert len(groups) == 16


def test_every_picture_is_answered_and_few_look_alike(deck: list[Probe]) -> None:
    rows = Pictures(WANTED).encode([probe.item for probe in deck])
    assert [row.problem for row in rows] == [None] * len(deck)
    pixels = np.stack([row.arrays["pixel_values"].ravel() for row in rows])
    squares = (pixels**2).sum(axis=1)
    products = squares[:, None] + squares - 2 * pixels @ pixels.T
    apart = np.sqrt(np.maximum(products, 0) / pixels.shape[1])
    others = apart[~np.eye(len(deck), dtype=bool)]
    assert np.quantile(others, 0.05) > 0.3  # of a range of 2


@pytest.mark.parametrize("kind", ["short", "mixed", "long"])
def test_a_workload_is_jpegs_of_stated_sizes(kind: str) -> None:
    items = picture.workload(kind, 2, 3, HINTS)
    assert items == picture.workload(kind, 2, 3, HINTS)
    assert items[0] != items[1]
    sizes = [Image.open(BytesIO(item)).size for item in items]
    wanted = {"short": (320, 240), "mixed": (500, 375), "long": (1280, 960)}
    assert sizes[0] == wanted[kind]


def test_a_long_workload_comes_round_again() -> None:
    items = picture.workload("short", 100, 3, HINTS)
    assert len(items) == 100
    assert len(set(items)) == 40
    assert items[40] == items[0]
