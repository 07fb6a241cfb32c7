"""A torch checkpoint in; its tensors' names and shapes, read without running anything, out.

A pickle can run code when it is opened (case B038). This reader knows the few names that a
state dict needs, stands a plain record in for each, and refuses a file that names anything else.
"""

from __future__ import annotations

import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from likewise.errors import WeightsError
from likewise.model.files import refuse_pointer, show
from likewise.model.header import DTYPES, Tensor

__all__ = ["Checkpoint", "read_checkpoint"]

_MAGIC = 0x1950A86A20F9469CFC6C  # opens the first pickle of a torch file before version 1.6
_MOST_PICKLE = 256 << 20  # bytes of names and shapes
_STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
}
_WIDTHS = dict(DTYPES.values())
_NESTS = ("state_dict", "model_state_dict", "model")


@dataclass(frozen=True)
class Checkpoint:
    """What a torch file holds."""

    tensors: dict[str, Tensor]  # with their place where the archive holds them in one piece
    nest: str  # the key that the state dict lies under; "" at the top
    others: tuple[str, ...] = ()  # keys of further state dicts


@dataclass(frozen=True)
class _Storage:
    dtype: str
    key: str


@dataclass(frozen=True)
class _Stored:
    storage: _Storage
    shape: tuple[int, ...]
    offset: int  # elements into the storage
    contiguous: bool


def read_checkpoint(path: Path) -> Checkpoint:
    """Read the names, dtypes and shapes of a torch checkpoint.

    Raises:
        WeightsError: the file is missing, damaged, a git-lfs pointer, holds no state dict, or
            would have run code when opened.
    """
    try:
        refuse_pointer(path)
        _refuse_safetensors(path)
        if path.stat().st_size == 0:
            raise WeightsError(f"{path} is empty.", found="0 bytes", fix="download the file again")
        if zipfile.is_zipfile(path):
            content, starts = _open_archive(path)
        else:
            content, starts = _open_old(path), {}
    except WeightsError:
        raise
    except OSError as error:
        raise WeightsError(f"{path} cannot be read.", found=error.strerror or str(error)) from None
    except Exception as error:  # noqa: BLE001 - a damaged pickle raises nearly any exception
        raise WeightsError(
            f"{path} is damaged or no torch checkpoint.",
            found=f"{path.stat().st_size:,} bytes; {type(error).__name__}: {error}",
            fix="download the file again",
        ) from None
    tensors, nest = _state_dict(content)
    if not tensors:
        raise WeightsError(
            f"{path} holds no state dict.",
            found=_described(content),
            fix="save model.state_dict() with safetensors",
        )
    placed = {name: _placed(stored, starts, path) for name, stored in tensors.items()}
    return Checkpoint(placed, nest, _others(content, nest))


def _refuse_safetensors(path: Path) -> None:
    with path.open("rb") as file:
        start = file.read(9)
    if start[8:] == b"{" and int.from_bytes(start[:8], "little") < path.stat().st_size:
        raise WeightsError(
            f"{path} holds safetensors under another name.",
            found="a safetensors header",
            fix=f"mv {path} {path.with_name('model.safetensors')}",
        )


