"""Two things that answer the same items, in; the verdict whether their answers agree, out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from likewise import find
from likewise.errors import RefusedError
from likewise.outcomes import Verdict
from likewise.progress import Progress, silent
from likewise.prove.canaries import canaries
from likewise.prove.effort import deepened
from likewise.prove.evidence import LabelledRuns, Other
from likewise.prove.limits import Limits, limits_of, precision_class
from likewise.prove.references import (
    REPEATED,
    References,
    emulated,
    evidence_of,
    references,
)
from likewise.prove.runs import run_once
from likewise.prove.sides import Side, is_plan, open_side, with_weights
from likewise.prove.stratify import stratify
from likewise.prove.subject import Subject, contents, probed
from likewise.prove.verdict import judge
from likewise.settings import Settings
from likewise.types import Item, Json, Plan, Run

__all__ = ["compare"]

_SEED = 5  # of the other side: were one thing compared with itself, it still runs twice
_VARIANTS = 2  # proven plans of other engines that stand for honest noise, at most


@dataclass(frozen=True, eq=False)
class _Bench:
    """The other side, run once, and what gives the noise."""

    theirs: Side
    run: Run
    subject: Subject  # whose references they are: the other side's checkpoint
    made: References
    weights: bool  # whether that has weights, so that faults can be planted in modules


def compare(
    source: str | Path,
    plans: Sequence[Plan],
    against: str | Path,
    *,
    items: Sequence[Item] | None = None,
    settings: Settings | None = None,
    progress: Progress = silent,
) -> list[Verdict]:
    """Judge plans by the answers of something else than the CPU reference.

    The error of an item is its distance from the other side's answer. What is allowed stays what
    CPU float32 is off from float64, on the other side's checkpoint; where its weights are not
    here, how far other runs of it are apart, and then no small difference is called wrong.

    Args:
        source: a model folder, or one that ``likewise port`` wrote.
        plans: how it runs; none takes the one it runs by anyway.
        against: the same of another folder, or a plan of the same model.
        items: the user's own; None takes the built-in probes of the other side.
        settings: the budget, the effort, what is stated about both models.
        progress: told the phase and what is being done.

    Returns:
        One verdict for each plan, in order; ``against`` says what it was compared with.

    Raises:
        RefusedError: a plan cannot run as asked, or the two do not have the same task.
        LikewiseError: a folder or the items cannot be used at all.
    """
    chosen = settings or Settings()
    ours = [open_side(source, plan, chosen) for plan in plans or (None,)]
    same = isinstance(against, str) and is_plan(against)
    other = Plan.parse(str(against)) if same else None
    theirs = open_side(source if same else against, other, chosen)
    _refuse_other_task(ours[0], theirs)
    subject = deepened(
        probed(theirs.subject, items),
        progress,
        lambda subject, more: run_once(subject, theirs.plan, more)[0],
    )
    bench = _bench(replace(theirs, subject=subject), ours, progress)
    verdicts = []
    for side in ours:
        progress("prove", f"{side.named} against {theirs.named}")
        verdicts.append(_judged(bench, _on_the_same(side, subject)))
    return verdicts


def _refuse_other_task(ours: Side, theirs: Side) -> None:
    """Answers to two questions cannot be compared."""
    names = [side.subject.task.name for side in (ours, theirs)]
    if names[0] != names[1]:
        raise RefusedError(
            "The two do not have the same task, so their answers cannot be compared.",
            found=f"{ours.folder} is {names[0]}, {theirs.folder} is {names[1]}",
            fix="--task, where a folder can do both, or name another folder",
        )


def _on_the_same(side: Side, subject: Subject) -> Side:
    """Return a side that is tried on the other side's items."""
    given = replace(
        side.subject,
        probes=subject.probes, said=subject.said, labelled=subject.labelled,
        own=subject.own, added=subject.added,
    )  # fmt: skip
    return replace(side, subject=given)


def _bench(theirs: Side, ours: Sequence[Side], progress: Progress) -> _Bench:
    progress("reference", f"{theirs.named}, over {len(theirs.subject.probes)} items")
    items = theirs.subject.items
    run, _ = run_once(theirs.subject, theirs.plan, items, seed=_SEED, repeat=REPEATED)
    whole = with_weights(theirs, ours)
    if whole is None:
        plans = _variants(theirs, {side.plan.engine for side in ours})
        made = _apart(theirs, run, plans, progress)
        return _Bench(theirs, run, theirs.subject, made, weights=False)
    whole = replace(whole, probes=theirs.subject.probes, settings=theirs.subject.settings)
    return _Bench(theirs, run, whole, references(whole, progress), weights=True)


