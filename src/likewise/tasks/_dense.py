"""A sentence-transformers Dense folder in; a layer that projects vectors, out."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError, deserialize

from likewise.errors import TaskError, WeightsError

if TYPE_CHECKING:
    from likewise.types import Dense, Floats

_OPEN: Callable[[bytes], list[tuple[str, dict[str, Any]]]] = deserialize
_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}

__all__ = ["ACTIVATIONS", "Layer", "open_layer"]


@dataclass(frozen=True, eq=False)
class Layer:
    """y = activation(x Wᵀ + b)."""

    weight: Floats  # (outputs, inputs)
    bias: Floats | None  # (outputs,)
    activation: Callable[[Floats], Floats]

    def __call__(self, vectors: Floats) -> Floats:
        """Project (N, inputs) to (N, outputs), in the dtype of the vectors.

        What is not finite stays so, without a warning: the runner says it in the item's place.
        """
        with np.errstate(all="ignore"):
            projected = vectors @ self.weight.T.astype(vectors.dtype, copy=False)
            if self.bias is not None:
                projected += self.bias.astype(vectors.dtype, copy=False)
            return self.activation(projected).astype(vectors.dtype, copy=False)


def open_layer(folder: Path, dense: Dense) -> Layer:
    """Read a Dense module's weights.

    Raises:
        TaskError: its activation is not one of ACTIVATIONS.
        WeightsError: its weights are missing, unreadable or of another shape than its config says.
    """
    activation = ACTIVATIONS.get(dense.activation)
    if activation is None:
        raise TaskError(
            f"The activation of {dense.folder} is not known.",
            found=dense.activation,
            fix=f"one of: {', '.join(ACTIVATIONS)}",
        )
    tensors = _read(folder / dense.folder)
    wanted: dict[str, tuple[int, ...]] = {"linear.weight": (dense.outputs, dense.inputs)}
    if dense.bias:
        wanted["linear.bias"] = (dense.outputs,)
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if found != wanted:
        raise WeightsError(
            f"The weights in {dense.folder} are not those of its config.json.",
            found=_shapes(found),
            fix=f"a module with {_shapes(wanted)}",
        )
    return Layer(tensors["linear.weight"], tensors.get("linear.bias"), activation)


def _read(folder: Path) -> dict[str, Floats]:
    file = folder / "model.safetensors"
    pickled = folder / "pytorch_model.bin"
    if not file.is_file() and not pickled.is_file():
        raise WeightsError(f"{folder} has no weights.", fix=f"put model.safetensors into {folder}")
    try:
        return _unpack(file) if file.is_file() else _unpickle(pickled)
    except (SafetensorError, UnpicklingError, OSError, ValueError, RuntimeError) as error:
        raise WeightsError(f"The weights in {folder} cannot be read.", found=str(error)) from None


def _unpack(file: Path) -> dict[str, Floats]:
    tensors: dict[str, Floats] = {}
    for name, tensor in _OPEN(file.read_bytes()):
        if tensor["dtype"] == "BF16":  # numpy has no such type: it is the upper half of a float32
            halves = np.frombuffer(tensor["data"], dtype="<u2").astype(np.uint32)
            values = (halves << 16).view(np.float32)
        elif tensor["dtype"] in _DTYPES:
            values = np.frombuffer(tensor["data"], dtype=_DTYPES[tensor["dtype"]])
        else:
            raise ValueError(f"{name} is stored as {tensor['dtype']}")
        tensors[name] = values.reshape(tensor["shape"])
    return tensors


def _unpickle(file: Path) -> dict[str, Floats]:
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise WeightsError(
            f"{file} is a pickle, and only torch opens one safely.",
            found="torch is not installed",
            fix="pip install torch, or store the module as model.safetensors",
        ) from None
    tensors = torch.load(file, map_location="cpu", weights_only=True)
    return {name: tensor.double().numpy() for name, tensor in tensors.items()}


def _shapes(shapes: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} {shape}" for name, shape in sorted(shapes.items())) or "no tensors"


def _identity(x: Floats) -> Floats:
    return x


def _relu(x: Floats) -> Floats:
    return np.maximum(x, 0)


def _gelu(x: Floats) -> Floats:
    erf = np.frompyfunc(math.erf, 1, 1)  # numpy has none, and these are a few hundred numbers
    activated: Floats = x * 0.5 * (1 + erf(x / math.sqrt(2)).astype(np.float64))
    return activated


def _sigmoid(x: Floats) -> Floats:
    activated: Floats = 0.5 * (1 + np.tanh(0.5 * x))
    return activated


def _silu(x: Floats) -> Floats:
    activated: Floats = x * _sigmoid(x)
    return activated


def _softplus(x: Floats) -> Floats:
    activated: Floats = np.logaddexp(0, x)
    return activated


def _log_softmax(x: Floats) -> Floats:
    shifted = x - x.max(axis=-1, keepdims=True)
    activated: Floats = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return activated


def _hardswish(x: Floats) -> Floats:
    activated: Floats = x * np.clip(x + 3, 0, 6) / 6
    return activated


ACTIVATIONS: dict[str, Callable[[Floats], Floats]] = {
    "ELU": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "Hardswish": _hardswish,
    "LeakyReLU": lambda x: np.where(x > 0, x, 0.01 * x),
    "LogSoftmax": _log_softmax,
    "Mish": lambda x: x * np.tanh(_softplus(x)),
    "ReLU6": lambda x: np.clip(x, 0, 6),
    "Softmax": lambda x: np.exp(_log_softmax(x)),
    "Softplus": _softplus,
    "Identity": _identity,
    "Tanh": np.tanh,
    "ReLU": _relu,
    "GELU": _gelu,
    "Sigmoid": _sigmoid,
    "SiLU": _silu,
}
