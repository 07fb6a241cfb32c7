"""A path, bytes or PIL picture in; an upright RGB picture, and what was done to it, out.

Opaque pictures come out as ``convert("RGB")`` gives them, which is what timm's readers do. Beyond
that: the EXIF orientation is applied, transparent pixels are laid on white (timm shows whatever
colour the file hides there), 16-bit grey is scaled (Pillow clips it to white), and of several
frames the first is taken. Colour profiles are not applied, as in timm.
"""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from likewise.errors import ItemError
from likewise.types import Item

MOST_PIXELS = 89_478_485  # Pillow's own limit: a quarter of a gigabyte as RGB
MOST_BYTES = 1 << 28  # of the compressed file

# What Pillow's readers raise on damaged files: each is one item's problem, not the run's.
_DAMAGED = (
    OSError, EOFError, SyntaxError, ValueError, TypeError, IndexError, KeyError, AttributeError,
    OverflowError, ZeroDivisionError, NotImplementedError, MemoryError, struct.error, zlib.error,
    Warning, Image.DecompressionBombError,
)  # fmt: skip
_DEEP_GREY = ("I", "I;16", "I;16L", "I;16B", "I;16N")

__all__ = ["MOST_BYTES", "MOST_PIXELS", "decode"]


def decode(item: Item) -> tuple[Image.Image, tuple[str, ...]]:
    """Return the picture as RGB, upright, and notes on what is not plain about it.

    Raises:
        ItemError: not a picture, damaged, or larger than MOST_PIXELS or MOST_BYTES.
    """
    try:
        picture = item if isinstance(item, Image.Image) else Image.open(_source(item))
        _check_size(picture)
        several = bool(getattr(picture, "is_animated", False)) and item is not picture
        picture.load()
        upright, turned = _upright(picture)
        flat, notes = _flatten(upright, picture.format)
    except ItemError:
        raise
    except UnidentifiedImageError:
        raise ItemError("not a picture in a format that Pillow reads") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ItemError(f"more than {MOST_PIXELS:,} pixels") from None
    except _DAMAGED as error:
        raise ItemError(f"the picture cannot be decoded: {error}") from None
    first = ("the first of several frames",) if several else ()
    return flat, (*first, *turned, *notes)


def _source(item: Item) -> Path | BytesIO:
    if isinstance(item, bytes | bytearray | memoryview):
        size = len(item)
        source: Path | BytesIO = BytesIO(item)
    elif isinstance(item, str | Path):
        source = Path(item)
        if not source.is_file():
            raise ItemError(f"there is no file {item}")
        size = source.stat().st_size
    else:
        kind = "null" if item is None else type(item).__name__
        raise ItemError(f"not a path, bytes or picture: {kind}")
    if size > MOST_BYTES:
        raise ItemError(f"the file has {size:,} bytes, and the limit is {MOST_BYTES:,}")
    return source


def _check_size(picture: Image.Image) -> None:
    width, height = picture.size
    if width * height > MOST_PIXELS:
        raise ItemError(
            f"the picture has {width} × {height} pixels, and the limit is {MOST_PIXELS:,}"
        )


def _upright(picture: Image.Image) -> tuple[Image.Image, tuple[str, ...]]:
    try:
        upright = ImageOps.exif_transpose(picture)
        orientation = picture.getexif().get(0x0112, 1)
    except _DAMAGED as error:
        return picture, (f"not turned: its EXIF block cannot be read ({error})",)
    if orientation in (None, 1):
        return upright, ()
    if orientation not in range(2, 9):
        return upright, (f"not turned: its EXIF block says orientation {orientation}",)
    return upright, ("turned as its EXIF block says",)


def _flatten(picture: Image.Image, form: str | None) -> tuple[Image.Image, tuple[str, ...]]:
    if picture.mode == "F":
        raise ItemError("floating-point pixels: what is black and what is white is not known")
    if picture.mode == "I" and form not in ("PNG", "PPM"):
        raise ItemError("32-bit pixels: what is black and what is white is not known")
    if picture.mode in _DEEP_GREY:
        levels = np.clip(np.asarray(picture).astype(np.int64), 0, 65535)
        grey = Image.fromarray(((levels + 128) // 257).astype(np.uint8))
        return grey.convert("RGB"), ("16-bit grey scaled to 8 bits",)
    if not picture.has_transparency_data:
        return picture.convert("RGB"), ()
    layered = picture.convert("RGBA")
    if layered.getchannel("A").getextrema()[0] == 255:
        return layered.convert("RGB"), ()
    white = Image.new("RGBA", layered.size, "white")
    return Image.alpha_composite(white, layered).convert("RGB"), ("laid on white",)
