"""Items in; the same items in a folder, and back, or their fingerprint, out."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import ItemError
from likewise.types import Item

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["fingerprint", "load_items", "save_items", "taken"]

_LIST = "items.json"
_FORMATS = {
    **dict.fromkeys(("1", "L", "LA", "P", "RGB", "RGBA", "I;16"), "png"),
    **dict.fromkeys(("CMYK", "YCbCr", "LAB", "F", "I", "RGBX"), "tiff"),
}
"""Formats that keep every bit of a picture, by its mode."""


def fingerprint(items: Iterable[Item]) -> str:
    """Return a sha256 over the items and their order: text, file contents, pixels.

    >>> fingerprint(["a", "b"]) == fingerprint(["ab"])
    False
    """
    whole = hashlib.sha256()
    for item in items:
        kind, parts = _content(item)
        whole.update(f"{kind}:{[len(p) for p in parts]}:".encode())
        for part in parts:
            whole.update(part)
    return whole.hexdigest()


def taken(items: Sequence[Item], takes: str) -> list[Item]:
    """Return items as a kind of task takes them: the name of a picture is a path to it.

    Raises:
        ItemError: pictures are given for a task over texts.
    """
    pictures = [item for item in items if isinstance(item, Path | bytes) or _is_picture(item)]
    if takes != "picture" and pictures:
        raise ItemError(
            "This model answers texts, and pictures are given.",
            found=f"{len(pictures)} of {len(items)} items",
            fix="--text or --file",
        )
    if takes != "picture":
        return list(items)
    return [Path(item) if isinstance(item, str) else item for item in items]


def save_items(items: Sequence[Item], folder: Path) -> None:
    """Write items so that another process can read them; pictures keep every bit.

    Raises:
        ItemError: an item that cannot be kept as it is.
    """
    folder.mkdir(parents=True, exist_ok=True)
    listed = [_save(item, index, folder) for index, item in enumerate(items)]
    (folder / _LIST).write_text(json.dumps(listed))  # ASCII: keeps even half of a surrogate pair


def load_items(folder: Path) -> list[Item]:
    """Read what ``save_items`` wrote.

    Raises:
        ItemError: the folder holds no items.
    """
    try:
        listed = json.loads((folder / _LIST).read_text())
    except (OSError, ValueError) as error:
        raise ItemError(f"{folder} holds no items.", found=str(error)) from None
    return [_load(kind, value, folder) for kind, value in listed]


def _content(item: Item) -> tuple[str, list[bytes]]:
    if isinstance(item, str):
        return "text", [item.encode("utf-8", "surrogatepass")]
    if isinstance(item, bytes):
        return "bytes", [item]
    if isinstance(item, Path):
        return "bytes", [item.read_bytes() if item.is_file() else str(item).encode()]
    if _is_picture(item):
        return "picture", [f"{item.mode}{item.size}".encode(), item.tobytes()]
    return "value", [repr(item).encode("utf-8", "surrogatepass")]


def _is_picture(item: Item) -> bool:
    return hasattr(item, "tobytes") and hasattr(item, "mode")


def _save(item: Item, index: int, folder: Path) -> tuple[str, Any]:
    if isinstance(item, str):
        return "text", item
    if isinstance(item, Path):
        return "path", _save_file(item, index, folder)
    if isinstance(item, tuple) and all(isinstance(part, str) for part in item):
        return "pair", list(item)
    if isinstance(item, bytes):
        name = f"{index:06d}.bin"
        (folder / name).write_bytes(item)
        return "bytes", name
    if _is_picture(item):
        return "picture", _save_picture(item, index, folder)
    try:
        return "value", json.loads(json.dumps(item))
    except (TypeError, ValueError):
        raise ItemError(
            f"Item {index} is neither text nor a picture.", found=type(item).__name__
        ) from None


def _save_file(item: Path, index: int, folder: Path) -> str:
    """Copy a file's bytes: the same content may come from another place, or change there."""
    if not item.is_file():
        return str(item.absolute())
    name = f"{index:06d}{item.suffix}"
    shutil.copyfile(item, folder / name)
    return name


def _save_picture(picture: Image.Image, index: int, folder: Path) -> str:
    format_ = _FORMATS.get(picture.mode)
    if format_ is None:
        raise ItemError(
            f"Picture {index} cannot be kept as it is.",
            found=f"mode {picture.mode}",
            fix="convert it to RGB first",
        )
    name = f"{index:06d}.{format_}"
    picture.save(folder / name, exif=picture.getexif())
    return name


def _load(kind: str, value: Any, folder: Path) -> Item:
    if kind == "path":
        return folder / value  # which is the value itself, where that is absolute
    if kind == "pair":
        return tuple(value)
    if kind == "bytes":
        return (folder / value).read_bytes()
    if kind == "picture":
        from PIL import Image

        picture = Image.open(folder / value)
        picture.load()
        return picture
    return value
