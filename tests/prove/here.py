"""A job in; its run, made in this process, out: no child starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from likewise.errors import RefusedError
from likewise.run.process import Job
from likewise.types import Run


class Here:
    """Stands for ``run_job``: does the job in this process, or fails where it is told to."""

    def __init__(self) -> None:
        self.plans: list[str] = []
        self.failing = ""

    def __call__(self, job: Job, **_: Any) -> Run:
        from likewise.run.child import run_here
        from likewise.run.store import load_run

        self.plans.append(job.plan)
        if self.failing and self.failing in job.plan:
            raise RefusedError("There is not enough memory.", found="an allocation failed")
        run_here(job)
        return load_run(Path(job.out))


def stand_in(monkeypatch: pytest.MonkeyPatch) -> Here:
    """Let children run here; what one test made, the next one reuses."""
    made = Here()
    monkeypatch.setattr("likewise.prove.runs.run_job", made)
    monkeypatch.setattr("likewise.prove.references.threads", lambda: 1)  # tests share the cores
    return made
