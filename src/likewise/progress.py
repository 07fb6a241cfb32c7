"""A phase and what is being done in it, in; whatever the listener makes of it, out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Progress", "silent"]

Progress: TypeAlias = Callable[[str, str], None]
"""Long work tells it the phase and the step: ``progress("prove", "onnx/cpu/float32/b16/t2")``."""


def silent(phase: str, detail: str) -> None:
    """Say nothing."""
