"""A random state and a size in; pixels that look like something, out."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from PIL import Image, ImageDraw

if TYPE_CHECKING:
    import numpy.typing as npt

    from likewise.types import Floats

    Pixels: TypeAlias = npt.NDArray[np.uint8]
    Draw: TypeAlias = np.random.Generator

__all__ = ["checkerboard", "gradient", "mixture", "noise", "shapes", "texture"]


def mixture(draw: Draw, size: tuple[int, int]) -> Pixels:
    """Return (H, W, 3): a sky of colour, blobs, rough ground at several scales, a few edges.

    Two of them are as unlike as two photographs, so that a model's outputs lie apart.
    """
    scene = _ramp(draw, (size[1], size[0])) + _octaves(draw, size)
    picture = Image.fromarray(_clipped(scene))
    pen = ImageDraw.Draw(picture)
    for _ in range(int(draw.integers(0, 7))):
        _blob(draw, pen, size)
    grain = draw.standard_normal((size[1] // 2 + 1, size[0] // 2 + 1, 1), dtype=np.float32)
    grain *= np.float32(draw.uniform(0, 24))
    rough = np.repeat(np.repeat(grain, 2, axis=0), 2, axis=1)[: size[1], : size[0]]
    return _clipped(np.asarray(picture) + rough)


def gradient(draw: Draw, size: tuple[int, int]) -> Pixels:
    """Return (H, W, 3): one smooth ramp between two colours."""
    return _clipped(_ramp(draw, (size[1], size[0])))


def noise(draw: Draw, size: tuple[int, int]) -> Pixels:
    """Return (H, W, 3): noise whose grain is one pixel, or a few."""
    grain = int(draw.choice((1, 2, 5, 16)))
    shape = (size[1] // grain + 1, size[0] // grain + 1, 3)
    coarse = draw.normal(draw.uniform(60, 200, 3), draw.uniform(20, 90), shape)
    return _clipped(np.repeat(np.repeat(coarse, grain, axis=0), grain, axis=1))[
        : size[1], : size[0]
    ]


def checkerboard(draw: Draw, size: tuple[int, int]) -> Pixels:
    """Return (H, W, 3): squares of one to four pixels, which alias unless resizing antialiases."""
    step = int(draw.integers(1, 5))
    rows, columns = np.ogrid[: size[1], : size[0]]
    board = (rows // step + columns // step) % 2
    colours = draw.integers(0, 256, (2, 3)).astype(np.uint8)
    squares: Pixels = colours[board]
    return squares


def texture(draw: Draw, size: tuple[int, int]) -> Pixels:
    """Return (H, W, 3): two waves across each other, as in cloth or water."""
    rows, columns = np.ogrid[: size[1], : size[0]]
    waves: Floats = np.zeros((size[1], size[0]))
    for _ in range(2):
        angle, length = draw.uniform(0, np.pi), draw.uniform(4, 60)
        along = rows * np.sin(angle) + columns * np.cos(angle)
        waves = waves + np.sin(2 * np.pi * along / length + draw.uniform(0, 6))
    dark, light = draw.uniform(0, 255, (2, 3))
    return _clipped(dark + (light - dark) * (waves[..., None] + 2) / 4)


def shapes(draw: Draw, size: tuple[int, int]) -> Image.Image:
    """Return a picture of a few flat shapes with hard edges."""
    picture = Image.new("RGB", size, _colour(draw))
    pen = ImageDraw.Draw(picture)
    for _ in range(int(draw.integers(3, 12))):
        _blob(draw, pen, size)
    return picture


def _blob(draw: Draw, pen: ImageDraw.ImageDraw, size: tuple[int, int]) -> None:
    centre = draw.uniform(0, 1, 2) * size
    radius = draw.uniform(0.03, 0.35, 2) * min(size)
    box = [*(centre - radius).tolist(), *(centre + radius).tolist()]
    (pen.ellipse if draw.random() < 0.6 else pen.rectangle)(box, fill=_colour(draw))


def _colour(draw: Draw) -> tuple[int, ...]:
    return tuple(draw.integers(0, 256, 3).tolist())


def _ramp(draw: Draw, shape: tuple[int, int]) -> Floats:
    start, across, down = draw.uniform(0, 255, (3, 3)).astype(np.float32)
    rows = np.linspace(0, 0.7, shape[0], dtype=np.float32)[:, None, None]
    columns = np.linspace(0, 0.7, shape[1], dtype=np.float32)[None, :, None]
    ramp: Floats = start + (across - start) * columns + (down - start) * rows
    return ramp


def _octaves(draw: Draw, size: tuple[int, int]) -> Floats:
    """Return the sum of three smooth noises, each finer and fainter than the one before."""
    total: Floats = np.zeros((size[1], size[0], 3), dtype=np.float32)
    for cells, strength in ((2, 0.7), (6, 0.5), (17, 0.35)):
        coarse = draw.integers(0, 256, (cells, cells, 3)).astype(np.uint8)
        fine = Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC)
        total += np.float32(strength) * (np.asarray(fine) - np.float32(128))
    return total


def _clipped(levels: Floats) -> Pixels:
    return np.clip(levels, 0, 255).astype(np.uint8)
