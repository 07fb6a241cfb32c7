"""What stands beside a verdict's measures in; canaries, strata and usual rules, spelled, out."""

from __future__ import annotations

from dataclasses import dataclass

from likewise.outcomes import Rule, Stratum, Verdict
from likewise.report import numbers
from likewise.report.words import Words
from likewise.types import Measure

__all__ = ["RuleRow", "StratumRow", "canaries", "flip_bound", "rule_row", "stratum_row"]


@dataclass(frozen=True)
class StratumRow:
    """Some of the items, and how they do."""

    by: str
    name: str
    n: str
    same: str
    flips: str
    error: str
    worst: str
    reason: str


@dataclass(frozen=True)
class RuleRow:
    """One usual rule, and what it says here."""

    name: str
    value: str
    threshold: str
    passes: str
    n: str
    reason: str


def canaries(verdict: Verdict, words: Words) -> str:
    """Spell how many planted faults were caught and how many honest ways passed."""
    missed, alarms = (_first(verdict, name) for name in ("canaries_missed", "false_alarms"))
    if missed is None or missed.value is None or alarms is None or alarms.value is None:
        unknown = next((m for m in (missed, alarms) if m is not None and m.value is None), None)
        if unknown is None:
            return numbers.MISSING
        return words["canaries_unknown"].format(reason=unknown.reason)
    return words["canaries_are"].format(
        caught=numbers.number(missed.n - int(missed.value)),
        planted=numbers.number(missed.n),
        honest=numbers.number(alarms.n - int(alarms.value)),
        ways=numbers.number(alarms.n),
    )


def flip_bound(verdict: Verdict, words: Words) -> str:
    """Spell how many answers flipped beyond near-ties, and what that allows the true rate to be."""
    for name in ("top1_flips", "label_flips"):
        held = _first(verdict, name)
        bound = _first(verdict, f"{name}_bound") or held  # a lossy class is held to the bound
        bad = _first(verdict, f"{name}_counted") or held
        if bound is not None and bad is not None and bound is not bad:
            return words["flips_are"].format(
                bad=numbers.number(bad.value),
                n=numbers.number(bound.n),
                bound=numbers.percent(bound.value),
            )
    return numbers.MISSING


def stratum_row(stratum: Stratum, words: Words) -> StratumRow:
    """Return the row of one stratum."""
    by = {
        "label": words["by_label"],
        "tokens": words["by_tokens"],
        "content": words["by_content"],
    }
    same = numbers.MISSING
    if stratum.differ is not None:
        same = words["same_of"].format(
            same=numbers.number(stratum.n - stratum.differ), n=numbers.number(stratum.n)
        )
    return StratumRow(
        by=by.get(stratum.by, stratum.by),
        name=stratum.name,
        n=numbers.number(stratum.n),
        same=same,
        flips=numbers.number(stratum.flips),
        error=numbers.number(stratum.error),
        worst=numbers.MISSING if stratum.worst_item is None else str(stratum.worst_item),
        reason=stratum.reason,
    )


def rule_row(rule: Rule, words: Words) -> RuleRow:
    """Return the row of one usual rule."""
    value, threshold = numbers.against(rule.value, rule.threshold)
    relation = "<" if rule.better == "lower" else "≥" if rule.threshold == 1 else ">"
    return RuleRow(
        name=f"{rule.name} ({rule.on})",
        value=value,
        threshold=threshold if rule.threshold is None else f"{relation} {threshold}",
        passes={True: words["yes"], False: words["no"], None: numbers.MISSING}[rule.passes],
        n=numbers.number(rule.n),
        reason=rule.reason,
    )


def _first(verdict: Verdict, metric: str) -> Measure | None:
    return next((m for m in verdict.measures if m.metric == metric), None)
