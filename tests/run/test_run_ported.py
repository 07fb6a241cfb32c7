"""A ported folder says which plans it holds proof of, and nothing else runs in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from likewise.errors import FolderError, RefusedError
from likewise.run.ported import Ported, Proven, is_ported, pick_plan, read_ported, write_ported
from likewise.types import Plan

FAST, SLOW = "openvino/cpu/float32/b16/t2", "onnx/cpu/float32/b16/t2"


def ported(**changes) -> Ported:
    facts = {
        "schema": 1,
        "likewise": "0.1.0",
        "task": "embed",
        "fingerprint": "f",
        "proven": (Proven(FAST, "equal", ("json",)), Proven(SLOW, "equal", ("onnxruntime",))),
        "judged": ("torch/cpu/float32/b16/t2",),
    }
    return Ported(**{**facts, **changes})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model" / "1_Pooling").mkdir(parents=True)
    (tmp_path / "model" / "model.onnx").write_bytes(b"graph")
    (tmp_path / "model" / "1_Pooling" / "config.json").write_text("{}")
    write_ported(ported(), tmp_path)
    return tmp_path


def test_the_manifest_survives_the_disk_and_names_every_file(folder):
    assert is_ported(folder)
    read = read_ported(folder)
    assert read.proven == ported().proven
    assert set(read.files) == {"model.onnx", "1_Pooling/config.json"}
    assert read.files["model.onnx"][0] == 5


@pytest.mark.parametrize("damage", [lambda f: f.unlink(), lambda f: f.write_bytes(b"other graph")])
def test_a_file_that_is_missing_or_of_another_size_is_refused_by_name(folder, damage):
    damage(folder / "model" / "model.onnx")
    with pytest.raises(FolderError, match=r"model\.onnx"):
        read_ported(folder)


@pytest.mark.parametrize("name", ["model.onnx", "1_Pooling/config.json"])
def test_other_bytes_of_the_same_size_are_refused_by_name(folder, name):
    file = folder / "model" / name
    file.write_bytes(b"x" * file.stat().st_size)
    with pytest.raises(FolderError, match=name) as caught:
        read_ported(folder)
    assert "contents have changed" in caught.value.found


def test_a_file_that_was_not_there_when_it_was_proven_is_refused(folder):
    (folder / "model" / "likewise.json").write_text("{}")
    with pytest.raises(FolderError, match=r"likewise\.json"):
        read_ported(folder)


@pytest.mark.parametrize("body", [b"", b"{", b'{"schema": "x"}'])
def test_a_broken_manifest_is_refused(folder, body):
    (folder / "model" / "ported.json").write_bytes(body)
    with pytest.raises(FolderError, match=r"ported\.json"):
        read_ported(folder)


def test_a_newer_manifest_asks_for_a_newer_likewise(folder):
    write_ported(ported(schema=99), folder)
    with pytest.raises(FolderError, match="newer"):
        read_ported(folder)


def test_the_chosen_plan_runs_without_a_word():
    assert pick_plan(ported()) == (Plan.parse(FAST), "")


def test_where_its_package_is_missing_the_next_proven_plan_runs_and_that_is_said():
    lacking = ported(
        proven=(Proven(FAST, "equal", ("no_such_package",)), Proven(SLOW, "within", ("json",)))
    )
    plan, said = pick_plan(lacking)
    assert str(plan) == SLOW
    assert FAST in said
    assert "no_such_package" in said
    assert "within" in said


def test_an_unproven_plan_is_refused_unless_told():
    asked = Plan.parse("onnx/cpu/float32/b1/t1")
    with pytest.raises(RefusedError, match="not proven"):
        pick_plan(ported(), asked)
    plan, said = pick_plan(ported(), asked, unproven=True)
    assert plan == asked
    assert "--unproven" in said


def test_a_plan_that_did_not_pass_is_named_in_the_refusal():
    with pytest.raises(RefusedError) as caught:
        pick_plan(ported(), Plan.parse("torch/cpu/float32/b16/t2"))
    assert "not passed: torch/cpu/float32/b16/t2" in caught.value.found


def test_a_device_without_a_proven_plan_is_refused():
    with pytest.raises(RefusedError, match="on npu"):
        pick_plan(ported(), device="npu")


def test_nothing_proven_runs_nothing():
    with pytest.raises(RefusedError):
        pick_plan(ported(proven=()))
