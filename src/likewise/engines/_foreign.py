"""An ONNX file that came with the model, and a network, in; how the file serves it, out.

A plan asks for one by name: ``onnx/cpu/int8/b16/t2/graph=model_quantized.onnx``. Such a file is a
candidate like any other: the reference is still computed from the model's own weights.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.engines._devices import versions
from likewise.errors import RefusedError
from likewise.model.files import digest
from likewise.types import Json, Model, Network, Plan, Session

if TYPE_CHECKING:
    from likewise.types import Arrays

__all__ = ["Foreign", "ForeignSession", "asked", "digests"]

EXTRA = "graph"
OWN, MANIFEST = "model.onnx", "export.json"  # what likewise itself exports, in a ported folder
APART = "graphs"  # where a ported folder keeps a file that is called as its own
_INTEGER = ("DynamicQuantizeLinear", "MatMulInteger", "ConvInteger", "QuantizeLinear",
            "DequantizeLinear", "QLinearMatMul", "QLinearConv", "QAttention", "QGemm",
            "DynamicQuantizeMatMul", "MatMulNBits", "MatMulBnb4")  # fmt: skip
_SCORED = ("Softmax", "Sigmoid", "LogSoftmax")
_RANKS = {"hidden": 3, "classes": 2, "tokens": 3, "picture": 2, "picture_features": 2}
_USUAL = {
    "hidden": ("last_hidden_state", "token_embeddings"),
    "classes": ("logits", "output"),
    "tokens": ("logits", "prediction_scores"),
    "picture": ("logits", "output"),
    "picture_features": ("features", "pooler_output", "output"),
}


@dataclass(frozen=True)
class Foreign:
    """A file that serves a network."""

    files: tuple[Path, ...]  # the graph, and the files that hold its weights
    network: Network  # with the file's own names
    names: Mapping[str, str]  # the task's input name → the file's
    picks: bool  # rows are taken from (N, T, V) after it ran
    dtype: str  # float32 | float16 | int8: what it holds and computes in
    facts: Mapping[str, Json]

    @property
    def file(self) -> Path:
        """The graph."""
        return self.files[0]


class ForeignSession:
    """A session on a foreign file, under the names that the task knows."""

    def __init__(self, inner: Session, foreign: Foreign, network: Network) -> None:
        self._inner = inner
        self._foreign = foreign
        self._network = network

    def run(self, inputs: Arrays) -> Arrays:
        """Compute one batch."""
        names = self._foreign.names
        _refuse_meaning_lost(inputs, names, self._foreign.file)
        arrays = {names[name]: array for name, array in inputs.items() if name in names}
        (output,) = self._inner.run(arrays).values()
        if self._foreign.picks:
            output = output.reshape(-1, output.shape[-1])[inputs["rows"]]
        return {self._network.outputs[0]: np.asarray(output, dtype=np.float32)}

    def facts(self) -> Mapping[str, Json]:
        """Return what really runs, and what the file says of itself."""
        facts = {k: v for k, v in self._inner.facts().items() if k not in ("loading", "graph")}
        return {**facts, "graph": self._foreign.facts}

    def close(self) -> None:
        """Close the inner session."""
        self._inner.close()


def _refuse_meaning_lost(inputs: Arrays, names: Mapping[str, str], file: Path) -> None:
    """Refuse a batch whose padding or segments the file has no input for."""
    lost = {"attention_mask": 1, "token_type_ids": 0}
    for name, usual in lost.items():
        if name in inputs and name not in names and (inputs[name] != usual).any():
            raise RefusedError(
                f"{file.name} has no input {name}, and this batch needs it.",
                found="padding" if name == "attention_mask" else "a second text",
                fix="batches of one (b1) where padding is all" if usual else "another graph",
            )


def asked(model: Model, network: Network, plan: Plan) -> Foreign | None:
    """Return the file that a plan asks for, understood; None where it asks for none.

    Raises:
        RefusedError: there is no such file or several, it or its weights are not whole or lie
            outside the folder, its shapes are fixed, its inputs are unknown, none or several of
            its outputs could be the task's, or it computes in another precision than the plan
            says.
    """
    value = plan.extra(EXTRA)
    if value is None:
        return None
    file = _find(model, value)
    if "onnx" not in versions("onnx"):
        raise RefusedError(
            f"{file.name} has to be read before it runs.",
            found="onnx is not installed",
            fix="pip install 'likewise[port]'",
        )
    import onnx

    try:
        proto = onnx.load(str(file), load_external_data=False)
    except Exception as error:  # noqa: BLE001 - protobuf raises many kinds
        raise RefusedError(f"{file} is no ONNX graph.", found=str(error).split("\n")[0]) from None
    if not proto.graph.node:
        raise RefusedError(f"{file} is no ONNX graph.", found="no operators in it")
    weights = _weights(file, proto)
    initial = {tensor.name for tensor in proto.graph.initializer}
    inputs = {v.name: _shape(v) for v in proto.graph.input if v.name not in initial}
    names = _inputs(file, inputs, network)
    picks = network.head == "tokens" and "rows" not in names  # likewise's own graphs take rows
    rank = 2 if "rows" in names else _RANKS[network.head]
    output = _output(file, proto, network, model, rank=rank)
    facts = _facts((file, *weights), proto)
    _check_dtype(file, facts["dtype"], plan)
    own = Network(network.head, tuple(names.values()), (output,))
    return Foreign((file, *weights), own, names, picks, facts["dtype"], facts)


def digests(model: Model, network: Network, plan: Plan) -> dict[str, str]:
    """Return the sha256 of each file that a plan asks for by name; {} where it asks for none.

    Raises:
        RefusedError: as ``asked``.
    """
    foreign = asked(model, network, plan)
    return {} if foreign is None else {f.name: digest(f) for f in foreign.files}


def _find(model: Model, value: str) -> Path:
    wanted = value.replace(":", "/")
    own = (OWN,) if (model.folder / MANIFEST).is_file() else ()
    there = [f.path for f in model.weight_files if f.path.endswith(".onnx") and f.path not in own]
    found = [p for p in there if wanted in (p, Path(p).name, Path(p).stem)]
    exact = [p for p in there if p in (wanted, f"{APART}/{wanted}")]
    found = exact if len(exact) == 1 else found
    if len(found) != 1:
        raise RefusedError(
            f"{len(found) or 'No'} ONNX file(s) of {model.folder} are called {wanted!r}.",
            found=", ".join(found or there) or "no ONNX file in the folder",
            fix="graph=FOLDER:NAME.onnx names one exactly",
        )
    return model.folder / found[0]


def _weights(file: Path, proto: Any) -> tuple[Path, ...]:
    """Return the files of weights; refuse one outside the folder (case B089) or not there."""
    home, found = file.parent.resolve(), {}
    for tensor in _tensors(proto.graph):
        place = next((e.value for e in tensor.external_data if e.key == "location"), None)
        if place is None:
            continue
        path = file.parent / place
        inside = not Path(place).is_absolute() and ".." not in Path(place).parts
        # In a hub's cache both are links into one folder of blobs.
        beside = path.resolve().parent == file.resolve().parent
        if not inside or not (beside or path.resolve().is_relative_to(home)):
            raise RefusedError(
                f"{file.name} keeps weights outside its folder; that is not opened.", found=place
            )
        if not path.is_file():
            raise RefusedError(
                f"{file.name} lacks the file of its weights.",
                found=f"{place} is not in {file.parent}",
                fix="copy the two together",
            )
        found[path] = True
    return tuple(found)


def _tensors(graph: Any) -> Iterator[Any]:
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            yield from [attribute.t] if attribute.HasField("t") else []
            for inner in [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]:
                yield from _tensors(inner)


def _shape(value: Any) -> tuple[int | None, ...]:
    """Return the declared shape; None where an axis is free."""
    dims = value.type.tensor_type.shape.dim
    return tuple(d.dim_value if d.HasField("dim_value") else None for d in dims)


def _inputs(
    file: Path, inputs: Mapping[str, tuple[int | None, ...]], network: Network
) -> dict[str, str]:
    """Return the file's name of each input of the task that it takes."""
    if "pixel_values" in network.inputs and len(inputs) == 1:
        ((name, shape),) = inputs.items()
        fixed = shape[:1] if len(shape) == 4 else shape
        names = {"pixel_values": name}
    else:
        names = {n: n for n in (*network.inputs, "token_type_ids") if n in inputs}
        fixed = tuple(d for shape in inputs.values() for d in shape)
        strange = sorted(set(inputs) - set(names))
        if strange:
            raise RefusedError(
                f"{file.name} wants inputs that likewise does not know.",
                found=f"{', '.join(strange)}; given are {', '.join(network.inputs)}",
                fix="export it with these names",
            )
    if any(d is not None for d in fixed):
        shapes = ", ".join(f"{n} {_spell(s)}" for n, s in inputs.items())
        raise RefusedError(
            f"{file.name} takes one shape only; likewise batches by length.",
            found=shapes,
            fix="export it with free batch and length axes, or let likewise export it",
        )
    return names


