"""A torch checkpoint in; its tensors' names and shapes, read without running anything, out.

A pickle can run code when it is opened (case B038). This reader knows the few names that a
state dict needs, stands a plain record in for each, and refuses a file that names anything else.
"""

from __future__ import annotations

import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from likewise.errors import WeightsError
from likewise.model.files import refuse_pointer
from likewise.model.header import Tensor

__all__ = ["Stored", "read_checkpoint"]

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
_NESTS = ("state_dict", "model_state_dict", "model")


@dataclass(frozen=True)
class Stored:
    """One tensor of a checkpoint, and where its numbers lie."""

    dtype: str
    shape: tuple[int, ...]
    key: str  # of its storage
    offset: int  # elements into the storage
    contiguous: bool


@dataclass(frozen=True)
class Checkpoint:
    """What a torch file holds."""

    tensors: dict[str, Stored]
    nest: str  # the key that the state dict lies under; "" at the top
    root: str  # the archive's inner folder; "" for files from before torch 1.6

    def table(self, path: Path) -> dict[str, Tensor]:
        """Return the tensors as the rest of the room knows them."""
        return {n: Tensor(t.dtype, t.shape, path) for n, t in self.tensors.items()}


def read_checkpoint(path: Path) -> Checkpoint:
    """Read the names, dtypes and shapes of a torch checkpoint.

    Raises:
        WeightsError: the file is missing, damaged, a git-lfs pointer, holds no state dict, or
            would have run code when opened.
    """
    try:
        refuse_pointer(path)
        if zipfile.is_zipfile(path):
            root, content = _open_archive(path)
        else:
            root, content = "", _open_old(path)
    except WeightsError:
        raise
    except OSError as error:
        raise WeightsError(f"{path} cannot be read.", found=error.strerror or str(error)) from None
    except Exception as error:  # noqa: BLE001 - a damaged pickle raises nearly any exception
        raise WeightsError(
            f"{path} is damaged or no torch checkpoint.",
            found=f"{type(error).__name__}: {error}",
            fix="download the file again",
        ) from None
    tensors, nest = _state_dict(content)
    if not tensors:
        raise WeightsError(
            f"{path} holds no state dict.",
            found=f"a {type(content).__name__}",
            fix="save model.state_dict() with safetensors",
        )
    return Checkpoint(tensors, nest, root)


def _open_archive(path: Path) -> tuple[str, Any]:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
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
            return inner.removesuffix("data.pkl"), _Reader(file, path).load()


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


def _state_dict(content: Any) -> tuple[dict[str, Stored], str]:
    for nest in ("", *_NESTS):
        inner = content.get(nest) if nest and isinstance(content, Mapping) else content
        if isinstance(inner, Mapping):
            found = {str(k): v for k, v in inner.items() if isinstance(v, Stored)}
            if found:
                return found, nest
    return {}, ""


@dataclass(frozen=True)
class _Storage:
    dtype: str
    key: str


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
) -> Stored:
    expected, tight = 1, True
    for length, step in zip(reversed(size), reversed(stride), strict=True):
        tight = tight and (length == 1 or step == expected)
        expected *= length
    return Stored(storage.dtype, tuple(size), storage.key, int(offset), tight)


def _parameter(tensor: Stored, *_: Any) -> Stored:
    return tensor
