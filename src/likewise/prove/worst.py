"""The evidence in; the items on which the two runs differ most, with both answers, out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from likewise.outcomes import WorstItem
from likewise.prove.evidence import Evidence
from likewise.prove.pairs import Pairs
from likewise.types import Item, Json

__all__ = ["shown", "worst_items"]

_MOST = 5  # items, and labels or tokens of an answer
_LONGEST = 100  # characters of an item
_NUMBERS = 8  # of a vector


def worst_items(evidence: Evidence, pairs: Pairs) -> tuple[WorstItem, ...]:
    """Return up to five items, worst first; a row that is not finite is the worst of all."""
    errors = np.where(np.isfinite(pairs.errors), pairs.errors, np.inf)
    worst: dict[int, float] = {}
    for row in np.argsort(-errors, kind="stable").tolist():
        worst.setdefault(int(pairs.items[row]), float(errors[row]))
        if len(worst) == _MOST:
            break
    return tuple(_item(evidence, item, error) for item, error in worst.items())


def _item(evidence: Evidence, item: int, error: float) -> WorstItem:
    finite = bool(np.isfinite(error))
    return WorstItem(
        item=item,
        shown=shown(evidence.probes[item].item),
        error=error if finite else None,
        metric="spread_error",
        reference=_brief(evidence.reference.answers[item]),
        candidate=_brief(evidence.candidate.answers[item]),
        reason="" if finite else "the candidate's numbers are not finite",
    )


def shown(item: Item) -> str:
    """Return an item cut to a line.

    >>> shown("two" + chr(10) + "lines")
    'two lines'
    """
    if isinstance(item, str):
        line = " ".join(item.split()) or repr(item)
        return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    if isinstance(item, Path):
        return item.name
    if isinstance(item, tuple):
        return " | ".join(shown(part) for part in item)
    if hasattr(item, "size") and hasattr(item, "mode"):
        return f"a picture, {item.size[0]}×{item.size[1]} {item.mode}"
    return f"{len(item):,} bytes" if isinstance(item, bytes) else type(item).__name__


def _brief(answer: Json) -> Json:
    """Return an answer with its first labels, tokens and numbers only."""
    if not isinstance(answer, dict):
        return answer
    cut = {"labels": _MOST, "vector": _NUMBERS, "values": _NUMBERS}
    brief = {k: v[: cut[k]] if k in cut else v for k, v in answer.items()}
    if "masks" in brief:
        brief["masks"] = [mask[:_MOST] for mask in brief["masks"]]
    return brief
