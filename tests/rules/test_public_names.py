"""Public names say what they are: words of the house, docstrings, and lists that are true."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator

import pytest
from own_source import ROOT, Source, functions, none, read, sources

FORBIDDEN = {
    "manager", "handler", "helper", "helpers", "base", "util", "utils", "impl", "data", "info",
    "misc", "common", "stuff", "tmp", "mgr", "cfg",
}  # fmt: skip
Rule = Callable[[Source], list[str]]
Named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def words(name: str) -> set[str]:
    """Return the words of a snake_case or CamelCase name, in lower case."""
    return {w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)}


def names(source: Source) -> Iterator[tuple[int, str]]:
    """Yield (line, name) of the file itself and of each class, function and module-level value."""
    yield 1, source.path.stem
    for node in ast.walk(source.tree):
        if isinstance(node, Named):
            yield node.lineno, node.name
    for statement in source.tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        yield from ((t.lineno, t.id) for t in targets if isinstance(t, ast.Name))


def unfit_names(source: Source) -> list[str]:
    return [
        f"{source.at(line)} {name}: no {', '.join(sorted(bad))}"
        for line, name in names(source)
        if (bad := words(name) & FORBIDDEN)
    ]


def undocumented(source: Source) -> list[str]:
    """Return public classes and functions without a docstring; a private class hides its own."""
    waiting: list[ast.stmt] = list(source.tree.body)
    wrong = []
    while waiting:
        node = waiting.pop()
        if not isinstance(node, Named) or node.name.startswith("_"):
            continue
        if not ast.get_docstring(node):
            wrong.append(f"{source.at(node.lineno)} {node.name} has no docstring")
        if isinstance(node, ast.ClassDef):
            waiting += node.body
    return wrong


def swallowed(source: Source) -> list[str]:
    """Return handlers that catch everything and say nothing."""
    return [
        f"{source.at(node.lineno)} swallows {ast.unparse(node.type) if node.type else 'everything'}"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
        and all(isinstance(s, ast.Pass | ast.Continue) or _dots(s) for s in node.body)
    ]


def talking(source: Source) -> list[str]:
    """Return what prints or sets up logging outside the command line."""
    loud = re.compile(r"print|logging\.basicConfig|sys\.std(out|err)\.write|warnings\.simplefilter")
    return [
        f"{source.at(node.lineno)} {ast.unparse(node.func)}(…)"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and loud.fullmatch(ast.unparse(node.func))
    ]


def _dots(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and ast.unparse(statement) == "..."


def _is_process(source: Source) -> bool:
    """Tell whether a file is the main module of a child process: it may write to its pipes."""
    return '__name__ == "__main__"' in source.text


def test_names_are_words_of_the_house() -> None:
    none([wrong for source in sources() for wrong in unfit_names(source)])


def test_public_names_have_docstrings() -> None:
    none([wrong for source in sources() for wrong in undocumented(source)])


def test_nothing_is_swallowed() -> None:
    none([wrong for source in sources() for wrong in swallowed(source)])


def test_the_library_never_talks() -> None:
    quiet = [s for s in sources() if s.room not in ("cli", "__main__") and not _is_process(s)]
    none([wrong for source in quiet for wrong in talking(source)])


def test_listed_names_exist() -> None:
    wrong = []
    for source in sources():
        if source.path.stem != "__main__":
            module = importlib.import_module(source.module)
            lost = [name for name in getattr(module, "__all__", ()) if not hasattr(module, name)]
            wrong += [f"{source.at(1)} lists {name}, which is not there" for name in lost]
    none(wrong)


def test_functions_have_types() -> None:
    wrong = [
        f"{source.at(f.lineno)} {f.name} does not say what it returns"
        for source in sources()
        for f in functions(source)
        if f.returns is None and f.name != "__init__"
    ]
    none(wrong)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (unfit_names, "class PlanManager:\n    '''x'''"),
        (unfit_names, "def load_data(): '''x'''"),
        (undocumented, "class A:\n    '''x'''\n    def b(self): return 1"),
        (swallowed, "try:\n    f()\nexcept Exception:\n    pass"),
        (swallowed, "try:\n    f()\nexcept:\n    ..."),
        (talking, "print('hello')"),
    ],
)
def test_a_planted_fault_is_seen(rule: Rule, text: str) -> None:
    assert len(rule(read(ROOT / "run/new.py", text))) == 1
