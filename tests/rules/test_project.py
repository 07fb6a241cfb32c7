"""What a stranger reads first is there, agrees with the code, and mentions every verb and room."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version

import pytest
from own_source import PROJECT, ROOT, none
from test_layers import CELLS

import likewise

toml = pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")
PROJECT_TABLE = toml.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
TARGETS = ("demo", "test", "check", "slow", "bench", "docs", "clean")


def page(name: str) -> str:
    """Return a page of the project."""
    return (PROJECT / name).read_text(encoding="utf-8")


def verbs() -> list[str]:
    """Return the verbs of the command line."""
    from likewise.cli import app

    return [
        command.name or command.callback.__name__
        for command in app.registered_commands
        if command.callback is not None
    ]


@pytest.mark.parametrize(
    "name",
    [
        "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE", "Makefile",
        "pyproject.toml", ".ci/run", "docs/decisions",
    ],
)  # fmt: skip
def test_what_a_stranger_looks_for_is_there(name: str) -> None:
    assert (PROJECT / name).exists()


def test_the_types_are_for_users_too() -> None:
    """PEP 561: without the marker a type checker ignores every annotation of the package."""
    assert (ROOT / "py.typed").exists()


def test_the_version_is_written_once_in_each_place() -> None:
    stated = PROJECT_TABLE["version"]
    assert likewise.__version__ == stated
    assert version("likewise") == stated
    newest = re.search(r"^## (\d+\.\d+\.\d+)", page("CHANGELOG.md"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == stated


def test_the_changelog_says_outcomes_in_one_line_each() -> None:
    lines = page("CHANGELOG.md").splitlines()
    outcomes = [line for line in lines if line.startswith("- ")]
    assert outcomes
    none([line for line in lines if line and not line.startswith(("#", "- ", "Outcomes"))])


def test_the_licence_is_the_one_that_is_stated() -> None:
    assert PROJECT_TABLE["license"] == "Apache-2.0"
    assert "Apache License" in page("LICENSE")
    assert "Version 2.0" in page("LICENSE")


def test_every_verb_has_help_and_a_page() -> None:
    from likewise.cli import app

    acts = [command.callback for command in app.registered_commands if command.callback]
    none([f"{act.__name__} has no help" for act in acts if not act.__doc__])
    pages = [f"docs/{verb}.md" for verb in verbs()]
    none([f"{name} is not there" for name in pages if not (PROJECT / name).exists()])


def test_every_public_name_has_a_line_in_the_docs() -> None:
    text = page("README.md")
    text += "".join(p.read_text(encoding="utf-8") for p in (PROJECT / "docs").rglob("*.md"))
    none([name for name in likewise.__all__ if not re.search(rf"\b{name}\b", text)])


def test_the_architecture_shows_every_room_and_its_cell() -> None:
    text = page("ARCHITECTURE.md")
    rooms = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    none([f"{room}/ is not in ARCHITECTURE.md" for room in rooms if f"`{room}/`" not in text])
    row = next(line for line in text.splitlines() if line.startswith("| errors, types |"))
    drawn = [set(re.findall(r"[a-z]+", cell)) for cell in row.strip("|").split("|")]
    kept = [set(cell) for cell in CELLS]
    assert drawn == [kept[0] | kept[1], *kept[2:-1]]


def test_every_rule_names_a_test_that_is_there() -> None:
    named = re.findall(r"`(tests/[\w/.]+)`", page("ARCHITECTURE.md"))
    assert named
    none([f"{name} is not there" for name in named if not (PROJECT / name).exists()])


def test_links_between_pages_lead_somewhere() -> None:
    links = [
        (source, target)
        for source in (*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md"))
        for target in LINK.findall(source.read_text(encoding="utf-8"))
        if "://" not in target
    ]
    none(
        [
            f"{source.relative_to(PROJECT)} links to {target}, which is not there"
            for source, target in links
            if not (source.parent / target).exists()
        ]
    )


def test_the_makefile_has_its_targets_and_no_more() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", page("Makefile"), re.MULTILINE)
    assert phony is not None
    assert sorted(phony[1].split()) == sorted(TARGETS)


def test_continuous_integration_makes_test() -> None:
    assert re.search(r"^make test$", page(".ci/run"), re.MULTILINE)


def test_nothing_large_or_derived_is_committed() -> None:
    listed = subprocess.run(
        ["git", "-C", str(PROJECT), "ls-files", "-z"], capture_output=True, text=True, check=False
    )
    files = [PROJECT / name for name in listed.stdout.split("\0") if name]
    heavy = (".safetensors", ".bin", ".pt", ".pth", ".onnx", ".whl", ".npz", ".gguf")
    none([str(f) for f in files if f.suffix in heavy])
    none([str(f) for f in files if f.is_file() and f.stat().st_size > 1_000_000])
