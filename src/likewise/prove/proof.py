"""A model folder and a plan in; the verdict whether the plan gives the model's answers, out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from likewise.engines._devices import threads
from likewise.errors import PlanError, RefusedError
from likewise.outcomes import Verdict
from likewise.progress import Progress, silent
from likewise.prove.canaries import canaries
from likewise.prove.compare import compare
from likewise.prove.effort import deepened
from likewise.prove.evidence import LabelledRuns
from likewise.prove.limits import limits_of, precision_class
from likewise.prove.localise import localise
from likewise.prove.references import References, emulated, evidence_of, references
from likewise.prove.runs import run_once
from likewise.prove.subject import Subject, open_subject
from likewise.prove.verdict import judge
from likewise.run.opening import check_plan
from likewise.settings import Settings
from likewise.types import Item, Json, Model, Plan, Task

__all__ = ["Context", "Proven", "prepare", "prove", "prove_plan"]


@dataclass(frozen=True, eq=False)
class Context:
    """A subject with its references: any number of plans can be proven against them."""

    subject: Subject
    references: References

    @property
    def model(self) -> Model:
        """The facts of the folder."""
        return self.subject.model

    @property
    def task(self) -> Task:
        """What its numbers mean."""
        return self.subject.task

    def probes_facts(self) -> Mapping[str, Json]:
        """Return what plans are tried on, JSON-ready."""
        yardstick = self.references.yardstick
        lengths = yardstick.tokens[yardstick.tokens > 0]
        span = [int(f(lengths)) for f in (np.min, np.median, np.max)] if len(lengths) else []
        return {
            "source": self.subject.said,
            "n": len(self.subject.probes),
            "fingerprint": yardstick.items_fingerprint,
            "classes": dict(sorted(Counter(p.group for p in self.subject.probes).items())),
            "tokens": dict(zip(("least", "median", "most"), span, strict=False)),
            "without_answer": int((yardstick.tokens == 0).sum()),
            **({"added": dict(self.subject.added)} if self.subject.added else {}),
        }

    def references_facts(self) -> Mapping[str, Json]:
        """Return what plans are compared with, JSON-ready."""
        return self.references.facts()


@dataclass(frozen=True)
class Proven:
    """A verdict, and whether the plan's run was made earlier."""

    verdict: Verdict
    reused: bool


def prove(
    source: str | Path,
    plan: Plan | str | None = None,
    *,
    against: str | Path | None = None,
    items: Sequence[Item] | None = None,
    settings: Settings | None = None,
    progress: Progress = silent,
) -> Verdict:
    """Judge one plan against the CPU reference, or against something else that answers.

    Args:
        source: a model folder; compared with something else, also one that ``port`` wrote.
        plan: how to run it; only a comparison knows one without.
        against: a folder of either kind, or a plan of the same model; see ``compare``.
        items: the user's own texts or pictures; None takes the built-in probes.
        settings: the budget, the effort, what is stated about the model.
        progress: told the phase and what is being done.

    Raises:
        PlanError: there is no plan to judge.
        RefusedError: the plan cannot run as asked, or it is the reference itself.
        LikewiseError: the folder, task or items cannot be used at all.
    """
    chosen = Plan.parse(plan) if isinstance(plan, str) else plan
    if against is not None:
        plans = () if chosen is None else (chosen,)
        return compare(source, plans, against, items=items, settings=settings, progress=progress)[0]
    if chosen is None:
        raise PlanError("There is no plan to prove.", fix="--on PLAN, or --against OTHER")
    _refuse_reference(chosen)
    subject = open_subject(source, items=items, settings=settings or Settings())
    _refuse_early(subject, chosen)
    context = prepare(subject, progress)
    progress("prove", str(chosen))
    return prove_plan(context, chosen).verdict


def prepare(subject: Subject, progress: Progress = silent) -> Context:
    """Compute the references that plans are judged against, or take those of an earlier time."""
    deep = deepened(subject, progress)
    return Context(deep, references(deep, progress))


def prove_plan(context: Context, plan: Plan) -> Proven:
    """Judge one plan against references that are there.

    Raises:
        RefusedError: the plan cannot run as asked, crashed, or is the reference itself.
    """
    _refuse_reference(plan)
    subject, made = context.subject, context.references
    candidate, reused = run_once(subject, plan, subject.items, company=True)
    proof = subject.settings.proof
    limits = limits_of(precision_class(plan), proof.budget)
    rounded = () if limits.exact else emulated(subject, limits.precision)
    evidence = replace(
        evidence_of(subject, made, limits, rounded, candidate),
        labelled=_labelled(subject, plan),
        canaries=canaries(subject, made, limits, rounded),
        canaries_asked=True,
        effort=proof.effort,
        added=subject.added,
    )
    return Proven(localise(subject, plan, judge(evidence)), reused)


def _labelled(subject: Subject, plan: Plan) -> LabelledRuns | None:
    """Run both sides over the labelled items, each in a fresh process."""
    known = subject.labelled
    if known is None:
        return None
    reference = Plan("torch", "cpu", "float32", 16, threads())
    ours, theirs = (run_once(subject, p, known.items)[0] for p in (reference, plan))
    return LabelledRuns(known.gold, ours, theirs)


def _refuse_reference(plan: Plan) -> None:
    """A thing compared with itself passes whatever is wrong with it."""
    place = (plan.engine, plan.device, plan.batch) == ("torch", "cpu", 1)
    words = {extra.partition("=")[0] for extra in plan.extras}
    if place and plan.dtype in ("float32", "float64") and words <= {"seed", "emulate"}:
        raise RefusedError(
            f"{plan} is the reference itself, and cannot be compared with itself.",
            found="torch, on the CPU, one item at a time, in full precision",
            fix="another engine, device or batch: torch/cpu/float32/b16/t2",
        )


def _refuse_early(subject: Subject, plan: Plan) -> None:
    """A plan that cannot run is refused before minutes are spent on its references."""
    check_plan(subject.model, subject.task, plan)
