"""Does an item's answer stay the same in other company?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likewise.prove.checks._held import held, unknown, unsure
from likewise.prove.evidence import Evidence
from likewise.prove.pairs import Pairs
from likewise.types import Json, Measure

if TYPE_CHECKING:
    from likewise.metrics._rows import Numbers

gate = "G3"

_TITLES = {
    "alone": "alone",
    "reordered": "in another order",
    "beside_longest": "beside the longest item",
    "longer_text": "with more text beyond the limit",
    "two_threads": "from two threads at once",
    "again": "a second time",
}


def check(evidence: Evidence) -> list[Measure]:
    """Return, per way to run some items again, how far they moved, in units of honest noise.

    It needs no reference but for what one rounding error is worth, and finds answers that depend
    on their neighbours: rows mixed up, padding that is seen, state that is kept.
    """
    entries: Json = evidence.candidate.facts.get("company") or []
    return [
        _moved(evidence, evidence.judged[entry["output"]], entry)
        for entry in entries
        if entry["output"] in evidence.judged
    ]


def _moved(evidence: Evidence, pairs: Pairs, entry: Json) -> Measure:
    limit = evidence.limits["moved"]
    name, items = str(entry["name"]), np.asarray(entry["items"])
    shown = Measure(name, pairs.name, None, "× floor", len(items))
    if pairs.obstacle:
        return unknown(shown, limit, pairs.obstacle)
    moved = np.array([np.nan if m is None else m for m in entry["moved"]], np.float64)
    ratio = moved / _noise(pairs, items)
    worst = int(np.where(np.isnan(ratio), np.inf, ratio).argmax())
    how = _TITLES.get(name, f"in a batch of {name.removeprefix('batch_')}")
    measure = held(
        Measure(name, pairs.name, float(ratio[worst]), "× floor", len(items),
                worst_item=int(items[worst])),
        limit,
        f"{pairs.name}: {how}, item {{item}} moves by {{value}} times the noise (limit {{limit}})",
        outside=evidence.limits["amplification_max_outside"].value,
    )  # fmt: skip
    return unsure(measure, guessed=evidence.tiny(pairs))


def _noise(pairs: Pairs, items: np.ndarray) -> Numbers:
    """Return what an honest error is worth on each of these items, as a distance."""
    known = dict(zip(pairs.items.tolist(), pairs.distances.tolist(), strict=True))
    typical = float(np.median(pairs.distances))
    return np.array([known.get(item, typical) for item in items.tolist()])
