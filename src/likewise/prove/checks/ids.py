"""Are the tokens those that transformers makes of the same texts?"""

from __future__ import annotations

from likewise.prove.checks._held import count, doubted
from likewise.prove.evidence import Evidence
from likewise.types import Json, Measure

gate = "G0"


def check(evidence: Evidence) -> list[Measure]:
    """Return how many texts likewise reads as other ids than transformers; [] for pictures.

    Both sides of a proof read their texts alike, so a tokenizer that is wrong is wrong on both,
    and nothing else would see it.
    """
    said: Json = evidence.yardstick.facts.get("token_ids")
    if not isinstance(said, dict):
        return []
    if said["missing"]:
        shown = Measure("token_ids", "yardstick", None, "texts", 0, reason=said["missing"])
        return [shown]
    first = f", as in {said['unlike'][0]!r}" if said["unlike"] else ""
    words = f"{said['count']} texts have other token ids in transformers{first}"
    return [doubted(count("token_ids", "yardstick", int(said["count"]), int(said["n"]), words))]
