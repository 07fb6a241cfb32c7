"""A model folder and a plan, in; a Runner, open and ready, out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from likewise import find
from likewise.errors import RefusedError
from likewise.model.read import read
from likewise.run.runner import Runner
from likewise.settings import Overrides
from likewise.tasks._pick import pick
from likewise.types import Engine, Plan

__all__ = ["cannot_run", "open_runner"]


def cannot_run(plan: Plan, reason: str) -> RefusedError:
    """Return the refusal of a plan; a reason that is in its ONNX file says itself what to do."""
    fix = "" if plan.extra("graph") else "likewise doctor"
    return RefusedError(f"{plan} cannot run here.", found=reason, fix=fix)


def open_runner(
    source: str | Path,
    *,
    overrides: Overrides | None = None,
    task: str | None = None,
    plan: Plan,
    seed: int = 0,
    fault: str | None = None,
) -> Runner:
    """Open a plan over a model.

    Args:
        source: a model folder, or the ``model`` part of a ported one.
        overrides: what the user states about the model.
        task: its name; None takes the overrides', or the one that claims the model.
        plan: how to run it. The extra ``fault=ID`` plants a fault of ``prove/faults.py``, to see a
            verdict fail; ``seed=N`` goes before the argument.
        seed: of whatever is drawn at random while loading: nothing should be.
        fault: the same as the extra.

    Raises:
        FolderError, WeightsError, TaskError: the folder cannot be read, or no task fits.
        RefusedError: the plan cannot run as asked.
    """
    stated = overrides or Overrides()
    model = read(source, stated)
    chosen = pick(model, task or stated.task)
    engine: Engine = find.load("engines", plan.engine)
    reason = engine.refuse(model, chosen.network, plan)
    if reason is not None:
        raise cannot_run(plan, reason)
    seeded = plan
    if plan.extra("seed") is None:
        seeded = replace(plan, extras=tuple(sorted((*plan.extras, f"seed={seed}"))))
    runner = Runner(chosen, engine.open(model, chosen.network, seeded), plan)
    runner.notes = model.warnings
    planted = fault or plan.extra("fault")
    if planted is None:
        return runner
    faults = find.load("prove", "faults")
    spoilt: Runner = faults.plant(planted, runner, model)
    return spoilt
