"""Two formats of the same weights in; whether they agree, from samples, out."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path
from typing import BinaryIO

from likewise.errors import WeightsError
from likewise.model.files import show
from likewise.model.header import DTYPES, Tensor
from likewise.model.pickled import Checkpoint, Stored, read_checkpoint

__all__ = ["compare"]

_SAMPLE = 4096  # bytes at each end of a tensor; small tensors are compared whole
_WIDTHS = dict(DTYPES.values())


def compare(tensors: dict[str, Tensor], pickle: Path) -> tuple[str, ...]:
    """Return what to say about a ``pytorch_model.bin`` that lies beside ``model.safetensors``.

    Names and shapes are compared in full, values in samples from both ends of every tensor; so
    another training run is noticed, and reading stays a matter of milliseconds. Nothing in the
    pickle is run.
    """
    unused = f"{pickle.name} is there too, and is not used: model.safetensors is"
    try:
        checkpoint = read_checkpoint(pickle)
    except WeightsError as error:
        return (f"{unused} ({error.what} {error.found})",)
    shapes = [
        name
        for name, tensor in tensors.items()
        if name in checkpoint.tensors and checkpoint.tensors[name].shape != tensor.shape
    ]
    names = sorted(set(tensors) ^ set(checkpoint.tensors))
    differing = sorted(shapes) or _differing(tensors, checkpoint, pickle)
    if differing:
        return (f"{unused}; the two differ in {len(differing)} tensors: {show(differing)}",)
    if names:
        return (f"{unused}; only one of the two holds {show(names)}",)
    return (f"{unused}; names, shapes and sampled values agree",)


def _differing(tensors: dict[str, Tensor], checkpoint: Checkpoint, pickle: Path) -> list[str]:
    if not checkpoint.root:
        return []
    with pickle.open("rb") as file, zipfile.ZipFile(file) as archive:
        starts = _starts(archive, checkpoint.root)
        found = []
        for name, stored in checkpoint.tensors.items():
            start = starts.get(stored.key)
            if name not in tensors or start is None or not _comparable(stored, tensors[name]):
                continue
            begin = start + stored.offset * _WIDTHS[stored.dtype]
            if not _same(tensors[name], file, begin):
                found.append(name)
    return sorted(found)


def _starts(archive: zipfile.ZipFile, root: str) -> dict[str, int]:
    """Return where each storage's bytes begin in the archive, which does not compress them."""
    starts = {}
    assert archive.fp is not None
    for entry in archive.infolist():
        if entry.filename.startswith(f"{root}data/") and entry.compress_type == zipfile.ZIP_STORED:
            archive.fp.seek(entry.header_offset + 26)
            name, extra = struct.unpack("<HH", archive.fp.read(4))
            starts[entry.filename.rpartition("/")[2]] = entry.header_offset + 30 + name + extra
    return starts


def _comparable(stored: Stored, tensor: Tensor) -> bool:
    return stored.contiguous and stored.dtype == tensor.dtype and stored.shape == tensor.shape


def _same(tensor: Tensor, pickle: BinaryIO, begin: int) -> bool:
    size = tensor.end - tensor.begin
    places = (0, size - _SAMPLE) if size > 2 * _SAMPLE else (0,)
    length = min(size, 2 * _SAMPLE) if len(places) == 1 else _SAMPLE
    with tensor.file.open("rb") as file:
        for place in places:
            file.seek(tensor.begin + place)
            pickle.seek(begin + place)
            if file.read(length) != pickle.read(length):
                return False
    return True
