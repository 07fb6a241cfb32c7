"""After ``outside`` of an ONNX graph: the module that the graph does not compute, and its cut."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from likewise.engines._export import ensure
from likewise.model.read import read
from likewise.prove.localise import _Job, _look, said
from likewise.run.items import save_items
from likewise.tasks._pick import pick

Tiny = Callable[[str], Path]
TEXT = "How would anyone know that the price of bread goes up today, and why should they care?"
LAYER = "inner.bert.encoder.layer"


def weight(graph: Any, name: str, change: Callable[[np.ndarray], np.ndarray]) -> None:
    stored = next(t for t in graph.initializer if t.name == name)
    array = change(onnx.numpy_helper.to_array(stored).copy())
    stored.CopyFrom(onnx.numpy_helper.from_array(np.ascontiguousarray(array), name))


def node(graph: Any, name: str) -> Any:
    return next(n for n in graph.node if n.name == name)


def bias_dropped(graph: Any) -> None:
    weight(graph, f"{LAYER}.0.attention.self.query.bias", np.zeros_like)


def values_of_another_layer(graph: Any) -> None:
    place = "/inner/bert/encoder/layer.1/attention/self/value/Transpose_output_0"
    weight(graph, place, lambda array: array[::-1])


def epsilon(graph: Any) -> None:
    found = node(graph, "/inner/bert/embeddings/LayerNorm/LayerNormalization")
    next(a for a in found.attribute if a.name == "epsilon").f = 1e-3


def tanh_for_erf(graph: Any) -> None:
    node(graph, "/inner/bert/encoder/layer.0/intermediate/intermediate_act_fn/Erf").op_type = "Tanh"


def softmax_over_the_wrong_axis(graph: Any) -> None:
    found = node(graph, "/inner/bert/encoder/layer.1/attention/self/Softmax")
    next(a for a in found.attribute if a.name == "axis").i = 1


def positions_moved(graph: Any) -> None:
    place = "inner.bert.embeddings.position_embeddings.weight"
    weight(graph, place, lambda array: np.roll(array, 1, axis=0))


def head_bias_dropped(graph: Any) -> None:
    weight(graph, "inner.classifier.bias", np.zeros_like)


def looked(folder: Path, plan: str, out: Path) -> dict[str, Any]:
    save_items([TEXT], out / "items")
    _look(_Job(str(folder), plan, "classify", str(out / "items"), str(out)))
    return dict(json.loads((out / "blame.json").read_text()))


@pytest.mark.parametrize("engine", ["onnx", "openvino"])
@pytest.mark.parametrize(
    ("plant", "module", "difference"),
    [
        (bias_dropped, "bert.encoder.layer.0.attention.self.query", "bias holds other numbers"),
        (
            values_of_another_layer,
            "bert.encoder.layer.1.attention.self.value",
            "weight holds other numbers",
        ),
        (epsilon, "bert.embeddings.LayerNorm", "LayerNormalization"),
        (tanh_for_erf, "bert.encoder.layer.0.intermediate.intermediate_act_fn", "Tanh"),
        (softmax_over_the_wrong_axis, "bert.encoder.layer.1.attention.self", "Softmax"),
        (positions_moved, "bert.embeddings.position_embeddings", "weight holds other numbers"),
        (head_bias_dropped, "classifier", "bias holds other numbers"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_module_that_a_graph_computes_otherwise_is_named_and_cut_out(
    tiny: Tiny, tmp_path: Path, engine: str, plant: Any, module: str, difference: str
) -> None:
    import shutil

    folder = shutil.copytree(tiny("bert_classifier"), tmp_path / "model")
    model = read(folder)
    proto = onnx.load(str(ensure(model, pick(model).network)))
    plant(proto.graph)
    onnx.save(proto, str(folder / "other.onnx"))
    found = looked(folder, f"{engine}/cpu/float32/b4/t1/graph=other.onnx", tmp_path)
    assert (found["stage"], found["module"]) == ("network", module)
    assert difference in "; ".join(found["differences"])
    assert module in said(found)
    assert not any("joins them" in words for words in found["differences"])
    piece = onnx.load(str(tmp_path / "cut.onnx"))
    assert 0 < len(piece.graph.node) < len(proto.graph.node)
