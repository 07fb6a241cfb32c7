"""Nothing in; likewise's own source files, read once as syntax trees, out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).parents[2]
ROOT = PROJECT / "src" / "likewise"


@dataclass(frozen=True)
class Source:
    """One file: where it is, what it is called when imported, and what it says."""

    path: Path
    module: str  # likewise.run.runner
    text: str
    tree: ast.Module

    @property
    def room(self) -> str:
        """Return the folder directly under likewise, or the file's own name."""
        parts = self.module.split(".")
        return parts[1] if len(parts) > 1 else "likewise"

    def at(self, line: int) -> str:
        """Return file:line, as an editor takes it."""
        return f"{self.path.relative_to(PROJECT)}:{line}"


@cache
def sources() -> tuple[Source, ...]:
    """Return every Python file of the package."""
    return tuple(read(path) for path in sorted(ROOT.rglob("*.py")))


def read(path: Path, text: str | None = None) -> Source:
    """Read a file; ``text`` stands for its content where a test plants one."""
    content = path.read_text(encoding="utf-8") if text is None else text
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Source(path, module, content, ast.parse(content))


def imports(source: Source) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name) of everything a file imports, wherever it stands in the file.

    ``from likewise import find`` is likewise.find; ``from likewise.run.runner import Runner`` is
    likewise.run.runner.Runner: the caller looks at as much of the front as it needs.
    """
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            front = node.module or ""
            if node.level:
                own = source.module.split(".")
                package = own if source.path.name == "__init__.py" else own[:-1]
                base = package[: len(package) - node.level + 1]
                front = ".".join([*base, *([front] if front else [])])
            yield from ((node.lineno, f"{front}.{alias.name}") for alias in node.names)


def first_imports(source: Source) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name) of what the file imports when it is imported itself.

    That is: not inside a function, and not under ``if TYPE_CHECKING``.
    """
    waiting: list[ast.AST] = list(source.tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.lineno, node.module or ""
        waiting += list(ast.iter_child_nodes(node))


def functions(source: Source) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield every function and method, nested ones too."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def none(wrong: list[str]) -> None:
    """Fail with one offender a line, where there is one."""
    assert not wrong, "\n  ".join([f"{len(wrong)} to mend:", *wrong])
