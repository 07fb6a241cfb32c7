"""Rows of cases about pictures, as a user meets them, on every engine."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from asked import ENGINES, answers
from PIL import Image

Tiny = Callable[[str], Path]
every_engine = pytest.mark.parametrize("engine", ENGINES)


def encoded(picture: Image.Image, format: str, **options: object) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, format, **options)
    return stream.getvalue()


def noise(seed: int, size: tuple[int, int] = (40, 30)) -> Image.Image:
    values = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), np.uint8)
    return Image.fromarray(values)


@every_engine
def test_B071_the_first_frame_is_answered_and_that_is_said(tiny: Tiny, engine: str) -> None:
    frames = [noise(1), noise(2)]
    animated = encoded(frames[0], "WEBP", save_all=True, append_images=frames[1:], lossless=True)
    single = encoded(frames[0], "WEBP", lossless=True)
    moving, still = answers(
        tiny("timm_classifier"), [animated, single], engine, task="image_classify"
    )
    assert moving["labels"] == still["labels"]
    assert "several frames" in " ".join(moving["notes"])


@every_engine
def test_hostile_pictures_fail_alone_and_in_words(tiny: Tiny, engine: str) -> None:
    good = encoded(noise(3), "PNG")
    items = [
        good,
        good[:100],
        b"",
        b"GIF89a",
        b"\x00" * 64,
        good[:-30],
        "no path at all",
        None,
        good,
    ]
    found = answers(tiny("timm_classifier"), items, engine, task="image_classify")
    assert len(found) == len(items)
    assert found[0] == found[-1]
    assert all(isinstance(answer["error"], str) for answer in found[1:5])
    assert {"labels"} <= set(found[0])


@every_engine
@pytest.mark.parametrize("mode", ["L", "LA", "RGBA", "P", "CMYK", "1", "I;16"])
def test_every_mode_has_an_answer_that_does_not_depend_on_its_neighbours(
    tiny: Tiny, engine: str, mode: str
) -> None:
    if mode == "I;16":
        picture = Image.fromarray(
            np.random.default_rng(5).integers(0, 65536, (30, 40)).astype(np.uint16)
        )
    else:
        picture = noise(4).convert(mode)
    folder = tiny("timm_classifier")
    (alone,) = answers(folder, [picture], engine, task="image_classify")
    beside = answers(folder, [noise(6), picture, noise(7)], engine, task="image_classify")[1]
    scores = [sorted((e["index"], e["score"]) for e in a["labels"]) for a in (alone, beside)]
    assert np.abs(np.array(scores[0]) - np.array(scores[1])).max() < 1e-5