def _open_archive(path: Path) -> tuple[Any, dict[str, int]]:
    """Return the content, and where the bytes of each storage begin."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        broken = archive.testzip()
        if broken is not None:
            raise WeightsError(
                f"{path} is damaged.",
                found=f"the checksum of {broken} is wrong",
                fix="download the file again",
            )
        inner = next((name for name in names if name.endswith("/data.pkl")), None)
        if inner is None or any(name.endswith("/constants.pkl") for name in names):
            raise WeightsError(
                f"{path} is not a state dict.",
                found="a TorchScript program" if inner else "a zip file without data.pkl",
                fix="save model.state_dict() with safetensors",
            )
        if archive.getinfo(inner).file_size > _MOST_PICKLE:
            raise WeightsError(f"{path} is damaged.", found="a list of tensors that is too long")
        with archive.open(inner) as file:
            content = _Reader(file, path).load()
        return content, _starts(archive, f"{inner.removesuffix('data.pkl')}data/")


def _open_old(path: Path) -> Any:
    with path.open("rb") as file:
        if _Reader(file, path).load() != _MAGIC:
            raise WeightsError(
                f"{path} is not a torch checkpoint.",
                found="a pickle of another kind, which is not opened",
                fix="save model.state_dict() with safetensors",
            )
        for _ in range(2):  # the protocol's number; the byte order and widths of the writer
            _Reader(file, path).load()
        return _Reader(file, path).load()


def _state_dict(content: Any) -> tuple[dict[str, _Stored], str]:
    for nest in ("", *_NESTS):
        inner = content.get(nest) if nest and isinstance(content, Mapping) else content
        if isinstance(inner, Mapping):
            found = {str(k): v for k, v in inner.items() if isinstance(v, _Stored)}
            if found:
                return found, nest
    return {}, ""


def _described(content: Any) -> str:
    if isinstance(content, Mapping) and content:
        return f"a {type(content).__name__} with the keys {show([str(key) for key in content])}"
    return f"a {type(content).__name__}"


def _others(content: Mapping[str, Any], nest: str) -> tuple[str, ...]:
    maps = {str(key): value for key, value in content.items() if isinstance(value, Mapping)}
    return tuple(
        key
        for key, inner in maps.items()
        if key != nest and any(isinstance(value, _Stored) for value in inner.values())
    )


def _starts(archive: zipfile.ZipFile, root: str) -> dict[str, int]:
    """Return where each storage that is not compressed begins; its bytes are as in memory."""
    starts: dict[str, int] = {}
    assert archive.fp is not None
    for entry in archive.infolist():
        if entry.filename.startswith(root) and entry.compress_type == zipfile.ZIP_STORED:
            archive.fp.seek(entry.header_offset + 26)
            name, extra = struct.unpack("<HH", archive.fp.read(4))
            starts[entry.filename.removeprefix(root)] = entry.header_offset + 30 + name + extra
    return starts


def _placed(stored: _Stored, starts: Mapping[str, int], path: Path) -> Tensor:
    tensor = Tensor(stored.storage.dtype, stored.shape, path)
    start = starts.get(stored.storage.key)
    if start is None or not stored.contiguous:
        return tensor
    width = _WIDTHS[tensor.dtype]
    begin = start + stored.offset * width
    end = begin + tensor.elements * width
    if end > path.stat().st_size:
        raise WeightsError(
            f"{path} is incomplete.",
            found=f"a tensor ends at byte {end:,}; the file has {path.stat().st_size:,}",
            fix="download the file again",
        )
    return Tensor(tensor.dtype, tensor.shape, path, begin, end)


class _Reader(pickle.Unpickler):
    """An unpickler that can name nothing but the parts of a state dict."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        super().__init__(file)
        self._path = path

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if module == "torch._utils" and name in ("_rebuild_tensor_v2", "_rebuild_parameter"):
            return _tensor if name == "_rebuild_tensor_v2" else _parameter
        if module == "torch" and name in _STORAGES:
            return _STORAGES[name]
        if (module, name) == ("torch", "Size"):
            return tuple
        if module.partition(".")[0] == "torch":
            raise WeightsError(
                f"{self._path} holds more than plain tensors of real numbers.",
                found=f"{module}.{name}",
                fix="save model.state_dict() with safetensors, dense and not complex",
            )
        raise WeightsError(
            f"{self._path} is not opened: it is a pickle that would run code.",
            found=f"it names {module}.{name}; a state dict has no use for it",
            fix="get the weights as safetensors from a source you trust",
        )

    def persistent_load(self, pid: Any) -> _Storage:
        # ("storage", type, key, device, elements[, view]) — torch.serialization
        return _Storage(str(pid[1]), str(pid[2]))


def _tensor(
    storage: _Storage, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: Any
) -> _Stored:
    expected, tight = 1, True
    for length, step in zip(reversed(size), reversed(stride), strict=True):
        tight = tight and (length == 1 or step == expected)
        expected *= length
    return _Stored(storage, tuple(size), int(offset), tight)


def _parameter(tensor: _Stored, *_: Any) -> _Stored:
    return tensor
