"""The OpenVINO engine: float32 means float32."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exporting import exports_here
from likewise.engines import openvino as engine
from likewise.errors import RefusedError
from likewise.model.read import read
from likewise.tasks._pick import pick
from likewise.types import Model, Network, Plan

PLAN = Plan.parse("openvino/cpu/float32/b4/t1")


@pytest.fixture
def model(tiny: Callable[[str], Path]) -> Iterator[Model]:
    with exports_here():
        yield read(tiny("bert_classifier"))


@pytest.fixture
def network(model: Model) -> Network:
    return pick(model).network


def test_b108_the_precision_is_pinned_and_read_back(model: Model, network: Network) -> None:
    facts = engine.open(model, network, PLAN).facts()
    assert facts["dtype"] == "float32"
    assert facts["execution_mode"] == "ACCURACY"
    assert facts["streams"] == 1
    assert facts["precisions"]["f32"] > 20
    assert not {"bf16", "f16"} & set(facts["precisions"])


def test_b108_a_model_compiled_in_bfloat16_is_refused(
    model: Model, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    import openvino

    able = openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    if "BF16" not in able:
        pytest.skip(f"this processor has no bfloat16: {able}")
    settings = engine._settings(PLAN)
    reduced = {"INFERENCE_PRECISION_HINT": "bf16", "EXECUTION_MODE_HINT": "PERFORMANCE"}
    monkeypatch.setattr(engine, "_settings", lambda _: {**settings, **reduced})
    with pytest.raises(RefusedError, match="precision bf16"):
        engine.open(model, network, PLAN)


def test_opening_openvino_loads_no_telemetry() -> None:
    code = (
        "import sys\n"
        "from likewise.engines import openvino as engine\n"
        "engine._openvino()\n"
        "print(sorted(n for n in sys.modules if n.startswith('openvino_telemetry')"
        " and sys.modules[n]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
