"""Carries a trained encoder to another processor and proves that it still answers likewise.

Public names load on first use; importing the package imports nothing heavy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from likewise import bench, port, prove
    from likewise.errors import LikewiseError
    from likewise.model.read import read as inspect
    from likewise.outcomes import Report, Verdict
    from likewise.run.predictors import (
        Classifier,
        Encoder,
        FillMask,
        ImageClassifier,
        ImageEncoder,
    )
    from likewise.settings import Settings, read_settings
    from likewise.types import Model, Plan, Run

__version__ = "0.1.0"

_PLACES = {
    "Classifier": "likewise.run.predictors",
    "Encoder": "likewise.run.predictors",
    "FillMask": "likewise.run.predictors",
    "ImageClassifier": "likewise.run.predictors",
    "ImageEncoder": "likewise.run.predictors",
    "LikewiseError": "likewise.errors",
    "Model": "likewise.types",
    "Plan": "likewise.types",
    "Report": "likewise.outcomes",
    "Run": "likewise.types",
    "Settings": "likewise.settings",
    "Verdict": "likewise.outcomes",
    "bench": "",
    "inspect": "likewise.model.read:read",
    "port": "",
    "prove": "",
    "read_settings": "likewise.settings",
}

__all__ = [
    "Classifier",
    "Encoder",
    "FillMask",
    "ImageClassifier",
    "ImageEncoder",
    "LikewiseError",
    "Model",
    "Plan",
    "Report",
    "Run",
    "Settings",
    "Verdict",
    "bench",
    "inspect",
    "port",
    "prove",
    "read_settings",
]


def __getattr__(name: str) -> Any:
    """Load a public name on first use; bench, port and prove are rooms that answer a call."""
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"likewise has no {name!r}; it has: {', '.join(__all__)}")
    if not place:
        return importlib.import_module(f"likewise.{name}")
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute or name)


def __dir__() -> list[str]:
    return __all__
