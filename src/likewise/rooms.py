"""A verb's room, made callable: ``likewise.port(...)`` is both the folder and the act.

Importing ``likewise.port.job`` binds the *module* ``likewise.port``; so that the word still works
as a function afterwards, the module itself answers a call. docs/decisions/callable-rooms.md.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

__all__ = ["make_callable"]


class _Room(ModuleType):
    _act: str

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Do what the room is for."""
        module, _, function = self._act.partition(":")
        return getattr(importlib.import_module(module), function)(*args, **options)


def make_callable(name: str, act: str) -> None:
    """Let the module ``name`` answer a call with the function ``act`` ("module:function")."""
    module = sys.modules[name]
    module.__class__ = _Room
    module._act = act  # type: ignore[attr-defined]  # the class was just given
