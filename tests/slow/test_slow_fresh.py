"""A ported folder answers in an environment that holds the base install and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
NOT_THERE = ("torch", "transformers", "timm", "onnx", "openvino", "scipy", "matplotlib", "jinja2")
TEXTS = ("to the moon", "sold everything", "")

pytestmark = pytest.mark.slow


def call(*command: str | Path) -> str:
    """Return what a command printed; show everything where it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the bin folder of an environment with likewise's base install."""
    folder = tmp_path_factory.mktemp("bare") / "env"
    venv.create(folder, with_pip=True)
    call(folder / "bin" / "python", "-m", "pip", "install", "--quiet", PROJECT)
    return folder / "bin"


@pytest.fixture(scope="module")
def ported(tiny: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that ``likewise port`` wrote, with ONNX Runtime as its one engine."""
    out = tmp_path_factory.mktemp("ported") / "ported"
    source = tiny("roberta_classifier")
    call(
        sys.executable, "-m", "likewise", "port", source, "-o", out,
        "--on", "onnx/cpu/float32/b8/t1", "--items", "96", "--quiet",
    )  # fmt: skip
    return out


def test_the_base_install_has_none_of_what_porting_needs(bare: Path) -> None:
    code = "import importlib.util as u; print([n for n in {!r} if u.find_spec(n)])"
    assert call(bare / "python", "-c", code.format(NOT_THERE)).strip() == "[]"


def test_a_ported_folder_answers_there_as_it_did_here(bare: Path, ported: Path) -> None:
    flags = [word for text in TEXTS for word in ("--text", text)]
    there = call(bare / "likewise", "run", ported, *flags, "--json")
    here = call(sys.executable, "-m", "likewise", "run", ported, *flags, "--json")
    rows = [json.loads(line) for line in there.splitlines()]
    assert [row["item"] for row in rows] == list(TEXTS)
    for row, known in zip(rows, map(json.loads, here.splitlines()), strict=True):
        assert [e["label"] for e in row["labels"]] == [e["label"] for e in known["labels"]]
        scores = [e["score"] for e in row["labels"]]
        assert scores == pytest.approx([e["score"] for e in known["labels"]], abs=1e-6)


def test_the_verbs_that_need_no_weights_work_there(bare: Path, ported: Path) -> None:
    call(bare / "likewise", "--help")
    call(bare / "likewise", "doctor")
    call(bare / "likewise", "inspect", ported)
