"""An ONNX file that came with the model is used on request, with the right output, or refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise
from likewise.errors import RefusedError

onnx = pytest.importorskip("onnx")
Tiny = Callable[[str], Path]
TEXTS = ["good price", "bad", "good " * 40, ""]


@pytest.fixture(scope="module")
def folder(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a classifier with an export of its own beside it, named as hubs name it."""
    from likewise.engines import _export
    from likewise.model.read import read
    from likewise.tasks._pick import pick

    home = shutil.copytree(tiny("bert_classifier"), tmp_path_factory.mktemp("foreign") / "model")
    model = read(home)
    graph = _export.ensure(model, pick(model).network)
    (home / "onnx").mkdir()
    onnx.save(onnx.load(str(graph)), str(home / "onnx" / "model.onnx"))  # weights inside
    return home


def changed(folder: Path, tmp_path: Path, change: Callable[[Any], None], **save: Any) -> Path:
    """Return a copy of the folder whose ONNX file was changed."""
    home = shutil.copytree(folder, tmp_path / "model")
    proto = onnx.load(str(home / "onnx/model.onnx"))
    change(proto)
    onnx.save(proto, str(home / "onnx/model.onnx"), **save)
    return home


def logits(folder: Path, plan: str) -> np.ndarray:
    with likewise.Classifier(folder, plan=plan) as classifier:
        return classifier.open().run(TEXTS).arrays["logits"]


@pytest.mark.parametrize("engine", ["onnx", "openvino"])
@pytest.mark.parametrize("name", ["model.onnx", "model", "onnx:model.onnx"])
def test_a_file_is_found_by_name_and_gives_the_reference_numbers(
    folder: Path, engine: str, name: str
) -> None:
    expected = logits(folder, "torch/cpu/float32/b4/t1")
    found = logits(folder, f"{engine}/cpu/float32/b4/t1/graph={name}")
    assert np.abs(found - expected).max() < 1e-4


def test_the_facts_name_the_file_and_what_it_holds(folder: Path) -> None:
    plan = "onnx/cpu/float32/b4/t1/graph=model.onnx"
    with likewise.Classifier(folder, plan=plan) as classifier:
        facts = classifier.open().session.facts()
    assert facts["artefact"].endswith("onnx/model.onnx")
    assert facts["graph"]["file"] == "model.onnx"
    assert facts["graph"]["weights"]["float32"] > 1000
    assert "loading" not in facts


def test_a_quantised_file_runs_as_int8_only(folder: Path, tmp_path: Path) -> None:
    from onnxruntime.quantization import quantize_dynamic

    home = shutil.copytree(folder, tmp_path / "model")
    quantize_dynamic(home / "onnx/model.onnx", home / "onnx/model_quantized.onnx")
    name = "graph=model_quantized.onnx"
    with pytest.raises(RefusedError, match="int8"):
        logits(home, f"onnx/cpu/float32/b4/t1/{name}")
    found = logits(home, f"onnx/cpu/int8/b4/t1/{name}")
    expected = logits(home, "torch/cpu/float32/b4/t1")
    assert 0 < np.abs(found - expected).max() < 1


def test_an_unknown_or_ambiguous_name_lists_what_there_is(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"onnx/model\.onnx"):
        logits(folder, "onnx/cpu/float32/b4/t1/graph=other.onnx")
    home = shutil.copytree(folder, tmp_path / "model")
    shutil.copy(home / "onnx/model.onnx", home / "model.onnx")
    with pytest.raises(RefusedError, match="2 ONNX"):
        logits(home, "onnx/cpu/float32/b4/t1/graph=model")


def test_an_extra_output_is_passed_over_and_the_logits_are_found(
    folder: Path, tmp_path: Path
) -> None:
    def change(proto: Any) -> None:
        hidden = next(n.output[0] for n in proto.graph.node if n.op_type == "LayerNormalization")
        value = onnx.helper.make_tensor_value_info(hidden, 1, ["n", "t", 16])
        proto.graph.output.insert(0, value)

    home = changed(folder, tmp_path, change)
    expected = logits(home, "torch/cpu/float32/b4/t1")
    found = logits(home, "onnx/cpu/float32/b4/t1/graph=model")
    assert np.abs(found - expected).max() < 1e-4


