"""A safetensors file in; the name, dtype, shape and place of every tensor, from its header, out."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from likewise.errors import WeightsError
from likewise.model.files import refuse_pointer

__all__ = ["DTYPES", "Tensor", "read_header"]

_MOST_HEADER = 100 << 20  # bytes; the limit of the safetensors format
DTYPES = {
    "F64": ("float64", 8),
    "F32": ("float32", 4),
    "F16": ("float16", 2),
    "BF16": ("bfloat16", 2),
    "F8_E4M3": ("float8_e4m3fn", 1),
    "F8_E5M2": ("float8_e5m2", 1),
    "I64": ("int64", 8),
    "I32": ("int32", 4),
    "I16": ("int16", 2),
    "I8": ("int8", 1),
    "U8": ("uint8", 1),
    "BOOL": ("bool", 1),
}
"""safetensors' spelling → ours, and bytes in an element."""


@dataclass(frozen=True)
class Tensor:
    """One tensor of a weight file."""

    dtype: str  # as torch and numpy spell it
    shape: tuple[int, ...]
    file: Path
    begin: int = 0  # bytes from the start of the file; both are 0 where only torch finds them
    end: int = 0

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)

    @property
    def placed(self) -> bool:
        """Whether its numbers lie in one piece from ``begin`` to ``end``."""
        return self.begin > 0

    @property
    def floating(self) -> bool:
        """Whether it is a weight rather than an index."""
        return "float" in self.dtype


def read_header(path: Path) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file by name, without reading one.

    Every byte of the file must belong to exactly one tensor: a file that was cut short, has bytes
    too many, or tensors that overlap, is refused here, once, for every engine.

    Raises:
        WeightsError: the file is missing, a git-lfs pointer, incomplete or corrupt.
    """
    try:
        size = path.stat().st_size
        refuse_pointer(path)
        with path.open("rb") as file:
            start = file.read(8)
            if start.startswith(b"PK\x03\x04"):
                raise WeightsError(
                    f"{path} is a torch checkpoint under another name.",
                    found="a zip archive",
                    fix=f"mv {path} {path.with_name('pytorch_model.bin')}",
                )
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
            if size < 8 or length > min(_MOST_HEADER, size - 8):
                raise _corrupt(path, expected=8 + length, size=size)
            text = file.read(length)
    except OSError as error:
        raise WeightsError(f"{path} cannot be read.", found=error.strerror or str(error)) from None
    entries = _parse(path, text)
    tensors = {name: _tensor(path, name, entry, 8 + length) for name, entry in entries.items()}
    _check_places(path, tensors, 8 + length, size)
    return tensors


def _parse(path: Path, text: bytes) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a name stands twice")
        return found

    try:
        entries = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"the header is not JSON: {error}") from None
    if not isinstance(entries, dict):
        raise _damaged(path, "the header is not a JSON object")
    entries.pop("__metadata__", None)
    if not entries:
        raise _damaged(path, "the header names no tensor")
    return entries


def _tensor(path: Path, name: str, entry: Any, start: int) -> Tensor:
    try:
        dtype, width = DTYPES[entry["dtype"]]
        shape = tuple(entry["shape"])
        begin, end = entry["data_offsets"]
        numbers = (*shape, begin, end)
        whole = all(type(n) is int and n >= 0 for n in numbers)
    except (KeyError, TypeError, ValueError):
        raise _damaged(path, f"the header's entry for {name!r} cannot be read") from None
    if not whole or end - begin != math.prod(shape) * width:
        raise _damaged(
            path, f"{name!r} is {dtype} of shape {shape}, which does not fit bytes {begin}–{end}"
        )
    return Tensor(dtype, shape, path, start + begin, start + end)


def _check_places(path: Path, tensors: dict[str, Tensor], start: int, size: int) -> None:
    place = start
    for name, tensor in sorted(tensors.items(), key=lambda item: (item[1].begin, item[1].end)):
        if tensor.begin != place:
            kind = "overlaps the tensor before it" if tensor.begin < place else "leaves a gap"
            raise _damaged(path, f"{name!r} {kind} at byte {tensor.begin}")
        place = tensor.end
    if place != size:
        raise _corrupt(path, expected=place, size=size)


def _corrupt(path: Path, *, expected: int, size: int) -> WeightsError:
    kind = "incomplete" if size < expected else "corrupt"
    return WeightsError(
        f"{path} is {kind}: it is not the size that its header says.",
        found=f"expected {max(expected, 8):,} bytes, has {size:,}",
        fix="download the file again, and compare its size with the one on the hub",
    )


def _damaged(path: Path, found: str) -> WeightsError:
    return WeightsError(
        f"{path} is corrupt: its header contradicts itself.",
        found=found,
        fix="download the file again, or save it anew with safetensors",
    )
