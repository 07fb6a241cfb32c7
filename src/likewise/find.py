"""A folder of plug-ins in; their names, without importing them, and one module when asked, out.

The file's name is the plug-in's name. Outside packages join through entry points of the same
group: ``likewise.engines``, ``likewise.tasks``, ``likewise.metrics``.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from pathlib import Path
from types import ModuleType

from likewise.errors import LikewiseError

_HERE = Path(__file__).parent

__all__ = ["load", "names"]


def names(room: str) -> list[str]:
    """List the plug-ins of a room, sorted, without importing one.

    >>> "onnx" in names("engines")
    True
    """
    own = {p.stem for p in (_HERE / room).glob("*.py") if not p.stem.startswith("_")}
    return sorted(own | set(_outside(room)))


def load(room: str, name: str) -> ModuleType:
    """Import one plug-in.

    Raises:
        LikewiseError: no plug-in of that name; lists those there are.
    """
    if (_HERE / room / f"{name}.py").is_file() and not name.startswith("_"):
        return importlib.import_module(f"likewise.{room.replace('/', '.')}.{name}")
    outside = _outside(room)
    if name in outside:
        module = outside[name].load()
        assert isinstance(module, ModuleType)
        return module
    raise LikewiseError(
        f"{name!r} is not among the {room}.",
        found=f"there are: {', '.join(names(room))}",
        fix="likewise doctor lists what is here",
    )


def _outside(room: str) -> dict[str, importlib.metadata.EntryPoint]:
    group = f"likewise.{room.replace('/', '.')}"
    return {e.name: e for e in importlib.metadata.entry_points(group=group)}
