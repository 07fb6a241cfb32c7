"""Rounding to a precision is emulated as real arithmetic of that precision rounds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from likewise.engines._emulate import PRECISIONS, emulate
from likewise.engines.torch import refuse
from likewise.model.read import read
from likewise.run.opening import open_runner
from likewise.tasks._pick import pick
from likewise.types import Plan

Tiny = Callable[[str], Path]
ROUNDOFF = {"tf32": 2**-11, "hf32": 2**-12, "float16": 2**-11, "bfloat16": 2**-8, "int8": 2**-7}
TEXTS = ["the price of bread", "a text", "and one more that is rather longer than the others"]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_product_is_off_by_the_roundoff_of_its_precision(precision: str) -> None:
    torch.manual_seed(3)
    part = torch.nn.Sequential(torch.nn.Linear(256, 64))
    inputs = torch.randn(32, 256)
    with torch.inference_mode():
        exact = part(inputs)
    emulate(part, precision)
    with torch.inference_mode():
        error = ((part(inputs) - exact).norm() / exact.norm()).item()
    assert 0.1 * ROUNDOFF[precision] < error < 4 * ROUNDOFF[precision]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_noise_of_a_model_is_that_of_real_arithmetic(tiny: Tiny, dtype: str) -> None:
    exact = logits(tiny("bert_classifier"), "torch/cpu/float64/b1/t1")
    plans = (f"torch/cpu/{dtype}/b1/t1", f"torch/cpu/float32/b1/t1/emulate={dtype}")
    errors = [np.linalg.norm(logits(tiny("bert_classifier"), plan) - exact) for plan in plans]
    assert 1 / 3 < errors[0] / errors[1] < 3


def test_numbers_that_a_precision_holds_are_left_alone() -> None:
    part = torch.nn.Sequential(torch.nn.Linear(4, 4, bias=False))
    with torch.no_grad():
        part[0].weight.copy_(torch.eye(4))
    inputs = torch.tensor([[1.0, -0.5, 2.0, 0.25]])
    for precision in ("tf32", "hf32", "float16", "bfloat16"):
        emulate(part, precision)
        assert torch.equal(part(inputs), inputs)


def test_what_is_emulated_is_said_and_only_in_float32(tiny: Tiny) -> None:
    model = read(tiny("bert_classifier"))
    plan = Plan.parse("torch/cpu/float32/b1/t1/emulate=int8")
    with open_runner(model.folder, plan=plan) as runner:
        facts = runner.run(TEXTS).facts
    assert (facts["dtype"], facts["emulated"]) == ("float32", "int8")
    network = pick(model).network
    reason = refuse(model, network, Plan.parse("torch/cpu/bfloat16/b1/t1/emulate=int8"))
    assert reason is not None
    assert "emulated in float32" in reason
    unknown = refuse(model, network, Plan.parse("torch/cpu/float32/b1/t1/emulate=int4"))
    assert unknown is not None
    assert "emulate=bfloat16" in unknown


def logits(folder: Path, plan: str) -> np.ndarray:
    with open_runner(folder, plan=Plan.parse(plan)) as runner:
        return runner.run(TEXTS).arrays["logits"]
