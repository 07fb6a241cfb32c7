"""A seed and a model's hints in; encoded pictures that a verdict or a timing is made from, out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from io import BytesIO
from random import Random
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from likewise.probes import _scenes
from likewise.probes._deck import Group, deal
from likewise.types import Item, Json, Probe

if TYPE_CHECKING:
    from likewise.probes._scenes import Draw

_WORKLOADS: dict[str, tuple[tuple[int, int], ...]] = {
    "short": ((320, 240),),
    "mixed": ((500, 375), (375, 500), (640, 480), (256, 256), (1024, 683)),
    "long": ((1280, 960),),
}
_DISTINCT = 40
_TURN = 0x0112  # the EXIF tag of the orientation

__all__ = ["probes", "workload"]


def probes(count: int, seed: int, hints: Mapping[str, Json]) -> list[Probe]:
    """Return ``count`` distinct pictures as PNG or JPEG bytes, the same for the same seed.

    Most are mixtures as in photographs; the others are those that preprocessing trips over: odd
    sizes, every mode, a turned JPEG, patterns as fine as a pixel.

    Args:
        count: how many.
        seed: of all that is drawn.
        hints: of the task: size, [H, W] that the model sees.
    """
    return deal(_groups(*(hints["size"] or (224, 224))), count, seed)


def workload(kind: str, count: int, seed: int, hints: Mapping[str, Json]) -> list[Item]:
    """Return ``count`` JPEG pictures of stated sizes, for timing; after 40 they come round again.

    Repeats cost the same as fresh ones: every picture is decoded anew.

    Args:
        kind: ``short`` (320 × 240), ``mixed`` (256 × 256 to 1024 × 683) or ``long`` (1280 × 960).
        count: how many.
        seed: of all that is drawn.
        hints: not used: a picture's cost is its own size, not the model's.
    """
    del hints
    sizes = _WORKLOADS[kind]
    draw = np.random.default_rng(seed)
    distinct = [
        _jpeg(_scenes.mixture(draw, sizes[index % len(sizes)]))
        for index in range(min(count, _DISTINCT))
    ]
    return [distinct[index % _DISTINCT] for index in range(count)]


def _groups(height: int, width: int) -> list[Group]:
    """Return every group of pictures, with its share of a deck of 256."""
    return [
        Group("mixture", 130, partial(_stream, _mixture)),
        Group("shapes", 20, partial(_stream, _shapes)),
        Group("texture", 14, partial(_stream, _texture)),
        Group("gradient", 10, partial(_stream, _gradient)),
        Group("noise", 10, partial(_stream, _noise)),
        Group("checkerboard", 8, partial(_stream, _checkerboard)),
        Group("wide or tall", 10, partial(_stream, _thin)),
        Group("tiny", 6, partial(_stream, _tiny)),
        Group("own size", 6, partial(_stream, partial(_exact, width, height))),
        Group("grey", 8, partial(_stream, _grey)),
        Group("deep grey", 5, partial(_stream, _deep_grey)),
        Group("transparent", 8, partial(_stream, _transparent)),
        Group("palette", 6, partial(_stream, _palette)),
        Group("cmyk", 5, partial(_stream, _cmyk)),
        Group("turned", 8, partial(_stream, _turned)),
        Group("plain", 4, partial(_stream, _plain)),
    ]


def _stream(make: Callable[[Draw], bytes], random: Random) -> Iterator[bytes]:
    draw = np.random.default_rng(random.getrandbits(64))
    while True:
        yield make(draw)


def _jpeg(pixels: _scenes.Pixels, **options: Json) -> bytes:
    return _encoded(Image.fromarray(pixels), "JPEG", quality=88, **options)


def _png(picture: Image.Image, **options: Json) -> bytes:
    return _encoded(picture, "PNG", compress_level=1, **options)


def _encoded(picture: Image.Image, format: str, **options: Json) -> bytes:
    written = BytesIO()
    picture.save(written, format, **options)
    return written.getvalue()


def _size(draw: Draw, most: int = 512) -> tuple[int, int]:
    """Draw width and height, up to 2 : 1; small ones are likelier, as each octave has its share."""
    long = 2 ** draw.uniform(6.5, np.log2(most))
    short = long * draw.uniform(0.5, 1)
    size = int(long), int(short)
    return size if draw.random() < 0.5 else size[::-1]


def _mixture(draw: Draw) -> bytes:
    return _jpeg(_scenes.mixture(draw, _size(draw)))


def _exact(width: int, height: int, draw: Draw) -> bytes:
    return _png(Image.fromarray(_scenes.mixture(draw, (width, height))))


def _shapes(draw: Draw) -> bytes:
    return _png(_scenes.shapes(draw, _size(draw)))


def _texture(draw: Draw) -> bytes:
    return _jpeg(_scenes.texture(draw, _size(draw)))


def _gradient(draw: Draw) -> bytes:
    return _png(Image.fromarray(_scenes.gradient(draw, _size(draw))))


def _noise(draw: Draw) -> bytes:
    return _jpeg(_scenes.noise(draw, _size(draw, 320)))


def _checkerboard(draw: Draw) -> bytes:
    return _png(Image.fromarray(_scenes.checkerboard(draw, _size(draw))))


def _thin(draw: Draw) -> bytes:
    size = int(draw.integers(300, 512)), int(draw.integers(24, 64))
    return _jpeg(_scenes.mixture(draw, size if draw.random() < 0.5 else size[::-1]))


def _tiny(draw: Draw) -> bytes:
    size = int(draw.integers(1, 9)), int(draw.integers(1, 9))
    return _png(Image.fromarray(_scenes.noise(draw, size)))


def _grey(draw: Draw) -> bytes:
    grey = Image.fromarray(_scenes.mixture(draw, _size(draw))).convert("L")
    return _png(grey) if draw.random() < 0.5 else _encoded(grey, "JPEG", quality=88)


def _deep_grey(draw: Draw) -> bytes:
    levels = _scenes.mixture(draw, _size(draw))[..., 1].astype(np.uint16) * 257
    return _png(Image.fromarray(levels))


def _transparent(draw: Draw) -> bytes:
    picture = Image.fromarray(_scenes.mixture(draw, _size(draw)))
    alpha = Image.fromarray(_scenes.mixture(draw, picture.size)[..., 0])
    picture.putalpha(alpha)
    return _png(picture if draw.random() < 0.7 else picture.convert("LA"))


def _palette(draw: Draw) -> bytes:
    picture = _scenes.shapes(draw, _size(draw)).quantize(int(draw.integers(4, 64)))
    clear = {"transparency": int(draw.integers(0, 4))} if draw.random() < 0.5 else {}
    return _png(picture, **clear)


def _cmyk(draw: Draw) -> bytes:
    picture = Image.fromarray(_scenes.mixture(draw, _size(draw))).convert("CMYK")
    return _encoded(picture, "JPEG", quality=90)


def _turned(draw: Draw) -> bytes:
    exif = Image.Exif()
    exif[_TURN] = int(draw.integers(2, 9))
    return _jpeg(_scenes.mixture(draw, _size(draw)), exif=exif)


def _plain(draw: Draw) -> bytes:
    colour = draw.choice(((0, 0, 0), (255, 255, 255), draw.integers(0, 256, 3).tolist()))
    return _png(Image.new("RGB", _size(draw, 128), tuple(int(c) for c in colour)))
