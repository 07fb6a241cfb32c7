"""What an audit found: the lines, what stands there, and what follows from it instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Finding"]


@dataclass(frozen=True)
class Finding:
    """One contradiction of a report."""

    check: str  # the file of checks/ that asked
    severity: Literal["wrong", "doubtful"]  # cannot be true as it stands; or proves little
    lines: tuple[int, ...]  # counted from 1, rising
    found: str
    recomputed: str
