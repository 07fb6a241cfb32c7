"""Importing likewise, or any room of it, pulls in nothing heavy; the command line starts fast."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from own_source import none, sources

HEAVY = (
    "torch", "torchvision", "transformers", "timm", "onnx", "onnxruntime", "openvino", "scipy",
    "matplotlib", "jinja2", "sentence_transformers",
)  # fmt: skip
# `likewise --help` has 0.3 s; what is not needed to read flags must not be paid for them.
NOT_FOR_FLAGS = (*HEAVY, "numpy", "PIL", "tokenizers", "safetensors", "filelock", "msgspec")
CLI_SECONDS = 1.0  # of processor time, so that a busy machine does not decide; about 0.15 here

EACH = """
import importlib, json, sys
guilty = {}
for name in json.loads(sys.argv[1]):
    before = set(sys.modules)
    importlib.import_module(name)
    new = {m.partition(".")[0] for m in set(sys.modules) - before}
    found = sorted(new & set(json.loads(sys.argv[2])))
    if found:
        guilty[name] = found
print(json.dumps(guilty))
"""


def imported(names: list[str], watched: tuple[str, ...]) -> dict[str, list[str]]:
    """Return {module: watched packages it was the first to pull in}, from a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", EACH, json.dumps(names), json.dumps(watched)],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def test_no_room_pulls_in_a_heavy_package() -> None:
    names = ["likewise", *(s.module for s in sources() if s.path.stem not in ("__main__",))]
    none([f"{name} imports {', '.join(found)}" for name, found in imported(names, HEAVY).items()])


@pytest.mark.parametrize("name", ["likewise", "likewise.cli"])
def test_reading_flags_needs_no_numbers(name: str) -> None:
    none([f"{m} imports {', '.join(f)}" for m, f in imported([name], NOT_FOR_FLAGS).items()])


def test_the_command_line_starts_fast() -> None:
    code = (
        "import time; a = time.process_time(); import likewise.cli; print(time.process_time() - a)"
    )
    runs = [subprocess.check_output([sys.executable, "-c", code], text=True) for _ in range(3)]
    assert min(map(float, runs)) < CLI_SECONDS


def test_a_heavy_import_would_be_seen() -> None:
    assert imported(["json", "sqlite3"], ("sqlite3",)) == {"sqlite3": ["sqlite3"]}
