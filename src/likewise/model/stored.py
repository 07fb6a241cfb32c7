"""The tensors of a weight file in; torch tensors, each read once into its own memory, out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import WeightsError
from likewise.model.files import show
from likewise.model.header import DTYPES, Tensor

if TYPE_CHECKING:
    from likewise.model.weight_files import Weights

__all__ = ["State", "read_state"]

_PIECE = 4 << 20  # elements compared at once
_WIDTHS = dict(DTYPES.values())
_OLD_NAMES = re.compile(r"(LayerNorm)\.(gamma|beta)$")
_NEW_NAMES = {"gamma": "weight", "beta": "bias"}


@dataclass(frozen=True)
class State:
    """A state dict, and the way back to the bytes that it was read from."""

    stored: dict[str, Tensor]  # by today's name
    tensors: dict[str, Any]  # the same as torch tensors, until they are given away
    _whole: dict[str, Any] = field(repr=False)  # what only torch could find in the file

    def pieces(self, name: str) -> Iterator[tuple[int, Any]]:
        """Yield (offset in elements, flat torch tensor) of a tensor, read from the file again."""
        stored = self.stored[name]
        if not stored.placed:
            yield 0, self._whole[name].reshape(-1)
            return
        for begin in range(0, stored.elements, _PIECE):
            count = min(_PIECE, stored.elements - begin)
            yield begin, _read(stored, begin, count)


def read_state(weights: Weights) -> State:
    """Read every tensor into its own memory, in the dtype that it is stored in.

    Nothing is mapped: memory holds the weights once. Two names of one place in a pickle, as tied
    weights have, share one tensor.

    Raises:
        WeightsError: a file shrank since its header was read, or holds dtypes of no float model.
    """
    files = {_today(name): tensor for name, tensor in weights.tensors.items()}
    if len(files) < len(weights.tensors):
        twice = [n for n, count in Counter(_today(n) for n in weights.tensors).items() if count > 1]
        raise WeightsError(
            f"{weights.files[0]} holds a tensor under its old and its new name.",
            found=show(sorted(twice)),
            fix="which of the two counts is not said: save the model again",
        )
    whole = _whole(weights)
    shared: dict[tuple[Path, int, int], Any] = {}
    tensors = {}
    for name, stored in files.items():
        if not stored.placed:
            tensors[name] = whole[name]
            continue
        place = (stored.file, stored.begin, stored.end)
        if place not in shared:
            shared[place] = _read(stored, 0, stored.elements)
        tensors[name] = shared[place].reshape(stored.shape)
    return State(files, tensors, whole)


def _today(name: str) -> str:
    # Only LayerNorm's: timm's ConvNeXt has a parameter that is called gamma (case B032).
    return _OLD_NAMES.sub(lambda found: f"{found[1]}.{_NEW_NAMES[found[2]]}", name)


def _read(stored: Tensor, begin: int, count: int) -> Any:
    import torch

    dtype = getattr(torch, stored.dtype)
    width = _WIDTHS[stored.dtype]
    memory = torch.empty(count * width, dtype=torch.uint8)
    with stored.file.open("rb", buffering=0) as file:
        file.seek(stored.begin + begin * width)
        view, done = memoryview(memory.numpy()), 0
        while done < len(view):
            more = file.readinto(view[done:])
            if not more:
                raise WeightsError(f"{stored.file} became shorter while it was read.")
            done += more
    return memory.view(dtype)


def _whole(weights: Weights) -> dict[str, Any]:
    """Let torch open, weights-only, the pickles whose tensors have no place of their own."""
    import torch

    found: dict[str, Any] = {}
    for file in sorted({t.file for t in weights.tensors.values() if not t.placed and t.elements}):
        try:
            content = torch.load(file, map_location="cpu", weights_only=True)
        except Exception as error:  # noqa: BLE001 - torch raises many kinds for a bad pickle
            raise WeightsError(f"{file} is not opened.", found=str(error).split("\n")[0]) from None
        inner = content[weights.nest] if weights.nest else content
        found |= {_today(k.removeprefix(weights.prefix)): v for k, v in inner.items()}
    for name, stored in weights.tensors.items():
        if not stored.elements:
            found[_today(name)] = torch.empty(stored.shape, dtype=getattr(torch, stored.dtype))
    return found