def test_B083_a_graph_without_the_tasks_output_is_refused_with_a_list(
    folder: Path, tmp_path: Path
) -> None:
    def change(proto: Any) -> None:
        hidden = next(n.output[0] for n in proto.graph.node if n.op_type == "LayerNormalization")
        del proto.graph.output[:]
        proto.graph.output.append(onnx.helper.make_tensor_value_info(hidden, 1, ["n", "t", 16]))

    with pytest.raises(RefusedError, match="no output that is sure"):
        logits(changed(folder, tmp_path, change), "onnx/cpu/float32/b4/t1/graph=model")


def test_B086_a_fixed_shape_is_refused_before_anything_runs(folder: Path, tmp_path: Path) -> None:
    def change(proto: Any) -> None:
        for value in proto.graph.input:
            value.type.tensor_type.shape.dim[1].dim_value = 8

    with pytest.raises(RefusedError, match="one shape only"):
        logits(changed(folder, tmp_path, change), "onnx/cpu/float32/b4/t1/graph=model")


def test_B086_a_wrong_declared_output_shape_changes_no_answer(folder: Path, tmp_path: Path) -> None:
    def change(proto: Any) -> None:
        proto.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 2

    home = changed(folder, tmp_path, change)
    expected = logits(home, "torch/cpu/float32/b4/t1")
    found = logits(home, "onnx/cpu/float32/b4/t1/graph=model")
    assert np.abs(found - expected).max() < 1e-4


def test_B087_a_graph_that_wants_int32_gets_int32(folder: Path, tmp_path: Path) -> None:
    def change(proto: Any) -> None:
        for value in proto.graph.input:
            name, wide = value.name, f"{value.name}_wide"
            value.type.tensor_type.elem_type = onnx.TensorProto.INT32
            for node in proto.graph.node:
                node.input[:] = [wide if i == name else i for i in node.input]
            cast = onnx.helper.make_node("Cast", [name], [wide], to=onnx.TensorProto.INT64)
            proto.graph.node.insert(0, cast)

    home = changed(folder, tmp_path, change)
    expected = logits(home, "torch/cpu/float32/b4/t1")
    for engine in ("onnx", "openvino"):
        found = logits(home, f"{engine}/cpu/float32/b4/t1/graph=model")
        assert np.abs(found - expected).max() < 1e-4


def test_B088_an_unknown_input_is_refused_with_a_list(folder: Path, tmp_path: Path) -> None:
    def change(proto: Any) -> None:
        for node in proto.graph.node:
            node.input[:] = ["input.1" if i == "input_ids" else i for i in node.input]
        next(v for v in proto.graph.input if v.name == "input_ids").name = "input.1"

    with pytest.raises(RefusedError, match=r"input\.1"):
        logits(changed(folder, tmp_path, change), "onnx/cpu/float32/b4/t1/graph=model")


def test_B089_weights_beside_the_graph_are_named_when_missing_and_never_outside(
    folder: Path, tmp_path: Path
) -> None:
    home = changed(
        folder, tmp_path, lambda _: None, save_as_external_data=True, size_threshold=0,
        location="model.onnx_data",
    )  # fmt: skip
    plan = "onnx/cpu/float32/b4/t1/graph=model"
    expected = logits(home, "torch/cpu/float32/b4/t1")
    assert np.abs(logits(home, plan) - expected).max() < 1e-4
    (home / "onnx/model.onnx_data").rename(home / "model.onnx_data")
    with pytest.raises(RefusedError, match="lacks the file of its weights"):
        logits(home, plan)
    proto = onnx.load(str(home / "onnx/model.onnx"), load_external_data=False)
    for tensor in proto.graph.initializer:
        for entry in tensor.external_data:
            if entry.key == "location":
                entry.value = "../model.onnx_data"
    (home / "onnx/model.onnx").write_bytes(proto.SerializeToString())
    with pytest.raises(RefusedError, match="outside its folder"):
        logits(home, plan)


def test_scores_in_place_of_logits_are_refused(folder: Path, tmp_path: Path) -> None:
    def change(proto: Any) -> None:
        node = onnx.helper.make_node("Softmax", ["logits"], ["probabilities"], axis=-1)
        proto.graph.node.append(node)
        proto.graph.output[0].name = "probabilities"

    with pytest.raises(RefusedError, match="scores where logits"):
        logits(changed(folder, tmp_path, change), "onnx/cpu/float32/b4/t1/graph=model")


