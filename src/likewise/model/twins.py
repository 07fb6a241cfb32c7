"""Two formats of the same weights in; whether they agree, from samples, out."""

from __future__ import annotations

from pathlib import Path

from likewise.errors import WeightsError
from likewise.model.files import show
from likewise.model.header import Tensor
from likewise.model.pickled import read_checkpoint

__all__ = ["compare"]

_SAMPLE = 4096  # bytes at each end of a tensor; small tensors are compared whole


def compare(tensors: dict[str, Tensor], pickle: Path) -> tuple[str, ...]:
    """Return what to say about a ``pytorch_model.bin`` that lies beside ``model.safetensors``.

    Names and shapes are compared in full, values in samples from both ends of every tensor; so
    another training run is noticed, and reading stays a matter of milliseconds. Nothing in the
    pickle is run.
    """
    unused = f"{pickle.name} is there too, and is not used: model.safetensors is"
    try:
        others = read_checkpoint(pickle).tensors
    except WeightsError as error:
        return (f"{unused} ({error.what} {error.found})",)
    both = sorted(set(tensors) & set(others))
    differing = [name for name in both if _differ(tensors[name], others[name])]
    if differing:
        return (f"{unused}; the two differ in {len(differing)} tensors: {show(differing)}",)
    single = sorted(set(tensors) ^ set(others))
    if single:
        return (f"{unused}; only one of the two holds {show(single)}",)
    return (f"{unused}; names, shapes and sampled values agree",)


def _differ(one: Tensor, other: Tensor) -> bool:
    if (one.shape, one.dtype) != (other.shape, other.dtype):
        return True
    size = one.end - one.begin
    if not one.placed or not other.placed or size == 0:
        return False
    places = (0, size - _SAMPLE) if size > 2 * _SAMPLE else (0,)
    length = _SAMPLE if len(places) == 2 else size
    return any(_bytes(one, place, length) != _bytes(other, place, length) for place in places)


def _bytes(tensor: Tensor, place: int, length: int) -> bytes:
    with tensor.file.open("rb") as file:
        file.seek(tensor.begin + place)
        return file.read(length)
