"""After ``outside``: the module where it goes wrong, and the smallest text that shows it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from likewise.prove.localise import _Job, _look, said
from likewise.run.items import load_items, save_items

Tiny = Callable[[str], Path]
TEXT = "How would anyone know that the price of bread goes up today, and why should they care?"


def looked(folder: Path, fault: str, out: Path, *, task: str = "classify") -> dict[str, Any]:
    """Look for a planted fault, in this process."""
    import json

    save_items([TEXT], out / "items")
    plan = f"torch/cpu/float32/b16/t1/fault={fault}"
    _look(_Job(str(folder), plan, task, str(out / "items"), str(out)))
    return dict(json.loads((out / "blame.json").read_text()))


@pytest.mark.parametrize(
    ("fault", "module", "difference"),
    [
        ("W04", "bert.encoder.layer.0.attention.self.query", "weight holds other numbers"),
        ("W10", "bert.encoder.layer.0.attention.self.query", "weight holds other numbers"),
        ("W11", "bert.encoder.layer.0.attention.self.query", "bias holds other numbers"),
        ("W12", "bert.encoder.layer.0.attention.self.value", "bias holds other numbers"),
        ("W13", "bert.encoder.layer.1.output.dense", "bias holds other numbers"),
        ("W08", "bert.encoder.layer.0.attention.output.dense", "weight holds other numbers"),
        ("W22", "bert.encoder.layer.1.attention.self.query", "weight holds other numbers"),
        ("W06", "bert.encoder.layer.1.attention.self.query", "has no such module"),
        ("G02", "bert.embeddings.LayerNorm", "eps is 0.001 where the reference has 1e-12"),
        ("G03", "bert.encoder.layer.0.intermediate.intermediate_act_fn", "approximate is tanh"),
        ("I04", "bert.embeddings.position_embeddings", "weight holds other numbers"),
        ("G08", "bert.pooler.activation", "class is Identity"),
    ],
)
def test_the_module_of_a_planted_fault_is_named(
    tiny: Tiny, tmp_path: Path, fault: str, module: str, difference: str
) -> None:
    found = looked(tiny("bert_classifier"), fault, tmp_path)
    assert (found["stage"], found["module"]) == ("network", module)
    assert difference in "; ".join(found["differences"])
    assert module in said(found)
    assert len(found["smallest"]) < len(TEXT)
    assert load_items(tmp_path / "items") == [found["smallest"]]


@pytest.mark.parametrize(
    ("fault", "stage"),
    [("I16", "input"), ("W03", "session"), ("H11", "output"), ("S03", "company")],
)
def test_what_is_outside_the_modules_is_told_apart(
    tiny: Tiny, tmp_path: Path, fault: str, stage: str
) -> None:
    found = looked(tiny("bert_classifier"), fault, tmp_path)
    assert found["stage"] == stage
    assert said(found)


def test_the_folder_that_is_left_shows_it_with_one_command(tiny: Tiny, tmp_path: Path) -> None:
    import msgspec

    save_items([TEXT], tmp_path / "items")
    plan = "torch/cpu/float32/b16/t1/fault=G03"
    job = _Job(
        str(tiny("bert_classifier")), plan, "classify", str(tmp_path / "items"), str(tmp_path)
    )
    (tmp_path / "job.json").write_bytes(msgspec.json.encode(job))
    done = subprocess.run(
        [sys.executable, "-m", "likewise.prove.localise", str(tmp_path / "job.json")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "it goes wrong in bert.encoder.layer.0.intermediate.intermediate_act_fn" in done.stdout