def test_a_file_of_the_same_name_and_size_with_other_numbers_is_another_run(
    folder: Path, tmp_path: Path
) -> None:
    from likewise.prove.runs import run_once
    from likewise.prove.subject import open_subject
    from likewise.settings import Settings
    from likewise.types import Plan

    plan = Plan.parse("onnx/cpu/float32/b4/t1/graph=model.onnx")

    def change(proto: Any) -> None:
        for tensor in proto.graph.initializer:
            if tensor.raw_data and tensor.data_type == 1:
                values = np.frombuffer(tensor.raw_data, np.float32)
                tensor.raw_data = (values * np.float32(1.01)).tobytes()

    home = changed(folder, tmp_path, lambda _: None)
    before = open_subject(home, items=TEXTS, settings=Settings())
    first, _ = run_once(before, plan, TEXTS)
    proto = onnx.load(str(home / "onnx/model.onnx"))
    change(proto)
    onnx.save(proto, str(home / "onnx/model.onnx"))
    second, reused = run_once(open_subject(home, items=TEXTS, settings=Settings()), plan, TEXTS)
    assert not reused
    assert np.abs(first.arrays["logits"] - second.arrays["logits"]).max() > 1e-3


def test_a_graph_without_segments_refuses_a_pair(folder: Path, tmp_path: Path) -> None:
    def change(proto: Any) -> None:
        value = next(v for v in proto.graph.input if v.name == "token_type_ids")
        proto.graph.input.remove(value)
        ids = ["zeros_of", "token_type_ids"]
        shape = onnx.helper.make_node("Shape", ["input_ids"], [ids[0]])
        zero = onnx.helper.make_tensor("value", onnx.TensorProto.INT64, [1], [0])
        fill = onnx.helper.make_node("ConstantOfShape", [ids[0]], [ids[1]], value=zero)
        proto.graph.node.insert(0, fill)
        proto.graph.node.insert(0, shape)

    home = changed(folder, tmp_path, change)
    plan = "onnx/cpu/float32/b4/t1/graph=model"
    assert np.abs(logits(home, plan) - logits(home, "torch/cpu/float32/b4/t1")).max() < 1e-4
    with (
        likewise.Classifier(home, plan=plan) as classifier,
        pytest.raises(RefusedError, match="no input token_type_ids"),
    ):
        classifier.answers([("good", "bad")])


def test_a_port_of_such_a_file_alone_runs_from_its_folder(folder: Path, tmp_path: Path) -> None:
    from likewise.settings import read_settings

    home = shutil.copytree(folder, tmp_path / "model")
    shutil.move(home / "onnx/model.onnx", home / "model.onnx")
    plan = "onnx/cpu/float32/b4/t1/graph=model.onnx"
    quick = {"seconds": 0.1, "most_seconds": 0.3, "passes": 3, "pass_seconds": 0.05}
    flags = {"plans": {"only": [plan]}, "proof": {"items": 96}, "bench": quick}
    report = likewise.port(home, out=tmp_path / "ported", settings=read_settings(None, flags))
    assert report.choice.plan == plan
    with likewise.Classifier(tmp_path / "ported") as classifier:
        assert str(classifier.source.plan) == plan
        found = classifier.open().run(TEXTS).arrays["logits"]
    assert np.abs(found - logits(home, "torch/cpu/float32/b4/t1")).max() < 1e-4


def test_a_graph_that_likewise_exported_itself_serves_a_mask_model_by_name(
    tiny: Tiny, tmp_path: Path
) -> None:
    from likewise.engines import _export
    from likewise.model.read import read
    from likewise.tasks._pick import pick

    home = shutil.copytree(tiny("bert_fillmask"), tmp_path / "model")
    model = read(home)
    graph = _export.ensure(model, pick(model).network)
    onnx.save(onnx.load(str(graph)), str(home / "own.onnx"))
    found = []
    for plan in ("torch/cpu/float32/b4/t1", "onnx/cpu/float32/b4/t1/graph=own.onnx"):
        with likewise.FillMask(home, plan=plan) as mask:
            found.append(mask.open().run(["good [MASK]", "the [MASK] is [MASK]"]).arrays["logits"])
    assert np.abs(found[0] - found[1]).max() < 1e-4
