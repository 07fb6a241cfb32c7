"""Pictures in; pixel tensors exactly as timm's evaluation transform makes them, out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from likewise.errors import ItemError, TaskError
from likewise.tasks._decode import MOST_BYTES, MOST_PIXELS, decode
from likewise.types import Item, Json, Model, Preprocessing, Row

if TYPE_CHECKING:
    from likewise.types import Arrays, Floats, Ints

WINDOW = 64
"""Pictures encoded at once: 50 MB at 256 × 256."""

_INTERPOLATIONS = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "box": Image.Resampling.BOX,
    "hamming": Image.Resampling.HAMMING,
    "lanczos": Image.Resampling.LANCZOS,
}
_CROP_MODES = ("center", "squash", "border")

__all__ = ["WINDOW", "PictureTask", "Pictures", "open_pictures", "prepare"]


@dataclass(frozen=True)
class Pictures:
    """The picture side of a task: decoding and preprocessing."""

    preprocessing: Preprocessing

    def encode(self, items: Sequence[Item]) -> list[Row]:
        """Return one row per item, in order; an item that is not a picture has a problem."""
        return [self._row(item) for item in items]

    def collate(self, rows: Sequence[Row]) -> Arrays:
        """Return one batch: pixel_values (N, 3, H, W) float32."""
        return {"pixel_values": np.stack([row.arrays["pixel_values"] for row in rows])}

    def hints(self) -> Mapping[str, Json]:
        """Return what probes need: the size that the model sees."""
        height, width = self.preprocessing.size[1:]
        return {"mask_token": None, "max_tokens": 0, "words": [], "size": [height, width]}

    def facts(self) -> Mapping[str, Json]:
        """Return the picture side of the contract, JSON-ready."""
        facts = {key: _listed(value) for key, value in asdict(self.preprocessing).items()}
        return {
            **facts,
            "resize": "Pillow, with its antialiasing",
            "channels": "RGB",
            "orientation": "as EXIF says",
            "transparency": "laid on white",
            "frames": "the first",
            "colour_profile": "not applied",
            "limits": {"pixels": MOST_PIXELS, "bytes": MOST_BYTES},
        }

    def _row(self, item: Item) -> Row:
        try:
            picture, notes = decode(item)
            pixels = prepare(picture, self.preprocessing)
        except ItemError as error:
            return Row({}, 0, problem=error.what)
        return Row({"pixel_values": pixels}, 1, {"notes": list(notes)} if notes else {})


@dataclass(eq=False)
class PictureTask:
    """What every task over pictures does alike, around its own ``finish`` and ``answers``."""

    pictures: Pictures
    assumptions: tuple[str, ...]

    takes = "picture"
    window = WINDOW

    def hints(self) -> Mapping[str, Json]:
        """Return what probes need."""
        return self.pictures.hints()

    def encode(self, items: Sequence[Item]) -> list[Row]:
        """Return one row per picture, in order."""
        return self.pictures.encode(items)

    def collate(self, rows: Sequence[Row]) -> Arrays:
        """Return one batch, pixel_values (N, 3, H, W)."""
        return self.pictures.collate(rows)

    def owners(self, inputs: Arrays) -> Ints:
        """Return (N,): each picture has one row of outputs."""
        return np.arange(len(inputs["pixel_values"]))


def open_pictures(model: Model) -> Pictures:
    """Check the folder's preprocessing.

    Raises:
        TaskError: it is absent, or says something that is not known; never guessed.
    """
    wanted = model.preprocessing
    if wanted is None:
        raise TaskError(
            f"{model.folder} does not say how pictures are prepared.",
            fix="a config.json with timm's pretrained_cfg",
        )
    checks = (
        ("interpolation", wanted.interpolation, _INTERPOLATIONS),
        ("crop_mode", wanted.crop_mode, _CROP_MODES),
        ("number of channels", wanted.size[0], (3,)),
        ("mean's length", len(wanted.mean), (3,)),
        ("std's length", len(wanted.std), (3,)),
    )
    for name, value, known in checks:
        if value not in known:
            raise TaskError(
                f"The preprocessing's {name} is not known.",
                found=str(value),
                fix=f"one of: {', '.join(map(str, known))}",
            )
    return Pictures(wanted)


def prepare(picture: Image.Image, wanted: Preprocessing) -> Floats:
    """Return (3, H, W) float32: resized, cropped, scaled to [0, 1], less mean, over std.

    Source: timm 1.0.31, transforms_imagenet_eval; equal bit for bit (tests/tasks).

    Raises:
        ItemError: the picture is so thin that resizing it gives no pixels, or too many.
    """
    resized = _resize(picture, _resized_size(picture.size, wanted), wanted.interpolation)
    fill = tuple(round(255 * v) for v in wanted.mean) if wanted.crop_mode == "border" else (0, 0, 0)
    cropped = _crop_or_pad(resized, wanted.size[1:], fill)
    pixels = np.asarray(cropped).transpose(2, 0, 1).astype(np.float32, order="C")
    pixels /= np.float32(255)
    pixels -= np.array(wanted.mean, dtype=np.float32)[:, None, None]
    pixels /= np.array(wanted.std, dtype=np.float32)[:, None, None]
    return pixels


def _resized_size(size: tuple[int, int], wanted: Preprocessing) -> tuple[int, int]:
    """Return width and height before the crop."""
    width, height = size
    high, wide = (math.floor(edge / wanted.crop_pct) for edge in wanted.size[1:])
    if wanted.crop_mode == "squash":
        return wide, high
    if wanted.crop_mode == "center" and high == wide:  # torchvision's Resize: the long edge floors
        if width <= height:
            return wide, int(wide * height / width)
        return int(high * width / height), high
    ratios = (height / high, width / wide)  # timm's ResizeKeepRatio: both edges round
    ratio = max(ratios) if wanted.crop_mode == "border" else min(ratios)
    return round(width / ratio), round(height / ratio)


def _resize(picture: Image.Image, size: tuple[int, int], interpolation: str) -> Image.Image:
    pixels = size[0] * size[1]
    if not 0 < pixels <= MOST_PIXELS:
        raise ItemError(
            f"the picture is too thin: {picture.width} × {picture.height} pixels become "
            f"{size[0]} × {size[1]}"
        )
    if size == picture.size:
        return picture
    return picture.resize(size, _INTERPOLATIONS[interpolation])


def _crop_or_pad(picture: Image.Image, size: tuple[int, int], fill: tuple[int, ...]) -> Image.Image:
    """Return the centre, (H, W); what is missing is padded, one more pixel right and below."""
    height, width = size
    wide, high = max(picture.width, width), max(picture.height, height)
    if (wide, high) != picture.size:
        padded = Image.new("RGB", (wide, high), fill)
        padded.paste(picture, ((wide - picture.width) // 2, (high - picture.height) // 2))
        picture = padded
    left, top = round((wide - width) / 2), round((high - height) / 2)
    return picture.crop((left, top, left + width, top + height))


def _listed(value: Json) -> Json:
    return list(value) if isinstance(value, tuple) else value
