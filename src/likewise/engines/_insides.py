"""A plan's ONNX graph in; what every operator within it gives, or a few of them alone, out.

For looking only: what answers, is proven and is timed is the session that ``open`` gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise import find
from likewise.engines._export import ensure
from likewise.engines._foreign import asked
from likewise.types import Model, Network, Plan

if TYPE_CHECKING:
    from likewise.types import Array, Arrays

__all__ = ["FLOATS", "Insides", "compute_alone", "open_insides"]

FLOATS = (1, 10, 11)  # onnx.TensorProto: FLOAT, FLOAT16, DOUBLE
_PLAIN = ("Constant", "Identity")  # they compute nothing


@dataclass(frozen=True)
class Insides:
    """One graph, opened as the plan opens it, with every floating tensor as an output."""

    proto: Any
    given: Mapping[str, Array]  # what it was fed
    seen: Mapping[str, np.ndarray]  # float64, in the order of the operators


def open_insides(
    model: Model, network: Network, plan: Plan, inputs: Arrays, folder: Path
) -> Insides:
    """Run one batch through a plan's graph, and keep every floating tensor within it.

    Args:
        model: what the graph is of.
        network: what the task wants of it.
        plan: of an engine that opens ONNX files.
        inputs: one batch, by the task's names.
        folder: for a copy of the graph, which is gone afterwards.

    Raises:
        RefusedError: there is no graph, or the engine cannot open it so.
    """
    import onnx

    foreign = asked(model, network, plan)
    file = foreign.file if foreign else ensure(model, network)
    # Shapes first: with its weights, a graph may be too large for the message that carries it.
    proto = onnx.shape_inference.infer_shapes(onnx.load(str(file), load_external_data=False))
    onnx.load_external_data_for_model(proto, str(file.parent))
    kinds = {v.name: v for v in (*proto.graph.value_info, *proto.graph.output)}
    there = {v.name for v in proto.graph.output}
    nodes = [node for node in proto.graph.node if node.op_type not in _PLAIN]
    made = [n for node in nodes for n in node.output if _is_float(kinds.get(n))]
    proto.graph.output.extend(kinds[n] for n in made if n not in there)
    network = Network(network.head, tuple(v.name for v in proto.graph.input), tuple(made))
    names = foreign.names if foreign else {n: n for n in inputs}
    given = {names[n]: a for n, a in inputs.items() if n in names}
    seen = _run(proto, network, given, (plan, folder / "exposed.onnx"))
    (folder / "exposed.onnx").unlink()
    (folder / "exposed.onnx.data").unlink(missing_ok=True)
    return Insides(proto, given, seen)


def _run(
    proto: Any, network: Network, given: Mapping[str, Array], place: tuple[Plan, Path]
) -> dict[str, np.ndarray]:
    """Write a graph, open it as the plan would, and return its outputs in float64."""
    import onnx

    plan, file = place
    beside = f"{file.name}.data"
    onnx.save(proto, str(file), save_as_external_data=True, location=beside, size_threshold=1 << 20)
    session = find.load("engines", plan.engine).open_file(file, network, plan, None)
    outputs = session.run(dict(given))
    session.close()
    return {name: np.asarray(array, np.float64) for name, array in outputs.items()}


def _is_float(value: Any) -> bool:
    return value is not None and value.type.tensor_type.elem_type in FLOATS


def compute_alone(
    graph: Insides, target: str, known: Mapping[str, np.ndarray], place: tuple[Plan, Path]
) -> tuple[list[Any], np.ndarray]:
    """Return the operators between known tensors and the target, and what they make of those.

    Args:
        graph: from ``open_insides``.
        target: the tensor that is to be made.
        known: tensors within the graph, by name, that are given in place of what made them.
        place: the plan to open them with, and the folder where ``cut.onnx`` is left.
    """
    import onnx

    makers = {name: node for node in graph.proto.graph.node for name in node.output}
    kinds = {v.name: v for v in (*graph.proto.graph.value_info, *graph.proto.graph.output)}
    inputs = {v.name: v for v in graph.proto.graph.input}
    needed, wanted, given = set[str](), [target], {}
    while wanted:
        name = wanted.pop()
        if name in known and name != target:
            given[name] = kinds[name]
        elif name in inputs:
            given[name] = inputs[name]
        elif name in makers and makers[name].output[0] not in needed:
            needed.add(makers[name].output[0])
            wanted.extend(n for n in makers[name].input if n)
    nodes = [node for node in graph.proto.graph.node if node.output[0] in needed]
    used = {name for node in nodes for name in node.input}
    stored = [t for t in graph.proto.graph.initializer if t.name in used]
    piece = onnx.helper.make_graph(nodes, "cut", list(given.values()), [kinds[target]], stored)
    model = onnx.helper.make_model(piece, opset_imports=graph.proto.opset_import)
    model.ir_version = graph.proto.ir_version
    network = Network("hidden", tuple(given), (target,))
    shaped = {n: known[n].reshape(graph.seen[n].shape) for n in given if n not in inputs}
    feeds = {n: shaped[n].astype(np.float32) if n in shaped else graph.given[n] for n in given}
    plan, folder = place
    return nodes, _run(model, network, feeds, (plan, folder / "cut.onnx"))[target]
