"""Exports: checked before use, kept whole, found beside a ported model."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny as builders
from exporting import exports_here
from likewise import find
from likewise.engines import _export, _export_child, _graph, _grid
from likewise.errors import RefusedError
from likewise.model.read import read
from likewise.tasks._pick import pick
from likewise.types import Model, Network, Plan

Tiny = Callable[[str], Path]
Exported = Callable[[str], tuple[Model, Network, Path]]
PLAN = Plan.parse("onnx/cpu/float32/b4/t2")


@pytest.fixture(scope="module")
def exported(tiny: Tiny) -> Iterator[Exported]:
    def make(builder: str) -> tuple[Model, Network, Path]:
        model = read(tiny(builder))
        network = pick(model).network
        return model, network, _export.ensure(model, network)

    with exports_here():
        yield make


@pytest.fixture
def ported(exported: Exported, tmp_path: Path) -> Path:
    """Return a folder that holds an export and no weights, as ``port`` writes it."""
    model, _, graph = exported("bert_classifier")
    folder = tmp_path / "ported"
    shutil.copytree(model.folder, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    for name in ("model.onnx", "model.onnx.data", "export.json"):
        shutil.copy(graph.parent / name, folder / name)
    return folder


def test_an_export_takes_a_fresh_process_once(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_export, "threads", lambda: 1)  # two would wait for each other, spinning
    model = read(tiny("distilbert_classifier"))
    network = pick(model).network
    graph = _export.ensure(model, network)
    made_at = graph.stat().st_mtime_ns
    assert _export.ensure(model, network, contents=True) == graph
    assert graph.stat().st_mtime_ns == made_at
    assert sorted(p.name for p in graph.parent.iterdir()) == [
        "export.json", "manifest.json", "model.onnx", "model.onnx.data",
    ]  # fmt: skip


def test_the_manifest_says_what_was_exported_and_how_it_was_checked(exported: Exported) -> None:
    model, network, graph = exported("bert_classifier")
    told = json.loads((graph.parent / "export.json").read_text())
    assert told["fingerprint"] == model.fingerprint
    assert (told["head"], told["inputs"]) == ("classes", list(network.inputs))
    assert told["weights"].keys() == {"float32"}
    assert told["grid"]["worst"] <= 1e-5 <= told["grid"]["limit"]
    tried = [tuple(point[:3]) for point in told["grid"]["points"]]
    assert {(1, 1, False), (17, 20, True), (3, 64, True)} <= set(tried)
    assert told["files"]["model.onnx"]["size"] == graph.stat().st_size
    assert told["loading"]["missing"] == []


def test_the_tied_table_of_a_mask_filler_is_stored_once(exported: Exported) -> None:
    import onnx

    model, _, graph = exported("xlmr_fillmask")
    proto = onnx.load(str(graph), load_external_data=False)
    tables = [t.name for t in proto.graph.initializer if model.vocabulary in t.dims[:1]]
    tables = [n for n in tables if not n.endswith("bias")]
    assert len(tables) == 1


def test_b082_nothing_in_the_graph_draws_at_random(exported: Exported, tmp_path: Path) -> None:
    import onnx

    _, network, graph = exported("bert_classifier")
    _graph.inspect(graph, network)
    proto = onnx.load(str(graph), load_external_data=False)
    proto.graph.node.append(onnx.helper.make_node("Dropout", ["logits"], ["noisy"]))
    onnx.save(proto, str(tmp_path / "noisy.onnx"))
    with pytest.raises(RefusedError, match="Dropout"):
        _graph.inspect(tmp_path / "noisy.onnx", network)


def test_b083_a_graph_without_the_tasks_head_is_refused(exported: Exported) -> None:
    _, network, graph = exported("bert_classifier")
    with pytest.raises(RefusedError, match="outputs logits; inputs without a source: none"):
        _graph.inspect(graph, replace(network, outputs=("last_hidden_state",)))
    with pytest.raises(RefusedError, match="token_type_ids"):
        _graph.inspect(graph, replace(network, inputs=("input_ids", "attention_mask")))


@pytest.mark.parametrize(
    ("found", "error"),
    [
        (np.array([1.0, 2.0]), 0.0),
        (np.array([1.0, 2.2]), pytest.approx(0.1)),
        (np.array([1.0]), float("inf")),
        (np.array([1.0, np.nan]), float("inf")),
    ],
)
def test_the_grid_sees_every_kind_of_difference(found: Any, error: Any) -> None:
    assert _export_child._error([found], [np.array([1.0, 2.0])]) == error


def test_a_nan_of_the_model_itself_is_no_fault_of_the_export() -> None:
    holes = np.array([1.0, np.nan])
    assert _export_child._error([holes], [holes]) == 0.0
    assert _export_child._error([np.array([1.0, 2.0])], [holes]) == float("inf")


def test_b084_a_graph_that_differs_anywhere_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = read(builders.bert_classifier(tmp_path / "model", seed=11))
    network = pick(model).network
    opened = _export_child._open

    def wrong_at_twenty(*job: Any) -> Any:
        compute = opened(*job)
        return lambda inputs: [o + (inputs["input_ids"].shape[1] == 20) for o in compute(inputs)]

    monkeypatch.setattr(_export_child, "_open", wrong_at_twenty)
    with exports_here(), pytest.raises(RefusedError, match="of 20 tokens") as caught:
        _export.ensure(model, network)
    assert "of the largest output" in caught.value.found
    monkeypatch.setattr(_export_child, "_open", opened)
    with exports_here():
        assert _export.ensure(model, network).is_file()


def test_another_head_or_other_weights_are_another_export(exported: Exported) -> None:
    model, network, graph = exported("bert_classifier")
    hidden = replace(network, head="hidden", outputs=("last_hidden_state",))
    with exports_here():
        assert _export.ensure(model, hidden) != graph
    assert _export._key(model, network) != _export._key(model, hidden)
    weights = tuple(replace(f, sha256="other") if f.used else f for f in model.weight_files)
    other = replace(model, weight_files=weights)
    assert _export._key(other, network) != _export._key(model, network)


def test_other_labels_or_another_tokenizer_share_an_export(exported: Exported) -> None:
    model, network, _ = exported("bert_classifier")
    other = replace(model, fingerprint="other", labels=("a", "b", "c"), tokenizer="vocab.txt")
    assert _export._key(other, network) == _export._key(model, network)


def test_a_ported_folder_needs_no_weights(ported: Path, exported: Exported) -> None:
    _, network, graph = exported("bert_classifier")
    model = read(ported)
    assert _export.ensure(model, network) == ported / "model.onnx"
    engine = find.load("engines", "onnx")
    assert engine.refuse(model, network, PLAN) is None
    inputs = _grid.feed(_grid.Point(3, 8, padded=True), model, network)
    here, there = (engine.open(m, network, PLAN) for m in (model, exported("bert_classifier")[0]))
    assert here.run(inputs)["logits"].tobytes() == there.run(inputs)["logits"].tobytes()
    assert here.facts()["artefact"] == str(ported / "model.onnx")
    assert there.facts()["artefact"] == str(graph)


def test_a_ported_folder_of_another_head_is_refused_with_the_reason(ported: Path) -> None:
    network = Network("tokens", ("input_ids", "attention_mask", "rows"), ("logits",))
    reason = find.load("engines", "onnx").refuse(read(ported), network, PLAN)
    assert "no weights to export from" in reason
    assert "'tokens'" in reason


@pytest.mark.parametrize("damage", ["missing", "cut", "changed"])
def test_b089_half_of_a_ported_graph_is_refused_by_name(
    ported: Path, exported: Exported, damage: str
) -> None:
    _, network, _ = exported("bert_classifier")
    model = read(ported)
    weights = ported / "model.onnx.data"
    content = weights.read_bytes()
    if damage == "missing":
        weights.unlink()
    else:
        weights.write_bytes(content[:-10] if damage == "cut" else content[:-1] + b"\1")
    with pytest.raises(RefusedError, match=r"model\.onnx\.data"):
        _export.ensure(model, network, contents=True)


def test_without_torch_a_model_that_needs_exporting_is_refused(
    exported: Exported, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, network, _ = exported("bert_classifier")
    monkeypatch.setattr(_export, "versions", lambda *_: {"onnx": "1", "transformers": "5"})
    reason = find.load("engines", "onnx").refuse(model, network, PLAN)
    assert reason == ("exporting it takes torch, not installed: pip install 'likewise[port]'")


LIGHT = """
import json, sys
from likewise.run.opening import open_runner
from likewise.types import Plan
with open_runner(sys.argv[1], plan=Plan.parse("onnx/cpu/float32/b4/t1")) as runner:
    answers = runner.run(["the moon", "a cold road"]).answers
heavy = {"torch", "transformers", "onnx", "scipy", "timm", "openvino", "sympy"}
print(json.dumps({"answers": len(answers), "heavy": sorted(heavy & set(sys.modules))}))
"""


def test_running_a_ported_folder_imports_nothing_heavy(ported: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, str(ported)], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == {"answers": 2, "heavy": []}