def _apart(theirs: Side, run: Run, plans: Sequence[Plan], progress: Progress) -> References:
    """Return the other side's run with honest variants of it: no weights, so no float64."""
    subject = theirs.subject
    variants = []
    for seed, plan in enumerate(plans, _SEED + 1):
        progress("reference", f"no float64, so an honest variant: {plan}")
        variants.append(run_once(subject, plan, subject.items, seed=seed)[0])
    groups = [probe.group for probe in subject.probes]
    wanted = subject.settings.proof.sized().truth_items
    return References(
        truth=None,
        truth_items=stratify(groups, run.tokens.tolist(), wanted),
        truth_missing=f"the weights behind {theirs.folder} are not here, or torch is not",
        yardstick=run,
        variants=tuple(variants),
        reused=False,
    )


def _variants(theirs: Side, judged: Collection[str]) -> list[Plan]:
    """Return other honest ways to run it: other batches, one thread, other engines it has proof of.

    A plan that was proven ``equal`` when the folder was made is honest by float64, and another
    engine sums in another order. Never an engine that is judged: it would excuse itself.
    """
    plan, subject = theirs.plan, theirs.subject
    plans = [replace(plan, batch=batch) for batch in (1, 3, 8) if batch != plan.batch]
    plans += [replace(plan, threads=1)] if plan.threads > 1 else []
    proven = theirs.ported.proven if theirs.ported else ()
    others = [
        other
        for other in (Plan.parse(p.plan) for p in proven if p.outcome == "equal")
        if other.engine not in (plan.engine, *judged)
        and find.load("engines", other.engine).refuse(subject.model, subject.task.network, other)
        is None
    ]
    return [*plans, *others[:_VARIANTS]]


def _judged(bench: _Bench, ours: Side) -> Verdict:
    subject, made = bench.subject, bench.made
    candidate, _ = run_once(ours.subject, ours.plan, ours.subject.items, company=True)
    limits = _coarser(ours.plan, bench.theirs.plan, subject.settings.proof.budget)
    rounded: tuple[Run, ...] = ()
    if bench.weights and not limits.exact:
        rounded = emulated(subject, limits.precision)
    planted = None if bench.weights else bench.theirs.plan
    evidence = replace(
        evidence_of(subject, made, limits, rounded, candidate),
        model=bench.theirs.subject.model,
        kinds=bench.theirs.subject.task.kinds,
        labelled=_labelled(bench.theirs, ours),
        canaries=canaries(subject, made, limits, rounded, plan=planted),
        canaries_asked=True,
        effort=subject.settings.proof.effort,
        added=bench.theirs.subject.added,
        other=_other(bench, ours),
    )
    return judge(evidence)


def _coarser(one: Plan, other: Plan, budget: str) -> Limits:
    """Return the limits of the class that rounds more: a comparison is no finer than that."""
    both = [limits_of(precision_class(plan), budget) for plan in (one, other)]
    return max(both, key=lambda limits: limits["spread_error"].value)


def _other(bench: _Bench, ours: Side) -> Other:
    sides = (ours.subject, bench.theirs.subject)
    read = [contents(side.task, bench.theirs.subject.items) for side in sides]
    unlike = np.flatnonzero(np.array(read[0]) != np.array(read[1]))
    whole = bench.made.truth is not None
    facts: dict[str, Json] = {
        **bench.theirs.facts(beside=ours),
        "candidate": ours.facts(beside=bench.theirs),
        "noise": "CPU float32 against CPU float64" if whole else "other runs of the same",
        "noise_from": str(bench.subject.model.folder),
        "float64_missing": bench.made.truth_missing,
    }
    return Other(bench.run, facts["named"], facts, tuple(unlike.tolist()))


def _labelled(theirs: Side, ours: Side) -> LabelledRuns | None:
    known = theirs.subject.labelled
    if known is None:
        return None
    runs = [run_once(side.subject, side.plan, known.items)[0] for side in (theirs, ours)]
    return LabelledRuns(known.gold, *runs)
