"""The evidence, its outcome and measures in; how much was tried, and what that excludes, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from likewise.prove.bounds import CONFIDENCE, upper_rate
from likewise.prove.effort import ADDED
from likewise.prove.evidence import Evidence
from likewise.types import Json, Measure, Outcome

__all__ = ["drawn", "power", "said"]

_FLIPS = ("top1_flips", "label_flips")


def drawn(evidence: Evidence) -> int:
    """Return how many items with an answer are of the mix: near-ties and the sweep are not."""
    added = {i for i, probe in enumerate(evidence.probes) if probe.group in ADDED}
    return len(set(evidence.reference.owners.tolist()) - added)


def power(evidence: Evidence, outcome: Outcome, measures: Sequence[Measure]) -> Mapping[str, Json]:
    """Return the effort, its items, and the largest rate of flips that what was seen allows.

    Where there are no classes the rate is that of items over a limit. It is None where nothing
    can be signed: then a reason stands beside it.
    """
    items = drawn(evidence)
    flips = [m for m in measures if m.metric in _FLIPS and m.value is not None]
    made: dict[str, Json] = {
        "name": evidence.effort,
        "items": items,
        "truth_items": len(evidence.truth_items) if evidence.truth else 0,
        "confidence": CONFIDENCE,
        "excludes": "flips" if flips else "failures",
        "above_rate": None,
    }
    if evidence.added:
        made["added"] = dict(evidence.added)
    if outcome not in ("equal", "within") or not items:
        return {**made, "reason": f"the plan is {outcome}"}
    # Of a lossy class the figure is a bound itself, over a limit that is not 0.
    bounds = [m.value for m in flips if m.value is not None and m.limit]
    return {**made, "above_rate": max([upper_rate(0, items), *bounds])}


def said(power: Mapping[str, Json]) -> str:
    """Return the same in a sentence; "" where nothing is excluded."""
    if power["above_rate"] is None or not power["name"]:
        return ""
    added = power.get("added", {})
    more = [
        f"{facts['texts']} {group} texts{_read(facts)}"
        for group, facts in added.items()
        if facts["texts"]
    ]
    beside = f"; beside them {' and '.join(more)}" if more else ""
    return (
        f"Effort {power['name']}: {power['items']} items of the mix, {power['truth_items']} in "
        f"float64{beside}. That excludes {power['excludes']} in more than "
        f"{100 * power['above_rate']:.2f} % of such items ({100 * power['confidence']:.0f} % "
        "confidence), and no rarer ones."
    )


def _read(facts: Mapping[str, Json]) -> str:
    if "ids_read" not in facts:
        return ""
    capped = facts["ids"] - facts["ids_wanted"]
    cap = f", {capped:,} of them beyond the cap" if capped else ""
    return f" with {facts['ids_read']:,} of {facts['ids']:,} token ids in them{cap}"
