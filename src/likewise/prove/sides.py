"""What a person names for one side of a comparison, in; its folder, opened, and its plan, out."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from likewise import find
from likewise.errors import LikewiseError
from likewise.model.read import read
from likewise.prove.subject import Subject
from likewise.run.opening import check_plan
from likewise.run.ported import Ported, is_ported, read_ported
from likewise.run.source import resolve
from likewise.settings import Settings
from likewise.tasks._pick import pick
from likewise.types import Json, Plan

__all__ = ["Side", "is_plan", "open_side", "with_weights"]


@dataclass(frozen=True, eq=False)
class Side:
    """One of two things that are compared."""

    subject: Subject  # without probes until it is given some
    plan: Plan
    folder: Path  # of a ported one the folder above its model
    ported: Ported | None = None  # None for a model folder

    @property
    def named(self) -> str:
        """Its folder and plan, for a person."""
        return f"{self.folder} by {self.plan}"

    def facts(self, *, beside: Side) -> dict[str, Json]:
        """Return what it is, JSON-ready; two plans of one folder are named by the plan alone."""
        return {
            "named": str(self.plan) if beside.folder == self.folder else self.named,
            "folder": str(self.folder),
            "kind": "model folder" if self.ported is None else "ported folder",
            "fingerprint": self.subject.model.fingerprint,
            "task": self.subject.task.name,
            "plan": str(self.plan),
        }


def is_plan(text: str) -> bool:
    """Tell whether a word is meant as a plan: its first part is an engine, and no folder has it.

    >>> is_plan("onnx/cpu/float32/b16/t1"), is_plan("org/name")
    (True, False)
    """
    return text.partition("/")[0] in find.names("engines") and not Path(text).exists()


def open_side(source: str | Path, plan: Plan | None, settings: Settings) -> Side:
    """Open a model folder or a ported one, without its probes.

    Args:
        source: either; a ported one runs with what was stated when it was proven.
        plan: how it runs; None takes torch for a model folder, for a ported one the chosen plan.
        settings: the proof's, and what the user states about the model.

    Raises:
        LikewiseError: the folder cannot be read, or no task fits.
        RefusedError: the plan is not proven to run from a ported folder, or cannot run here.
    """
    found = resolve(source, plan=plan, overrides=settings.model)
    model = read(found.folder, found.overrides)
    task = pick(model, found.overrides.task)
    stated = replace(settings, model=found.overrides, proof=settings.proof.settled())
    check_plan(model, task, found.plan)
    above = found.folder.parent
    ported = read_ported(above) if is_ported(above) and found.folder.name == "model" else None
    folder = found.folder if ported is None else above
    return Side(Subject(model, task, (), "", stated), found.plan, folder, ported)


def with_weights(theirs: Side, ours: Sequence[Side]) -> Subject | None:
    """Return the same checkpoint with its weights, for float64, or None where it is not here.

    That is the other side itself; or the folder that it was ported from, if one of ours is that,
    or if it still lies where the record of the port says.
    """
    overrides = theirs.subject.settings.model
    fingerprint = theirs.subject.model.fingerprint
    if _can_float64(theirs.subject):
        return theirs.subject
    for folder in (*(side.subject.model.folder for side in ours), *_recorded(theirs.folder)):
        with contextlib.suppress(LikewiseError):
            model = read(folder, overrides)
            found = Subject(model, pick(model, overrides.task), (), "", theirs.subject.settings)
            if model.fingerprint == fingerprint and _can_float64(found):
                return found
    return None


def _can_float64(subject: Subject) -> bool:
    plan = Plan("torch", "cpu", "float64", 1, 1)
    reason = find.load("engines", "torch").refuse(subject.model, subject.task.network, plan)
    return reason is None


def _recorded(folder: Path) -> list[Path]:
    """Return the folder that a port was made from, as its record says; [] where none is there."""
    try:
        record = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        source = Path(record["model"]["folder"])
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [source] if source.is_dir() else []
