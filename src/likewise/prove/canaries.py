"""A subject and its references in; whether the verdict can tell wrong from right here, out.

In every proof some planted faults must not pass, and some honest ways to run must: on this very
model, with its own items, noise and limits. A verdict that misses one is not to be trusted.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from likewise import cache
from likewise.engines._devices import threads
from likewise.prove.bounds import most_likely, upper_rate
from likewise.prove.evidence import Canaries, Evidence, Other
from likewise.prove.faults import faults
from likewise.prove.limits import Limit, Limits
from likewise.prove.references import References
from likewise.prove.runs import key, run_all
from likewise.prove.subject import Subject
from likewise.prove.verdict import outcome_of
from likewise.run.items import fingerprint
from likewise.types import Plan, Run

if TYPE_CHECKING:
    from likewise.types import Ints

__all__ = ["canaries"]

_FAULTS = ("S03", "N01", "W03", "W11", "I01", "I04", "G02", "W04", "P01", "S07", "S08", "P02",
           "W05", "G14", "S01", "H13", "G06")  # fmt: skip
"""Faults of every group, the plainest first; the first eight that fit the task are planted."""
_MOST = 8
_ITEMS, _LEAST = 32, 24  # of the items with truth; neighbours need more than twenty vectors
_LARGE, _FEW = 200_000_000, 24  # a model of so many parameters has fewer


@dataclass(frozen=True, eq=False)
class _Bench:
    """What every canary is judged with."""

    subject: Subject
    made: References
    limits: Limits
    emulated: tuple[Run, ...]
    places: list[int]  # of the items with truth
    compared: bool  # the references are runs of something else than torch


def canaries(
    subject: Subject,
    made: References,
    limits: Limits,
    emulated: tuple[Run, ...],
    *,
    plan: Plan | None = None,
) -> Canaries | None:
    """Plant faults and run honest variants, all in one fresh process, once per class and budget.

    Args:
        subject: whose references they are.
        made: the references.
        limits: of the class that is judged.
        emulated: of a lossy class, its rounding on a CPU; () for float32.
        plan: what faults are planted in; None takes torch. In another engine those of a module
            have no place.

    Returns:
        What became of each; None where fewer than 24 items have a reference.

    Raises:
        RefusedError: the process could not run.
    """
    places = _places(subject, made)
    if len(places) < _LEAST:
        return None
    bench = _Bench(subject, made, limits, emulated, places, plan is not None)
    items = [subject.items[made.truth_items[place]] for place in places]
    wrong, honest = _plans(subject, limits.precision, plan)

    def make(folder: Path) -> None:
        seen = {}
        for tried, run in run_all(subject, (*honest, *wrong), items):
            seen[str(tried)] = outcome_of(_evidence(bench, run))
        if made.truth is not None:
            exact = _evidence(bench, _part(made.truth, places))
            seen[str(made.truth.plan)] = outcome_of(exact)
        (folder / "seen.json").write_text(json.dumps(seen))

    asked = {"canaries": [str(p) for p in (*wrong, *honest)], "budget": limits.budget}
    spelt = key(subject, honest[0], items, {**asked, "code": cache.code("prove", "metrics")})
    seen = json.loads((cache.build("canaries", spelt, make) / "seen.json").read_text())
    caught = {p.extra("fault") or "": seen[str(p)] for p in wrong if str(p) in seen}
    passed = {plan: outcome for plan, outcome in seen.items() if "fault=" not in plan}
    return Canaries(caught, passed)


def _places(subject: Subject, made: References) -> list[int]:
    """Return which of the items with truth are used: evenly spaced among them."""
    large = (subject.model.parameters or 0) >= _LARGE
    count = min(_FEW if large else _ITEMS, len(made.truth_items))
    places = np.unique(np.linspace(0, len(made.truth_items) - 1, count).astype(np.int64))
    return [int(place) for place in places]


def _plans(subject: Subject, precision: str, given: Plan | None) -> tuple[list[Plan], list[Plan]]:
    """Return the plans that must not pass, and those that must."""
    task = subject.task
    plan = Plan("torch", "cpu", "float32", 16, threads())
    fitting = [
        name
        for name in _FAULTS
        if task.name in faults()[name].tasks and faults()[name].visible(precision)
    ]
    if given is not None:
        plan = replace(given, batch=16)
        wrong = [replace(plan, extras=(*plan.extras, f"fault={name}")) for name in fitting]
        return wrong, [plan, replace(plan, batch=5, threads=1)]
    wrong = [replace(plan, extras=(f"fault={name}",)) for name in fitting[:_MOST]]
    honest = [plan, replace(plan, batch=3, threads=1)]
    if precision != "float32":
        honest.append(replace(plan, extras=(f"emulate={precision}",)))
    elif task.takes != "picture":  # timm chooses its attention by itself
        honest.append(replace(plan, batch=8, extras=("sdpa",)))
    else:
        honest.append(replace(plan, batch=2))
    return wrong, honest


def _evidence(bench: _Bench, candidate: Run) -> Evidence:
    """Return what is known of a few items, as if they were all."""
    subject, made, places = bench.subject, bench.made, bench.places
    chosen = [made.truth_items[place] for place in places]
    items = tuple(subject.probes[item] for item in chosen)
    seen = fingerprint([probe.item for probe in items])
    yardstick = replace(_part(made.yardstick, chosen), items_fingerprint=seen)
    same = {"fingerprint": subject.model.fingerprint, "named": str(candidate.plan)}
    return Evidence(
        model=subject.model,
        kinds=subject.task.kinds,
        probes=items,
        limits=_for_few(bench.limits, len(items)),
        least_items=1,
        truth=made.truth and _part(made.truth, places),
        truth_items=tuple(range(len(items))),
        truth_missing=made.truth_missing,
        yardstick=yardstick,
        emulated=tuple(_part(run, chosen) for run in bench.emulated),
        variants=tuple(_part(run, chosen) for run in made.variants),
        candidate=replace(candidate, items_fingerprint=seen),
        other=Other(yardstick, str(yardstick.plan), {**same, "candidate": same})
        if bench.compared
        else None,
    )


def _for_few(limits: Limits, count: int) -> Limits:
    """Return the limits, with the bound on flips that a plan which keeps its rate may reach.

    Of so few items chance often shows a larger share.
    """
    flips = limits["flips"]
    if flips.value == 0:
        return limits
    least = Limit(
        upper_rate(most_likely(flips.value, count), count), f"{flips.source}; of {count} items"
    )
    return replace(limits, table={**limits.table, "flips": least})


def _part(run: Run, places: list[int]) -> Run:
    """Return a run as if it had been over some of its items, in rising order."""
    number = {place: index for index, place in enumerate(places)}
    rows: Ints = np.flatnonzero(np.isin(run.owners, places))
    owners = np.array([number[int(place)] for place in run.owners[rows]], np.int64)
    return replace(
        run,
        count=len(places),
        arrays={name: array[rows] for name, array in run.arrays.items()},
        owners=owners,
        tokens=run.tokens[places],
        answers=[run.answers[place] for place in places],
    )
