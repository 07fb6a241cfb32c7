"""A subject in; truth and yardstick, each from a clean process, out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from likewise.engines._devices import threads
from likewise.errors import RefusedError
from likewise.progress import Progress
from likewise.prove.evidence import Evidence
from likewise.prove.limits import Limits
from likewise.prove.runs import run_once
from likewise.prove.stratify import stratify
from likewise.prove.subject import Subject
from likewise.types import Json, Plan, Run

__all__ = ["REPEATED", "References", "emulated", "evidence_of", "references"]

REPEATED = 4  # items that a reference runs twice
_BATCHES = {"int8": (1, 16)}
_TOLD = (
    "engine", "device", "dtype", "threads", "versions", "loading", "repeat_equal", "token_ids",
    "process",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class References:
    """What a plan is compared with."""

    truth: Run | None  # CPU float64, over some items
    truth_items: tuple[int, ...]  # chosen from every group of probes, whether truth ran or not
    truth_missing: str  # why there is none
    yardstick: Run  # CPU float32, over all
    variants: tuple[Run, ...]  # where there is no truth: other honest float32 runs, over all
    reused: bool  # all of them were made earlier

    def facts(self) -> Mapping[str, Json]:
        """Return what ran as reference, JSON-ready."""
        truth = _facts(self.truth) if self.truth else {"missing": self.truth_missing}
        variants = [_facts(run) for run in self.variants]
        told = {"truth": truth, "yardstick": _facts(self.yardstick), "reused": self.reused}
        return {**told, "variants": variants} if variants else told


def evidence_of(
    subject: Subject, made: References, limits: Limits, rounded: tuple[Run, ...], candidate: Run
) -> Evidence:
    """Return what is known of a candidate from its references alone.

    Args:
        subject: whose references they are; its items are the candidate's.
        made: the references.
        limits: of the class that is judged.
        rounded: of a lossy class, its rounding on a CPU; see ``emulated``.
        candidate: the run that is judged.
    """
    return Evidence(
        model=subject.model,
        kinds=subject.task.kinds,
        probes=subject.probes,
        limits=limits,
        least_items=subject.settings.proof.least_items,
        truth=made.truth,
        truth_items=made.truth_items,
        truth_missing=made.truth_missing,
        yardstick=made.yardstick,
        emulated=rounded,
        variants=made.variants,
        candidate=candidate,
    )


def references(subject: Subject, progress: Progress) -> References:
    """Compute the references, each in a process of its own, with seeds of its own.

    The truth covers a sample of every group of probes, from the shortest to the longest. Where it
    cannot run, the spread of honest float32 runs stands in for the noise, and the report says so.

    Raises:
        RefusedError: not even the yardstick can run.
    """
    items = subject.items
    count = threads()
    progress("reference", f"CPU float32, one at a time, over {len(items)} items")
    plan = Plan("torch", "cpu", "float32", 1, count)
    yardstick, reused = run_once(subject, plan, items, seed=1, repeat=REPEATED)
    groups = [probe.group for probe in subject.probes]
    wanted = subject.settings.proof.sized().truth_items
    chosen = stratify(groups, yardstick.tokens.tolist(), wanted)
    progress("reference", f"CPU float64, one at a time, over {len(chosen)} of them")
    plan = Plan("torch", "cpu", "float64", 1, count)
    try:
        some = [items[i] for i in chosen]
        truth, again = run_once(subject, plan, some, seed=2, repeat=REPEATED)
    except RefusedError as error:
        missing = f"CPU float64 could not run: {error.what} {error.found}".strip()
        variants, again = _variants(subject, count, progress)
        return References(None, chosen, missing, yardstick, variants, reused and again)
    return References(truth, chosen, "", yardstick, (), reused and again)


def emulated(subject: Subject, precision: str) -> tuple[Run, ...]:
    """Return what honest rounding to a precision gives, emulated on the CPU, over all items.

    Once for each size of batch that matters: the steps of int8 are those of a whole batch.

    Raises:
        RefusedError: it could not run.
    """
    extras = (f"emulate={precision}",)
    plans = [
        Plan("torch", "cpu", "float32", batch, threads(), extras)
        for batch in _BATCHES.get(precision, (1,))
    ]
    return tuple(run_once(subject, plan, subject.items, seed=3)[0] for plan in plans)


def _variants(subject: Subject, count: int, progress: Progress) -> tuple[tuple[Run, ...], bool]:
    """Return other honest float32 runs: in batches, on one thread, with another attention."""
    plans = [Plan("torch", "cpu", "float32", 16, count)]
    plans += [Plan("torch", "cpu", "float32", 1, 1)] if count > 1 else []
    if subject.task.takes != "picture":  # timm chooses its attention by itself
        plans.append(Plan("torch", "cpu", "float32", 1, count, ("sdpa",)))
    made = []
    for seed, plan in enumerate(plans, 2):
        progress("reference", f"no float64, so an honest variant: {plan}")
        made.append(run_once(subject, plan, subject.items, seed=seed))
    return tuple(run for run, _ in made), all(reused for _, reused in made)


def _facts(run: Run) -> dict[str, Json]:
    told = {key: run.facts[key] for key in _TOLD if key in run.facts}
    seconds = {phase: sum(values) for phase, values in run.seconds.items()}
    return {"plan": str(run.plan), "n": run.count, "seconds": seconds, **told}
