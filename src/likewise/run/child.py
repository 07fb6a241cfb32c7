"""A job file in; the run, or the reason why there is none, in the job's folder, out.

``python -m likewise.run.child JOB.json``: always a process of its own, so that a crash, a lack of
memory or a setting of one plan cannot touch another.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from likewise.engines._process import answer_for, peak_bytes
from likewise.model.ids import against_transformers
from likewise.run.company import in_company
from likewise.run.items import load_items
from likewise.run.opening import open_runner
from likewise.run.process import Job
from likewise.run.runner import Runner
from likewise.run.store import save_run
from likewise.tasks._text import text_problem
from likewise.types import Item, Json, Plan

__all__ = ["main", "run_here"]

_IMPORTED_AT = time.time()


def main() -> int:
    """Do the job that the command line names."""
    job = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=Job)
    return answer_for(lambda: run_here(job), Path(job.out))


def run_here(job: Job) -> None:
    """Do a job in this process and save its run."""
    started_at = job.started_at or _IMPORTED_AT
    items = load_items(Path(job.items))
    with open_runner(
        job.source,
        overrides=job.overrides,
        task=job.task,
        plan=Plan.parse(job.plan),
        seed=job.seed,
    ) as runner:
        opened_at = time.time()
        run = runner.run(items, keep=job.keep, top=job.top)
        facts: dict[str, Json] = {**run.facts}
        if job.repeat:
            facts["repeat_equal"] = _repeats(runner, items[: job.repeat])
            facts |= _token_ids(runner, items)
        if job.company:
            facts["company"] = in_company(runner, run, items)
        facts["process"] = {
            "peak_bytes": peak_bytes(),
            "open_seconds": opened_at - started_at,
            "first_result_seconds": runner.first_at and runner.first_at - started_at,
        }
    save_run(replace(run, facts=facts), Path(job.out))
    for text in job.others:
        other = Plan.parse(text)
        _run_other(replace(job, plan=text, out=str(Path(job.out) / other.slug), others=()))


def _run_other(job: Job) -> None:
    """Do one more job; one that fails, such as a fault without a place here, leaves no run."""
    try:
        run_here(job)
    except Exception:  # noqa: BLE001 - a fault may break a module in any way; the log has it
        traceback.print_exc()


def _repeats(runner: Runner, items: Sequence[Item]) -> bool:
    """Tell whether the same items, in the same batches, give the same bits twice."""
    first, second = runner.run(items), runner.run(items)
    return first.arrays.keys() == second.arrays.keys() and all(
        np.array_equal(first.arrays[name], second.arrays[name], equal_nan=True)
        for name in first.arrays
    )


def _token_ids(runner: Runner, items: Sequence[Item]) -> dict[str, Json]:
    """Return how a text task's token ids compare with those of transformers."""
    texts = getattr(runner.task, "texts", None)
    if texts is None:
        return {}
    parts = [part for item in items for part in (item if isinstance(item, tuple) else (item,))]
    whole = [part for part in parts if text_problem(part) is None]
    return {"token_ids": against_transformers(texts.model, texts.vocabulary, whole)}


if __name__ == "__main__":
    sys.exit(main())