def _output(file: Path, proto: Any, network: Network, model: Model, *, rank: int) -> str:
    """Return the output that can be the task's; refuse where none or several can."""
    shapes = {v.name: _shape(v) for v in proto.graph.output}
    last = _width(network, model)
    fits = [
        name
        for name, shape in shapes.items()
        if not shape or (len(shape) == rank and shape[-1] in (None, last or shape[-1]))
    ]
    named = [name for name in _USUAL[network.head] if name in fits]
    if not named and len(fits) != 1:
        listed = ", ".join(f"{name} {_spell(shape)}" for name, shape in shapes.items())
        raise RefusedError(
            f"{file.name} has no output that is sure to be the task's.",
            found=f"{listed}; {network.head} is wanted, of {rank} axes, the last of {last}",
            fix="a graph with this head, or let likewise export it",
        )
    name = (named or fits)[0]
    maker = next((node.op_type for node in proto.graph.node if name in node.output), "")
    if maker in _SCORED:
        raise RefusedError(
            f"{file.name} gives scores where logits are wanted.",
            found=f"{name} comes out of {maker}",
            fix="export it without its last step",
        )
    return str(name)


def _width(network: Network, model: Model) -> int | None:
    widths = {"hidden": model.width, "tokens": model.vocabulary}
    if network.head in ("classes", "picture"):
        return len(model.labels) or None
    return widths.get(network.head)


