"""An engine from outside, in; its answers, or whatever its plan's ``act`` says goes wrong, out.

``act=hang/after=3`` hangs at the third batch. Each batch is noted in ``turns.txt`` of the folder.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import RefusedError
from likewise.types import Json, Model, Network, Offer, Plan

if TYPE_CHECKING:
    from likewise.types import Arrays

name = "lame"
needs = ()


def offers() -> list[Offer]:
    return [Offer("lame", "cpu", ("float32",), None)]


def refuse(model: Model, network: Network, plan: Plan) -> str | None:
    return "it was told to refuse" if plan.extra("act") == "refuse" else None


def open(model: Model, network: Network, plan: Plan) -> Lame:
    artefact = model.folder / "artefact.lame"
    with (model.folder / "opens.txt").open("a") as opens:
        opens.write("found\n" if artefact.exists() else "missing\n")
    if plan.extra("act") == "build" and not artefact.exists():
        artefact.write_bytes(b"built")
    return Lame(model, plan, artefact)


@dataclass
class Lame:
    model: Model
    plan: Plan
    artefact: Path
    batches: int = 0

    def run(self, inputs: Arrays) -> Arrays:
        self.batches += 1
        with (self.model.folder / "turns.txt").open("a") as turns:
            turns.write(f"{self.plan.extra('as')} {len(inputs['input_ids'])}\n")
        if self.batches == int(self.plan.extra("after") or 0):
            _act(self.plan.extra("act") or "")
        sums = inputs["input_ids"].sum(axis=1, keepdims=True) % 7
        logits = (sums * np.arange(1, len(self.model.labels) + 1)).astype(np.float32)
        if self.plan.extra("act") == "nan":
            logits[:] = np.nan
        return {"logits": logits}

    def facts(self) -> Mapping[str, Json]:
        return {
            "engine": "lame",
            "device": "cpu",
            "dtype": "float32",
            "threads": self.plan.threads,
            "versions": {},
            "fallbacks": [],
            "artefact": str(self.artefact) if self.artefact.exists() else "",
        }

    def close(self) -> None:
        if self.plan.extra("act") == "close":
            _act("crash")


def _act(act: str) -> None:
    if act == "hang":
        threading.Event().wait()
    if act == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if act == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if act == "raise":
        raise RefusedError("It changed its mind.", found="a mood", fix="ask again")
    if act == "chatter":
        os.write(1, b'{"seconds": 0.0}\n')
        print("not json", flush=True)  # noqa: T201 - what a library does
