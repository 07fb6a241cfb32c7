"""A plan and a budget in; the limits it is held to, each with its source, out."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from likewise.types import Plan

__all__ = ["Limit", "Limits", "limits_of", "precision_class"]

EXACT = "float32"
"""The class of float32 and float64 plans; the only one that can be ``equal``."""
_SCALED = (
    "spread_error",
    "divergence",
    "divergence_max",
    "flips",
    "score_difference",
    "similarity_drift",
)


@dataclass(frozen=True)
class Limit:
    """A number that a figure is held to, and where it comes from."""

    value: float
    source: str


@dataclass(frozen=True)
class Limits:
    """All limits of one precision class under one budget."""

    precision: str  # float32 tf32 hf32 float16 bfloat16 int8
    budget: str  # strict standard relaxed
    table: Mapping[str, Limit]

    def __getitem__(self, name: str) -> Limit:
        return self.table[name]

    def get(self, name: str) -> Limit | None:
        """Return the limit of that name, or None where the class has none."""
        return self.table.get(name)

    @property
    def exact(self) -> bool:
        """Whether the class rounds as CPU float32 does."""
        return self.precision == EXACT


def precision_class(plan: Plan) -> str:
    """Return the class a plan is judged in: its dtype, or the precision that an extra says.

    >>> precision_class(Plan.parse("torch/cpu/float32/b16/t2/emulate=int8"))
    'int8'
    >>> precision_class(Plan.parse("torch/npu/float32/b16/t2/hf32"))
    'hf32'
    """
    emulated = plan.extra("emulate")
    if emulated is not None:
        return emulated
    if plan.dtype in ("float32", "float64"):
        return next((e for e in plan.extras if e in ("tf32", "hf32")), EXACT)
    return plan.dtype


@functools.cache
def limits_of(precision: str, budget: str) -> Limits:
    """Return the limits of a precision class; a budget scales those of the lossy classes."""
    tables = _tables()
    own = {**tables["correctness"], **tables[precision]}
    if precision != EXACT:
        own |= _scaled(own, tables["budget"][budget].value)
    return Limits(precision, budget, own)


def _scaled(table: Mapping[str, Limit], factor: float) -> dict[str, Limit]:
    made = {n: Limit(table[n].value * factor, table[n].source) for n in _SCALED}
    overlap = table["neighbour_overlap"]
    made["neighbour_overlap"] = Limit(1 - (1 - overlap.value) * factor, overlap.source)
    return made


@functools.cache
def _tables() -> dict[str, dict[str, Limit]]:
    toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    text = Path(__file__).with_name("limits.toml").read_text(encoding="utf-8")
    return {
        table: {name: Limit(**limit) for name, limit in values.items()}
        for table, values in toml.loads(text).items()
        if isinstance(values, dict)
    }