def _facts(files: tuple[Path, ...], proto: Any) -> dict[str, Json]:
    import onnx

    census: collections.Counter[str] = collections.Counter()
    for tensor in proto.graph.initializer:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
        census[str(dtype)] += int(np.prod(tensor.dims, dtype=np.int64))
    operators = sorted({node.op_type for node in proto.graph.node} & set(_INTEGER))
    half = census["float16"] > census["float32"]
    return {
        "file": files[0].name,
        "bytes": sum(file.stat().st_size for file in files),
        "opset": max((o.version for o in proto.opset_import if not o.domain), default=0),
        "exporter": f"{proto.producer_name} {proto.producer_version}".strip() or "not said",
        "weights": dict(census),
        "integer_operators": operators,
        "dtype": "int8" if operators else "float16" if half else "float32",
    }


def _check_dtype(file: Path, dtype: str, plan: Plan) -> None:
    if plan.dtype != dtype:
        raise RefusedError(
            f"{file.name} is not what {plan} says.",
            found=f"it computes in {dtype}",
            fix=f"--on {str(plan).replace(f'/{plan.dtype}/', f'/{dtype}/')}",
        )


def _spell(shape: tuple[int | None, ...]) -> str:
    return f"({', '.join('?' if d is None else str(d) for d in shape)})"
