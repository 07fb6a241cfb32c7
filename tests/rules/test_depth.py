"""From a verb to the runtime is a short walk in one direction, and there is one path."""

from __future__ import annotations

import ast
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from own_source import ROOT, none, sources
from test_layers import ORDER

import likewise
from likewise.errors import RefusedError
from likewise.model.read import read
from likewise.run.runner import Runner
from likewise.settings import Plans, Proof, Settings
from likewise.tasks._pick import pick
from likewise.types import Plan

if TYPE_CHECKING:
    from likewise.types import Arrays, Json

FRAMES = 5  # of likewise's own, from the Runner to Session.run
ROOMS = 5  # from a verb to the process that computes
GROUND = {
    "find",
    "cache",
    "rooms",
    "errors",
    "types",
    "settings",
}  # carried by all, decides nothing

PLAN = "onnx/cpu/float32/b8/t1"
Tiny = Callable[[str], Path]


def own_frames() -> list[str]:
    """Return the files of likewise on the stack, the outermost first."""
    return [
        Path(frame.filename).relative_to(ROOT).as_posix()
        for frame in traceback.extract_stack()
        if Path(frame.filename).is_relative_to(ROOT)
    ]


def rooms_of(files: list[str]) -> list[str]:
    """Return the rooms that the frames pass through, one for each stretch of frames."""
    found: list[str] = []
    for file in files:
        room = file.partition("/")[0].removesuffix(".py")
        if room not in GROUND and found[-1:] != [room]:
            found.append(room)
    return found


class Witness:
    """A session that computes nothing and remembers who called it."""

    def __init__(self) -> None:
        self.stacks: list[list[str]] = []

    def run(self, inputs: Arrays) -> Arrays:
        self.stacks.append(own_frames())
        return {"logits": np.zeros((len(inputs["input_ids"]), 3), np.float32)}

    def facts(self) -> Mapping[str, Json]:
        return {}

    def close(self) -> None:
        """Nothing is held."""


def test_the_runner_is_at_most_five_frames_deep(tiny: Tiny) -> None:
    task, witness, plan = pick(read(tiny("bert_classifier"))), Witness(), Plan.parse(PLAN)
    Runner(task, witness, plan).run(["one", "two two", "three"])
    list(Runner(task, witness, plan).stream(["one", "two two", "three"]))
    assert len(witness.stacks) == 2
    for stack in witness.stacks:
        assert set(stack) == {"run/runner.py"}
        assert len(stack) <= FRAMES


@pytest.mark.parametrize("verb", ["port", "prove"])
def test_a_verb_reaches_its_process_in_one_direction(
    verb: str, tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stacks: list[list[str]] = []

    def refuse(*_: object, **__: object) -> None:
        stacks.append(own_frames())
        raise RefusedError("This process stays unborn.")

    monkeypatch.setattr("likewise.run.process.run_child", refuse)
    settings = Settings(plans=Plans(only=(PLAN,)), proof=Proof(items=8))
    acts = {
        "port": lambda f: likewise.port(f, out=tmp_path / "out", settings=settings),
        "prove": lambda f: likewise.prove(f, PLAN, settings=settings),
    }
    with pytest.raises(RefusedError, match="unborn"):
        acts[verb](tiny("bert_classifier"))
    (stack, *_) = stacks
    passed = rooms_of(stack)
    assert passed[0] == verb
    assert len(passed) <= ROOMS
    assert sorted(passed, key=ORDER.__getitem__, reverse=True) == passed, "it turns back"


def test_sessions_are_run_by_the_runner_alone() -> None:
    """What was proven is what is timed and what answers: no other file computes a batch.

    A planted fault wraps a session, so it passes the call on.
    """
    wrong = [
        f"{source.at(node.lineno)} {ast.unparse(node.func)}(…)"
        for source in sources()
        if source.room != "engines" and "planted" not in source.module
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("session.run")
    ]
    assert len(wrong) == 1, wrong
    none([line for line in wrong if "run/runner.py" not in line])
