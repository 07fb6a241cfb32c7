"""A job in; the Run that a fresh process made of it, or the reason why there is none, out."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import msgspec

from likewise.engines._process import run_child
from likewise.run.store import load_run
from likewise.settings import Overrides
from likewise.types import Plan, Run

__all__ = ["JOB", "Job", "run_job"]

JOB = "job.json"


@dataclass(frozen=True)
class Job:
    """One plan over saved items."""

    source: str  # a model folder
    plan: str
    items: str  # the folder that ``save_items`` wrote
    out: str  # the folder that the run, its log and its errors go to; made if it is not there
    action: Literal["run"] = "run"
    overrides: Overrides = field(default_factory=Overrides)
    task: str | None = None
    seed: int = 0  # of whatever is drawn at random while loading: nothing should be
    keep: bool = True  # the arrays
    top: int | None = None
    repeat: int = 0  # a reference: so many items run twice more, bit by bit; ids are compared
    others: tuple[str, ...] = ()  # plans to run after it, each into the folder of its slug
    company: bool = False  # some of the items run again, in other company
    started_at: float = 0.0  # seconds since the epoch; set by run_job


def run_job(job: Job, *, timeout: float | None = None) -> Run:
    """Run a job in a fresh process and return its Run.

    ``facts`` holds besides what ran: ``process`` with peak_bytes, open_seconds and
    first_result_seconds (both from the start of the process); and where ``job.repeat`` asks for
    them, ``repeat_equal`` and, of a text task, ``token_ids`` against transformers, or ``company``
    (see ``likewise.run.company``).

    Args:
        job: what to run.
        timeout: seconds, for the whole process.

    Raises:
        RefusedError: the plan (not one of ``job.others``) cannot run as asked, or its process
            crashed, ran out of memory or time; says which.
    """
    out = Path(job.out)
    out.mkdir(parents=True, exist_ok=True)
    plan = Plan.parse(job.plan)
    file = out / JOB
    file.write_bytes(msgspec.json.encode(replace(job, started_at=time.time())))
    run_child(
        "likewise.run.child",
        [str(file)],
        folder=out,
        doing=f"Running {job.plan}",
        threads=plan.threads,
        device=plan.device,
        timeout=timeout,
    )
    return load_run(out)
