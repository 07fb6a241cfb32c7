"""A model folder in; what it is, which tasks and plans it is good for, or its new twins, out."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.cli.screen import print_json, print_pairs, say, stdout

if TYPE_CHECKING:
    from likewise.settings import Overrides
    from likewise.types import Json, Model

__all__ = ["print_converted", "print_model"]


def print_model(
    source: str | Path, overrides: Overrides, *, load: bool = False, as_json: bool = False
) -> None:
    """Print the facts of a folder, the plans that run it here, and its oddities last.

    Raises:
        LikewiseError: the folder cannot be read; with ``load``, its weights do not load.
    """
    from likewise.model.read import read
    from likewise.report.facts import pairs
    from likewise.report.words import words
    from likewise.tasks._pick import claims

    model = read(source, overrides)
    tasks = [overrides.task] if overrides.task else claims(model)
    refusals, assumed = _plans(model, tasks)
    facts = {**asdict(model), "folder": str(model.folder), "tasks": tasks}
    loaded = _load(model, overrides) if load else None
    if as_json:
        print_json({**facts, "assumptions": assumed, "plans": refusals, "loaded": loaded})
        return
    warnings = facts.pop("warnings")
    print_pairs(pairs(_shown(model, facts), words("en")))
    for plan, reason in refusals.items():
        line = f"{plan}  can run here" if reason is None else f"{plan}  refused: {reason}"
        stdout().print(line, markup=False, soft_wrap=True)
    if loaded is None:
        say("The weights were not loaded: with --load, every tensor is accounted for.")
    else:
        print_pairs(pairs(loaded, words("en")))
    for warning in dict.fromkeys((*warnings, *assumed)):
        say(f"note: {warning}")


def _load(model: Model, overrides: Overrides) -> dict[str, Json]:
    """Load the weights as the reference does, and return what became of its tensors."""
    from likewise.run.opening import open_runner
    from likewise.types import Plan

    plan = Plan("torch", "cpu", "float32", 1, 1)
    with open_runner(model.folder, overrides=overrides, plan=plan) as runner:
        return {"plan": str(plan), "loading": runner.session.facts().get("loading")}


def _shown(model: Model, facts: dict[str, Any]) -> dict[str, Json]:
    """Leave out what this kind of model does not have."""
    facts["weight_files"] = [
        f"{f.path} ({f.format}, {f.size:,} bytes{'' if f.used else ', not used'})"
        for f in model.weight_files
    ]
    hidden = set() if model.library == "timm" else {"classes_head"}
    if model.trained_heads and not model.sentence_transformer:
        hidden |= {"pooling", "normalise"}
    kept = {k: v for k, v in facts.items() if k not in hidden}
    return {k: v for k, v in kept.items() if v is False or v not in (None, "", (), {}, [], 0)}


def _plans(model: Model, tasks: list[str]) -> tuple[dict[str, str | None], tuple[str, ...]]:
    """Return why each plan that ``port`` would try is refused, or None; and what is assumed."""
    from likewise.errors import LikewiseError
    from likewise.port.plans import engine, list_plans
    from likewise.settings import Plans
    from likewise.tasks._pick import pick

    if len(tasks) != 1:
        return {}, ()
    try:
        task = pick(model, tasks[0])
    except LikewiseError as error:
        return {}, (f"{tasks[0]} cannot be done: {error.what} {error.found}",)
    plans = list_plans(Plans())
    found = {str(p): engine(p.engine).refuse(model, task.network, p) for p in plans}
    return found, task.assumptions


def print_converted(folder: Path, *, as_json: bool) -> None:
    """Convert the pickles of a folder, and print what was written."""
    from likewise.model.convert import convert

    done = convert(folder)
    if as_json:
        print_json([asdict(one) for one in done])
        return
    console = stdout()
    for one in done:
        what = f"{one.tensors} tensors, {one.size:,} bytes, read back bit by bit"
        console.print(f"{one.source} → {one.target}: {what}", markup=False, soft_wrap=True)
        console.print(f"  sha256 {one.sha256}", markup=False)
        for note in one.notes:
            say(f"note: {note}")
