"""Is every number a number?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from likewise.metrics._rows import finite_rows
from likewise.prove.checks._held import count, doubted
from likewise.prove.evidence import Evidence
from likewise.types import Measure

if TYPE_CHECKING:
    from likewise.types import Ints

gate = "G0"


def check(evidence: Evidence) -> list[Measure]:
    """Return, per output, rows with NaN or infinity in the references and in the candidate alone.

    Both sides not finite is not agreement: the reference then says nothing about that item.
    """
    return [m for name in evidence.kinds for m in _output(evidence, name)]


def _output(evidence: Evidence, name: str) -> Iterator[Measure]:
    for on, run in evidence.references():
        if name not in run.arrays:
            continue
        bad = run.owners[~finite_rows(run.arrays[name])]
        if on == "truth":
            bad = np.asarray(evidence.truth_items)[bad]
        words = f"the reference {run.plan} holds NaN or infinity in {name}, {_where(bad)}"
        yield doubted(_counted(f"{name} of the {on}", bad, len(run.owners), words))
    if evidence.comparable:
        good = finite_rows(evidence.reference.arrays[name])
        bad = evidence.candidate.owners[good & ~finite_rows(evidence.candidate.arrays[name])]
        words = f"{name} holds NaN or infinity where the reference does not, {_where(bad)}"
        yield _counted(name, bad, int(good.sum()), words)


def _counted(on: str, bad: Ints, total: int, words: str) -> Measure:
    measure = count("not_finite", on, len(bad), total, words)
    return replace(measure, worst_item=int(bad[0])) if len(bad) else measure


def _where(bad: Ints) -> str:
    some = ", ".join(map(str, np.unique(bad)[:5].tolist()))
    return f"on {len(bad)} row(s): item(s) {some}"
