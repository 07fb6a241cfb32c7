"""A file of a model folder in; its JSON, its sha256, or the reason it is not what it seems, out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from likewise.cache import file_facts
from likewise.errors import FolderError, WeightsError

__all__ = ["digest", "flag", "optional_json", "read_json", "read_object", "refuse_pointer", "show"]

_MOST_JSON = 256 << 20  # bytes; the largest tokenizer.json in use is a tenth of it
_POINTER = b"version https://git-lfs.github.com/spec/"


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; a byte-order mark is passed over.

    Raises:
        FolderError: the file is missing, empty, too large, a git-lfs pointer, or not JSON.
    """
    try:
        size = path.stat().st_size
        if size > _MOST_JSON:
            raise FolderError(f"{path} is too large to be read.", found=f"{size:,} bytes")
        refuse_pointer(path)
        text = path.read_bytes().decode("utf-8-sig")
        return json.loads(text)
    except FileNotFoundError:
        raise FolderError(f"There is no {path.name} in {path.parent}.") from None
    except UnicodeDecodeError as error:
        found = f"byte {error.start} is not UTF-8"
    except json.JSONDecodeError as error:
        found = (
            f"line {error.lineno}, column {error.colno}: {error.msg}" if text.strip() else "empty"
        )
    except RecursionError:
        found = "nested too deeply"
    except OSError as error:
        found = error.strerror or str(error)
    raise FolderError(f"{path} is not JSON.", found=found, fix=_again(path))


def _again(path: Path) -> str:
    return f"correct {path.name}" if path.name == "likewise.json" else "download the file again"


def read_object(path: Path) -> dict[str, Any]:
    """Return a JSON file that must hold an object.

    Raises:
        FolderError: as in ``read_json``, or the file holds something else.
    """
    content = read_json(path)
    if not isinstance(content, dict):
        raise FolderError(
            f"{path} holds no JSON object.",
            found=f"a {type(content).__name__}",
            fix=_again(path),
        )
    return content


def flag(config: Mapping[str, Any], key: str, path: Path, *, default: bool) -> bool:
    """Return what a key switches on or off; 0 and 1 count too, and null is as if it were absent.

    Raises:
        FolderError: it is neither.
    """
    value = config.get(key)
    if value is None:
        return default
    if value not in (True, False):
        raise FolderError(
            f"{path} has {key} neither on nor off.",
            found=f"{value!r}"[:200],
            fix=f"{key}: true or false",
        )
    return bool(value)


def optional_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file, or {} where there is no such file.

    Raises:
        FolderError: the file is there and is not a JSON object.
    """
    return read_object(path) if path.is_file() else {}


def digest(path: Path) -> str:
    """Return the sha256 of a file, read in pieces."""
    return str(file_facts(path)["sha256"])


def refuse_pointer(path: Path) -> None:
    """Refuse what stands for a file that was not downloaded: a git-lfs pointer, a web page.

    Raises:
        WeightsError: the file is one.
    """
    with path.open("rb") as file:
        start = file.read(512)
    if start.startswith(_POINTER):
        size = next((line[5:] for line in start.decode().splitlines() if line[:5] == "size "), "?")
        raise WeightsError(
            f"{path} is a git-lfs pointer, not the file itself.",
            found=f"{path.stat().st_size} bytes of text that stand for {size} bytes",
            fix=f"git lfs pull, run in {path.parent}; or download the file again",
        )
    if start.lstrip()[:9].lower().startswith((b"<!doctype", b"<html")):
        raise WeightsError(
            f"{path} is a web page, not the file itself.",
            found="HTML",
            fix="download the file again, from its own address rather than the page about it",
        )


def show(names: list[str] | tuple[str, ...], most: int = 5) -> str:
    """Return the first names and how many more there are.

    >>> show(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
