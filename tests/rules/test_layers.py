"""A file imports only from cells to its left; neighbours in a cell do not know each other."""

from __future__ import annotations

import ast

import pytest
from own_source import ROOT, Source, first_imports, imports, none, read, sources

CELLS = (
    ("errors",),
    ("types",),
    ("outcomes",),
    ("find", "settings", "cache", "progress", "rooms"),
    ("model",),
    ("tasks", "engines", "metrics", "probes"),
    ("run",),
    ("prove", "bench", "report"),
    ("port",),
    ("cli",),
    ("likewise", "__main__"),  # the package itself names what is public, lazily
)
ORDER = {room: place for place, cell in enumerate(CELLS) for room in cell}
BY_NAME = {"find", "rooms", "likewise"}  # may import a module by its spelling
HEAVY = {
    "torch", "torchvision", "transformers", "timm", "onnx", "onnxscript", "onnxruntime",
    "openvino", "scipy", "matplotlib", "jinja2", "sentence_transformers", "sentencepiece",
}  # fmt: skip
ENGINES = {"torch", "transformers", "timm", "onnx", "onnxruntime", "openvino"}
BLIND = ("tasks", "probes", "metrics", "run", "report")  # never touch ENGINES, in no function


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
    """Return each ``import_module("likewise.ROOM…")``: only ``find`` reaches a room by name."""
    if source.room in BY_NAME:
        return []
    calls = [n for n in ast.walk(source.tree) if isinstance(n, ast.Call) and n.args]
    return [
        f"{source.at(call.lineno)} reaches {ast.unparse(call.args[0])} by name"
        for call in calls
        if ast.unparse(call.func).endswith(("import_module", "__import__"))
        and "likewise" in (name := ast.unparse(call.args[0]))
        and f"likewise.{source.room}." not in name
    ]


def test_every_room_has_a_cell() -> None:
    rooms = {source.room for source in sources()}
    none(sorted(rooms - set(ORDER)))


def test_imports_point_to_the_left() -> None:
    none([wrong for source in sources() for wrong in crossings(source)])


def test_heavy_packages_wait_inside_functions() -> None:
    none([wrong for source in sources() for wrong in heavy_at_import(source)])


def test_no_room_is_reached_by_its_spelling() -> None:
    none([wrong for source in sources() for wrong in hidden_imports(source)])


def test_what_numbers_mean_is_blind_to_how_they_are_computed() -> None:
    wrong = [
        f"{source.at(line)} imports {name}"
        for source in sources()
        for line, name in imports(source)
        if source.room in BLIND and name.partition(".")[0] in ENGINES
    ]
    none(wrong)


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
def test_a_planted_crossing_is_seen(file: str, text: str) -> None:
    assert len(crossings(read(ROOT / file, text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import torch",
        "try:\n    import timm.data\nexcept ImportError: ...",
        "class A:\n    import onnx",
    ],
)
def test_a_planted_heavy_import_is_seen(text: str) -> None:
    assert len(heavy_at_import(read(ROOT / "tasks/new.py", text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    import torch",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch",
    ],
)
def test_a_heavy_import_that_waits_is_allowed(text: str) -> None:
    assert heavy_at_import(read(ROOT / "tasks/new.py", text)) == []


def test_a_planted_reach_by_name_is_seen() -> None:
    text = "import importlib\nimportlib.import_module('likewise.port')"
    assert len(hidden_imports(read(ROOT / "run/new.py", text))) == 1
