"""What would the usual rules say? Shown beside the verdict, never part of it."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

from likewise import find
from likewise.prove.evidence import Evidence
from likewise.prove.pairs import Pairs
from likewise.types import Measure

gate = "shown"


def check(evidence: Evidence) -> list[Measure]:
    """Return every metric of ``metrics/`` on every output of its kinds, without a limit."""
    metrics = [find.load("metrics", name) for name in find.names("metrics")]
    return [
        _shown(metric, pairs)
        for pairs in evidence.pairs.values()
        for metric in metrics
        if pairs.kind in metric.kinds
    ]


def _shown(metric: ModuleType, pairs: Pairs) -> Measure:
    measure: Measure = metric.measure(pairs.reference, pairs.candidate)
    item = None if measure.worst_item is None else int(pairs.items[measure.worst_item])
    return replace(measure, on=pairs.name, worst_item=item)
