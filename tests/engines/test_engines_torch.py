"""The torch engine: exact while it computes, and no trace of it afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from likewise.engines import _grid
from likewise.engines import torch as engine
from likewise.errors import RefusedError
from likewise.model.read import read
from likewise.tasks._pick import pick
from likewise.types import Plan

Tiny = Callable[[str], Path]
PLAN = Plan.parse("torch/cpu/float32/b4/t1")


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_every_dtype_is_what_runs(tiny: Tiny, dtype: str) -> None:
    model = read(tiny("bert_classifier"))
    network = pick(model).network
    inputs = _grid.example(model, network)
    plan = Plan("torch", "cpu", dtype, 4, 1)
    session = engine.open(model, network, plan)
    output = session.run(inputs)["logits"]
    assert session.facts()["dtype"] == dtype
    assert output.dtype == (np.float64 if dtype == "float64" else np.float32)
    exact = engine.open(model, network, Plan("torch", "cpu", "float64", 4, 1)).run(inputs)["logits"]
    size = {"float64": 0, "float32": 1e-5, "bfloat16": 0.3, "float16": 0.03}[dtype]
    assert np.abs(output - exact).max() <= size


def test_b107_reduced_precision_is_off_while_it_computes_and_as_it_was_after(tiny: Tiny) -> None:
    import torch

    model = read(tiny("bert_classifier"))
    network = pick(model).network
    seen = []

    class Spy(torch.nn.Module):
        def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
            seen.append(engine._flags())
            return (tensors[0].float(),)

    session = engine.TorchSession(Spy(), network, PLAN, {})
    asked = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        before = engine._flags()
        session.run(_grid.example(model, network))
        assert engine._flags() == before
        assert torch.get_float32_matmul_precision() == "medium"
        told = session.facts()["flags"]
    finally:
        torch.set_float32_matmul_precision(asked)
    assert before["mkldnn.matmul"] == "bf16"
    assert seen == [told]
    assert {told[name] for name in engine._PRECISIONS} == {"ieee"}
    assert told["deterministic"]
    assert told["threads"] == PLAN.threads


def test_a_torch_that_cannot_be_told_is_refused(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = read(tiny("bert_classifier"))
    monkeypatch.setattr(engine, "versions", lambda *_: {"torch": "2.8.0+cpu"})
    assert "2.8.0+cpu" in str(engine.refuse(model, pick(model).network, PLAN))


@pytest.mark.parametrize(("dtype", "found"), [("float16", "float16"), ("float64", "float64")])
def test_q04_weights_in_another_dtype_than_the_plans_are_refused(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch, dtype: str, found: str
) -> None:
    from likewise.model import weights

    honest = weights.load
    model = read(tiny("bert_classifier"))
    network = pick(model).network
    monkeypatch.setattr(weights, "load", lambda m, n, _, **o: honest(m, n, dtype, **o))
    with pytest.raises(RefusedError, match=found):
        engine.open(model, network, PLAN)


def test_the_attention_is_eager_unless_asked_and_both_agree(tiny: Tiny) -> None:
    model = read(tiny("bert_classifier"))
    network = pick(model).network
    inputs = _grid.feed(_grid.Point(3, 20, padded=True), model, network)
    eager = engine.open(model, network, PLAN)
    other = engine.open(model, network, Plan.parse(f"{PLAN}/sdpa"))
    assert eager.facts()["attention"] == "eager"
    assert other.facts()["attention"] == "sdpa"
    found, expected = (session.run(inputs)["logits"] for session in (other, eager))
    assert found == pytest.approx(expected, abs=1e-5)


def test_pictures_choose_their_attention_by_themselves(tiny: Tiny) -> None:
    model = read(tiny("timm_classifier"))
    reason = engine.refuse(model, pick(model).network, Plan.parse(f"{PLAN}/sdpa"))
    assert "timm chooses" in str(reason)


def test_a_folder_without_weights_is_refused(tiny: Tiny) -> None:
    model = read(tiny("bert_classifier"))
    bare = SimpleNamespace(library="transformers", weight_files=(), folder=model.folder)
    reason = engine.refuse(bare, pick(model).network, PLAN)  # type: ignore[arg-type]  # its facts
    assert "holds no weights" in str(reason)


def test_b094_a_broken_accelerator_package_does_not_break_the_cpu(tmp_path: Path) -> None:
    about = tmp_path / "torch_broken-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: torch-broken\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[torch.backends]\nbroken = torch_broken:start\n")
    (tmp_path / "torch_broken.py").write_text("raise OSError('libascendcl.so is missing')\n")
    code = (
        "import os; from likewise.engines import torch as engine; engine._import_alone(); "
        "import torch; print(torch.ones(2).sum().item(), "
        "'TORCH_DEVICE_BACKEND_AUTOLOAD' in os.environ)"
    )
    environment = {k: v for k, v in os.environ.items() if k != "TORCH_DEVICE_BACKEND_AUTOLOAD"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["2.0", "False"], done.stderr
