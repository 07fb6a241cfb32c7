"""A Report in, ``report.json`` out, and back: the one file that every rendering is made from.

The file holds no NaN and no Infinity: a figure that is not finite becomes null, and the reason
stands beside it (``absent`` or ``reason`` of the same object, or the key with ``_reason``).
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec

from likewise.errors import FolderError, LikewiseError
from likewise.outcomes import SCHEMA, Report
from likewise.types import Json

__all__ = ["FILE", "load", "save", "schema", "settled"]

FILE = "report.json"


def save(report: Report, path: Path | str) -> None:
    """Write the record so that a reader finds the old file or the new one, never half of one.

    Equal reports give equal bytes: typed fields in the order of ``outcomes.py``, mappings by key.

    Raises:
        LikewiseError: a figure that must be there (a timing) is not finite.
        OSError: the disk refuses.
    """
    path = Path(path)
    text = json.dumps(_builtins(settled(report)), indent=2, ensure_ascii=False, allow_nan=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with unfinished.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    _sync_folder(path.parent)


def load(path: Path | str) -> Report:
    """Read a record.

    Args:
        path: the JSON file, or the folder that ``likewise port`` wrote it into.

    Raises:
        FolderError: there is none, it is damaged, or a newer likewise wrote it.
    """
    path = Path(path)
    if path.is_dir():
        path = path / FILE
    text = _read(path)
    try:
        head = msgspec.json.decode(text, type=_Head)
        if head.schema <= SCHEMA:
            return msgspec.json.decode(text, type=Report)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise FolderError(
            f"{path} is not a report of likewise, or it is damaged.",
            found=str(error),
            fix="write it again: likewise port MODEL -o DIR",
        ) from None
    raise FolderError(
        f"{path} was written by a newer likewise.",
        found=f"schema {head.schema}, and this version reads up to {SCHEMA}",
        fix="pip install --upgrade likewise",
    )


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the record, made from the types."""
    made = msgspec.json.schema(Report)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"likewise report, schema {SCHEMA}",
        **made,
    }


def settled(report: Report) -> Report:
    """Return the report as it reads back from its own file; renderings start from this.

    Raises:
        LikewiseError: a figure that must be there (a timing) is not finite.
    """
    try:
        return msgspec.convert(_tidy(_builtins(report)), Report)
    except msgspec.ValidationError as error:
        raise LikewiseError(
            "This report cannot be recorded: a figure that must be there is missing.",
            found=str(error),
            fix="a plan without a timing has no Timing; file this as a bug of likewise",
        ) from None


class _Head(msgspec.Struct):
    schema: int


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise FolderError(
            f"There is no report at {path}.", fix="likewise port MODEL -o DIR writes one"
        ) from None
    except OSError as error:
        raise FolderError(f"{path} cannot be read.", found=str(error)) from None


def _builtins(report: Report) -> Any:
    return msgspec.to_builtins(report, order="deterministic", str_keys=True, enc_hook=_plain)


def _plain(value: Any) -> Json:
    """Turn what slips into a mapping of facts into JSON: a numpy number or array, a path."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


def _tidy(value: Json) -> Json:
    """Return the value with no NaN, no Infinity and no lone surrogate in it."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_tidy(v) for v in value]
    if not isinstance(value, Mapping):
        return value
    tidy = {_tidy(key): _tidy(v) for key, v in value.items()}
    for key, part in value.items():
        reason = _not_finite(part)
        if reason:
            _give_reason(tidy, _tidy(key), reason)
    return tidy


def _not_finite(part: Json) -> str:
    """Say which of the figures here, in a list or alone, are not finite; "" where all are."""
    parts = part if isinstance(part, list | tuple) else [part]
    bad = [p for p in parts if isinstance(p, float) and not math.isfinite(p)]
    if not bad:
        return ""
    found = ", ".join(sorted({str(b) for b in bad}))
    if part is bad[0]:
        return f"not a finite number: {found}"
    return f"{len(bad)} of {len(parts)} are not finite numbers: {found}"


def _give_reason(tidy: dict[str, Json], key: str, reason: str) -> None:
    if isinstance(tidy.get("absent"), dict):
        tidy["absent"].setdefault(key, reason)
    elif isinstance(tidy.get("reason"), str):
        tidy["reason"] = tidy["reason"] or reason
    else:
        tidy.setdefault(f"{key}_reason", reason)


def _sync_folder(folder: Path) -> None:
    """Make the rename survive a power cut, where the file system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
