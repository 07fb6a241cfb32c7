"""A model folder and a plan, in; a Runner, open and ready, out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from likewise import find
from likewise.errors import RefusedError
from likewise.model.read import read
from likewise.run.runner import Runner
from likewise.settings import Overrides
from likewise.tasks._pick import pick
from likewise.types import Engine, Model, Plan, Task

__all__ = ["check_plan", "open_runner"]


def check_plan(model: Model, task: Task, plan: Plan) -> Engine:
    """Return the engine that a plan names, before anything is loaded.

    Raises:
        RefusedError: the engine cannot run it as asked. A reason that lies in an ONNX file says
            itself what to do.
    """
    engine: Engine = find.load("engines", plan.engine)
    reason = engine.refuse(model, task.network, plan)
    if reason is not None:
        fix = "" if plan.extra("graph") else "likewise doctor"
        raise RefusedError(f"{plan} cannot run here.", found=reason, fix=fix)
    return engine


_LEAKY = ("convbert", "fnet", "mobilebert", "nystromformer")
"""Families whose answers padding changes, whatever the mask says: by convolution, by a Fourier
transform over all places, by products without a mask, by means over segments of places."""
_NOTICED = 1e-3  # of an answer: no honest float32 is so far from itself


def _part_by_length(runner: Runner, model: Model) -> None:
    """Keep texts of other lengths apart where padding changes what a short one is answered."""
    if model.family in _LEAKY or (runner.plan.dtype == "float32" and _leaks(runner)):
        runner.alike = True
        runner.notes += ("padding changes its answers: only texts of one length share a batch",)


def _leaks(runner: Runner) -> bool:
    """Tell whether a short text is answered otherwise beside a long one."""
    word = "the" if runner.task.name != "fillmask" else str(runner.task.hints()["mask_token"])
    short, long = runner.task.encode([word, f"{word} a b c d e f g h"])
    if short.problem or long.problem or short.tokens == long.tokens:
        return False
    alone, beside = runner.compute([short])[2], runner.compute([short, long])[2]
    pairs = [(alone[name][0], beside[name][0]) for name in alone]
    return any(
        not np.linalg.norm(a - b) <= _NOTICED * max(float(np.linalg.norm(a)), 1e-30)
        for a, b in pairs
    )


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
    engine = check_plan(model, chosen, plan)
    seeded = plan
    if plan.extra("seed") is None:
        seeded = replace(plan, extras=tuple(sorted((*plan.extras, f"seed={seed}"))))
    runner = Runner(chosen, engine.open(model, chosen.network, seeded), plan)
    runner.notes = model.warnings
    if plan.batch > 1 and chosen.takes == "text":
        _part_by_length(runner, model)
    planted = fault or plan.extra("fault")
    if planted is None:
        return runner
    faults = find.load("prove", "faults")
    spoilt: Runner = faults.plant(planted, runner, model)
    return spoilt
