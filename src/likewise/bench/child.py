"""A job file and commands on stdin, in; one JSON line of raw seconds per command on stdout, out.

``python -m likewise.bench.child JOB.json`` opens one plan in this fresh process, says what opening
and the first answer took, then obeys one command a line, each over the first N items:

    look N      one pass, with phases, tokens, facts     offline N   one pass
    single N    N calls of one item each                 end         or the end of stdin

Stdout carries the protocol and nothing else: whatever a library prints there goes to stderr.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import msgspec

from likewise.bench import clock
from likewise.engines._process import answer_for, peak_bytes
from likewise.run.items import load_items
from likewise.run.opening import open_runner
from likewise.settings import Overrides
from likewise.types import Json, Plan

__all__ = ["Job", "main"]

_ACTS = {"look": clock.look, "offline": clock.offline, "single": clock.single}


@dataclass(frozen=True)
class Job:
    """One plan to be timed over saved items."""

    source: str  # a model folder
    plan: str
    items: str  # the folder that ``save_items`` wrote
    out: str  # the folder of the log, and of the reason if this fails
    started_at: float  # when the process was started, on the monotonic clock
    overrides: Overrides = field(default_factory=Overrides)
    task: str | None = None


def main(job_file: str) -> int:
    """Serve the job; return the exit code."""
    protocol = _take_stdout()
    job = msgspec.json.decode(Path(job_file).read_bytes(), type=Job)
    return answer_for(lambda: _serve(job, protocol), Path(job.out))


def _serve(job: Job, protocol: TextIO) -> None:
    for reply in _replies(job):
        line = json.dumps({**reply, "peak_bytes": peak_bytes()}, allow_nan=False)
        protocol.write(line + "\n")
        protocol.flush()


def _replies(job: Job) -> Iterator[dict[str, Json]]:
    with open_runner(
        job.source, overrides=job.overrides, task=job.task, plan=Plan.parse(job.plan)
    ) as runner:
        # the monotonic clock counts from boot: parent and child read the same one
        open_seconds = time.monotonic() - job.started_at
        items = load_items(Path(job.items))  # in nobody's time: a user has the item in hand
        first = clock.offline(runner, items[:1])["seconds"]
        yield {
            "open_seconds": open_seconds,
            "first_result_seconds": open_seconds + first,
            "artefact": runner.session.facts().get("artefact", ""),
        }
        for line in sys.stdin:
            word, _, count = line.strip().partition(" ")
            if word == "end":
                return
            yield _ACTS[word](runner, items[: int(count)])


def _take_stdout() -> TextIO:
    """Keep stdout for the protocol; what anything writes there from now on goes to stderr."""
    protocol = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return protocol


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
