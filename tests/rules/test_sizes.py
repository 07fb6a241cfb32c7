"""Files, functions and the whole stay small enough for a tired stranger."""

from __future__ import annotations

import ast

import pytest
from own_source import PROJECT, ROOT, Source, functions, none, read, sources

FILE_LINES = 300
FUNCTION_LINES = 50
PARAMETERS = 5  # options after * are not counted
TOTAL_LINES = 28_000  # of src/, comments and blank lines included; raise it in a commit of its own
LONGER = {"types.py": 400}  # every value that passes between rooms, in one page
FLAGS_ARE_PARAMETERS = "cli"  # typer reads a command's flags from its signature


def long_files(source: Source, limit: int = FILE_LINES) -> list[str]:
    lines = source.text.count("\n")
    allowed = LONGER.get(source.path.relative_to(ROOT).as_posix(), limit)
    return [f"{source.at(lines)} has {lines} of {allowed} lines"] if lines > allowed else []


def long_functions(source: Source) -> list[str]:
    return [
        f"{source.at(f.lineno)} {f.name} has {lines} of {FUNCTION_LINES} lines"
        for f in functions(source)
        if (lines := (f.end_lineno or f.lineno) - f.lineno + 1) > FUNCTION_LINES
    ]


def wide_functions(source: Source) -> list[str]:
    if source.room == FLAGS_ARE_PARAMETERS:
        return []
    wrong = []
    for f in functions(source):
        names = [a.arg for a in (*f.args.posonlyargs, *f.args.args) if a.arg not in ("self", "cls")]
        if len(names) > PARAMETERS:
            wrong.append(f"{source.at(f.lineno)} {f.name} takes {len(names)} of {PARAMETERS}")
    return wrong


def test_files_are_short() -> None:
    none([wrong for source in sources() for wrong in long_files(source)])


def test_functions_are_short() -> None:
    none([wrong for source in sources() for wrong in long_functions(source)])


def test_functions_take_few_parameters() -> None:
    none([wrong for source in sources() for wrong in wide_functions(source)])


def test_the_whole_stays_inside_its_budget() -> None:
    total = sum(source.text.count("\n") for source in sources())
    assert total <= TOTAL_LINES


@pytest.mark.parametrize("folder", ["tests", "benchmarks"])
def test_files_beside_the_package_are_short_too(folder: str) -> None:
    wrong = []
    for path in sorted((PROJECT / folder).rglob("*.py")):
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > FILE_LINES:
            wrong.append(f"{path.relative_to(PROJECT)}:{lines} has {lines} of {FILE_LINES} lines")
    none(wrong)


def test_every_file_opens_with_what_comes_in_and_what_goes_out() -> None:
    wrong = []
    for source in sources():
        if source.path.name == "__init__.py":
            continue
        opening = (ast.get_docstring(source.tree) or "").split("\n\n")[0]
        if not opening:
            wrong.append(f"{source.at(1)} does not say what it is for")
    none(wrong)


def test_planted_giants_are_seen() -> None:
    body = "\n".join(f"    x{n} = {n}" for n in range(FUNCTION_LINES))
    text = f"def f(a, b, c, d, e, g):\n{body}\n" + "\n" * FILE_LINES
    giant = read(ROOT / "run/new.py", text)
    for rule in (long_files, long_functions, wide_functions):
        assert len(rule(giant)) == 1
