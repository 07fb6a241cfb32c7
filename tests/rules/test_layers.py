"""A file imports only from cells to its left; neighbours in a cell do not know each other."""

from __future__ import annotations

import ast

import pytest
from own_source import ROOT, Source, first_imports, imports, read, sources

CELLS = (
    ("errors",),
    ("types",),
    ("find", "settings", "cache", "rooms"),
    ("model",),
    ("tasks", "engines", "metrics", "probes"),
    ("run",),
    ("prove", "bench"),
    ("port",),
    ("report",),
    ("cli",),
    ("likewise", "__main__"),  # the package itself names what is public, lazily
)
ORDER = {room: place for place, cell in enumerate(CELLS) for room in cell}
BY_NAME = {"find", "rooms", "likewise"}  # may import a module by its spelling
HEAVY = frozenset(
    [
        "torch",
        "torchvision",
        "transformers",
        "timm",
        "onnx",
        "onnxscript",
        "onnxruntime",
        "openvino",
        "scipy",
        "matplotlib",
        "jinja2",
        "sentence_transformers",
        "sentencepiece",
        "safetensors",
        "PIL",
        "tokenizers",
    ]  # a list to read, not to parse
)
MEANING_BLIND = {  # what a room never touches, not even inside a function
    "tasks": {"torch", "transformers", "timm", "onnx", "onnxruntime", "openvino"},
    "probes": {"torch", "transformers", "timm", "onnx", "onnxruntime", "openvino"},
    "metrics": {"torch", "transformers", "timm", "onnx", "onnxruntime", "openvino"},
    "run": {"torch", "transformers", "timm", "onnx", "onnxruntime", "openvino"},
    "report": {"torch", "transformers", "timm", "onnx", "onnxruntime", "openvino"},
}


def crossings(source: Source) -> list[str]:
    """Return each import that does not point to the left."""
    wrong = []
    for line, name in imports(source):
        parts = name.split(".")
        if parts[0] != "likewise" or parts[1] in (source.room, "__version__"):
            continue
        if parts[1] not in ORDER:
            wrong.append(f"{source.at(line)} imports {name}, which is in no cell")
        elif ORDER[parts[1]] >= ORDER[source.room]:
            wrong.append(f"{source.at(line)} {source.room} imports {name}, not to its left")
    return wrong


def heavy_at_import(source: Source) -> list[str]:
    """Return each heavy package that importing the file would pull in."""
    return [
        f"{source.at(line)} imports {name} when it is imported"
        for line, name in first_imports(source)
        if name.partition(".")[0] in HEAVY
    ]


def hidden_imports(source: Source) -> list[str]:
    """Return each ``import_module("likewise…")``: only ``find`` reaches rooms by name."""
    if source.room in BY_NAME:
        return []
    calls = [n for n in ast.walk(source.tree) if isinstance(n, ast.Call) and n.args]
    return [
        f"{source.at(call.lineno)} reaches {ast.unparse(call.args[0])} by name"
        for call in calls
        if ast.unparse(call.func).endswith(("import_module", "__import__"))
        and "likewise" in ast.unparse(call.args[0])
    ]


def test_every_room_has_a_cell():
    rooms = {source.room for source in sources()}
    assert sorted(rooms - set(ORDER)) == []


def test_imports_point_to_the_left():
    assert [wrong for source in sources() for wrong in crossings(source)] == []


def test_heavy_packages_wait_inside_functions():
    assert [wrong for source in sources() for wrong in heavy_at_import(source)] == []


def test_no_room_is_reached_by_its_spelling():
    assert [wrong for source in sources() for wrong in hidden_imports(source)] == []


def test_what_numbers_mean_is_blind_to_how_they_are_computed():
    wrong = [
        f"{source.at(line)} imports {name}"
        for source in sources()
        for line, name in imports(source)
        if name.partition(".")[0] in MEANING_BLIND.get(source.room, ())
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("tasks/new.py", "from likewise.run.runner import Runner"),  # to the right
        ("tasks/new.py", "from likewise.engines import torch"),  # a neighbour
        ("tasks/new.py", "def f():\n    from likewise import port"),  # hidden in a function
        ("metrics/new.py", "from ..prove import limits"),  # by dots
        ("run/new.py", "from likewise.nowhere import x"),
    ],
)
def test_a_planted_crossing_is_seen(file, text):
    assert len(crossings(read(ROOT / file, text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import torch",
        "try:\n    import timm.data\nexcept ImportError: ...",
        "class A:\n    import onnx",
    ],
)
def test_a_planted_heavy_import_is_seen(text):
    assert len(heavy_at_import(read(ROOT / "tasks/new.py", text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    import torch",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch",
    ],
)
def test_a_heavy_import_that_waits_is_allowed(text):
    assert heavy_at_import(read(ROOT / "tasks/new.py", text)) == []


def test_a_planted_reach_by_name_is_seen():
    text = "import importlib\nimportlib.import_module('likewise.port')"
    assert len(hidden_imports(read(ROOT / "run/new.py", text))) == 1
