"""The evidence and its measures in; what the usual rules say of the same two runs, out.

"Error below 1 %" has at least five readings in published reports; each stands by its own name.
None of them is a part of the verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from likewise.outcomes import Rule
from likewise.prove.evidence import Evidence
from likewise.types import Measure

__all__ = ["rules"]


@dataclass(frozen=True)
class _Usual:
    name: str
    metric: str
    threshold: float | None
    better: Literal["lower", "higher"] = "lower"
    complement: bool = False  # of the metric to 1


_ERROR = 0.01
_USUAL = (
    _Usual("error < 1 %: mean relative difference", "mean_relative_difference", _ERROR),
    _Usual("error < 1 %: largest relative difference", "max_relative_difference", _ERROR),
    _Usual("error < 1 %: relative to the norm", "norm_relative_difference", _ERROR),
    _Usual("error < 1 %: relative to the mean", "relative_mean_difference", _ERROR),
    _Usual("error < 1 %: 1 - cosine", "mean_cosine", _ERROR, complement=True),
    _Usual("mean cosine", "mean_cosine", 0.99, "higher"),
    _Usual("mean absolute difference", "mean_difference", 0.005),
    _Usual("mean squared difference", "mean_squared_difference", None),
    _Usual("Pearson of the values", "value_pearson", 0.99, "higher"),
    _Usual("same best class (top-1)", "top1_agreement", 1.0, "higher"),
    _Usual("same best five (top-5)", "top5_agreement", 1.0, "higher"),
)
"""Thresholds: shared/reports.md and shared/verdict.md, the rule of the five reports."""


def rules(evidence: Evidence, measures: Sequence[Measure]) -> tuple[Rule, ...]:
    """Return each usual rule on what people compare: scores or vectors, never logits."""
    on = next((name for name in ("scores", "vector") if name in evidence.kinds), "")
    found = {m.metric: m for m in measures if m.on == on and m.gate == "shown"}
    return tuple(_rule(usual, on, evidence, found.get(usual.metric)) for usual in _USUAL)


def _rule(usual: _Usual, on: str, evidence: Evidence, measure: Measure | None) -> Rule:
    if measure is None:
        reason = _unasked(evidence)
        return Rule(usual.name, on, None, 0, usual.better, usual.threshold, None, reason)
    value = measure.value
    if value is not None and usual.complement:
        value = 1 - value
    return Rule(
        name=usual.name,
        on=on,
        value=value,
        n=measure.n,
        better=usual.better,
        threshold=usual.threshold,
        passes=_passes(value, usual),
        reason=measure.reason or ("" if usual.threshold is not None else "no threshold is usual"),
    )


def _unasked(evidence: Evidence) -> str:
    """Say why a rule has no measure: only those of classes are not taken of every output."""
    if not evidence.pairs:
        return "the rows could not be compared"
    sigmoid = evidence.contract.get("activation") == "sigmoid"
    return "each label stands on its own" if sigmoid else "no classes"


def _passes(value: float | None, usual: _Usual) -> bool | None:
    if value is None or usual.threshold is None:
        return None
    if usual.better == "lower":
        return value < usual.threshold
    return value >= 1 if usual.threshold == 1 else value > usual.threshold
