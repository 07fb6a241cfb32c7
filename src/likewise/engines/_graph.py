"""An exported ONNX graph in; the same graph with its weights in one file beside it, out."""

from __future__ import annotations

import collections
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from likewise.errors import RefusedError

if TYPE_CHECKING:
    from likewise.types import Array, Network

__all__ = ["WEIGHTS", "inspect", "pack"]

WEIGHTS = "model.onnx.data"
_LEAST = 1024  # bytes: smaller tensors stay in the graph, for shape inference reads them
_ALIGN = 4096  # a page, so that runtimes can map a tensor straight from the file
_NOISY = ("Dropout", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
          "Multinomial", "Bernoulli")  # fmt: skip


def pack(raw: Path, weights: Mapping[str, Array], folder: Path) -> dict[str, int]:
    """Write ``model.onnx`` and ``model.onnx.data`` into ``folder``.

    Weights in a file of their own are mapped, not copied, when a session opens: on MiniLM that
    takes a third off the time and 40 MB off the peak. They come straight from the module, one by
    one, since a graph exported with its weights inside holds them four times for a moment.

    Args:
        raw: the graph, exported without weights: those are among its inputs, by name.
        weights: by the same names; what the graph does not read is left out.
        folder: where it goes.

    Returns:
        {dtype: elements} over all weights.
    """
    import onnx

    proto = onnx.load(str(raw))
    census: collections.Counter[str] = collections.Counter()
    turned = _absorb_transposes(proto.graph, weights)
    with (folder / WEIGHTS).open("wb") as stream:
        for value in [v for v in proto.graph.input if v.name in weights]:
            proto.graph.input.remove(value)
            array = weights[value.name]
            if value.name in turned:
                array = array.T
            tensor = proto.graph.initializer.add()
            tensor.name = turned.get(value.name, value.name)
            tensor.data_type = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
            tensor.dims.extend(array.shape)
            census[str(array.dtype)] += array.size
            _store(tensor, array, stream)
    onnx.save(proto, str(folder / "model.onnx"))
    return dict(census)


def inspect(file: Path, network: Network) -> None:
    """Refuse a graph that draws at random, or is not the one that was asked for.

    Raises:
        RefusedError: says which operators, inputs or outputs.
    """
    import onnx

    graph = onnx.load(str(file), load_external_data=False).graph
    noisy = sorted({node.op_type for node in graph.node} & set(_NOISY))
    if noisy:
        raise RefusedError(
            "The exported graph is not deterministic.",
            found=f"operators {', '.join(noisy)}: it was exported in training mode",
            fix="use the torch engine, and report this model's architecture",
        )
    given = tuple(value.name for value in graph.output)
    strange = sorted({value.name for value in graph.input} - set(network.inputs))
    if given != network.outputs or strange:
        raise RefusedError(
            "The exported graph has other inputs or outputs than the task asks for.",
            found=f"outputs {', '.join(given)}; inputs without a source: {strange or 'none'}",
        )


def _absorb_transposes(graph: Any, weights: Mapping[str, Array]) -> dict[str, str]:
    """Remove the Transpose of a matrix that nothing else reads; return {weight: new name}."""
    uses = collections.Counter(name for node in graph.node for name in node.input)
    matrices = {name for name, w in weights.items() if w.ndim == 2 and uses[name] == 1}
    turned = {}
    for node in [n for n in graph.node if n.op_type == "Transpose" and n.input[0] in matrices]:
        if [list(a.ints) for a in node.attribute if a.name == "perm"] == [[1, 0]]:
            turned[node.input[0]] = node.output[0]
            graph.node.remove(node)
    return turned


def _store(tensor: Any, array: Array, stream: BinaryIO) -> None:
    """Give a tensor its numbers: in the graph if they are few, else in the weights file."""
    import onnx

    if array.nbytes < _LEAST:
        tensor.raw_data = array.tobytes()
        return
    stream.write(b"\0" * (-stream.tell() % _ALIGN))
    tensor.data_location = onnx.TensorProto.EXTERNAL
    places = (("location", WEIGHTS), ("offset", stream.tell()), ("length", array.nbytes))
    for key, value in places:
        entry = tensor.external_data.add()
        entry.key, entry.value = key, str(value)
    stream.write(np.ascontiguousarray(array).data)
