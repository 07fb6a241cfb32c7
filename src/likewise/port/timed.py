"""Plans that passed, in; their timings, and whether they were taken earlier, out.

Timings rank plans only if they come from the same rounds: either all are re-used, or all are
taken anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import msgspec

from likewise import cache
from likewise.bench.machine import machine
from likewise.bench.rounds import INTERRUPTED, time_plans
from likewise.engines._foreign import digests
from likewise.errors import RefusedError
from likewise.outcomes import Timing
from likewise.progress import Progress
from likewise.prove.proof import Context
from likewise.types import Item, Plan

__all__ = ["time_once"]

_FILE = "timings.json"
_ROOMS = ("types.py", "outcomes.py", "model", "tasks", "engines", "run", "bench", "probes", "prove")
"""Whose code decides what is timed and how."""

Timings = Mapping[Plan, Timing | RefusedError]


class _UnfinishedError(Exception):
    """Some plan has no timing: what there is, is handed on and not kept."""

    def __init__(self, timings: Timings) -> None:
        super().__init__()
        self.timings = timings


def time_once(
    context: Context,
    plans: Sequence[Plan],
    *,
    items: Sequence[Item] | None,
    progress: Progress,
) -> tuple[Timings, bool]:
    """Time plans side by side, unless just these were timed before in just this setting.

    Returns:
        By plan, its timing or why it has none; after Ctrl-C fewer than the plans. And whether
        they are from an earlier time.
    """
    fresh = False

    def make(folder: Path) -> None:
        nonlocal fresh
        fresh = True
        timings = time_plans(
            context.model.folder,
            plans,
            task=context.task,
            settings=context.subject.settings,
            items=items,
            progress=progress,
        )
        done = {
            str(plan): timing
            for plan, timing in timings.items()
            if isinstance(timing, Timing) and INTERRUPTED not in timing.doubts
        }
        if len(done) < len(plans):
            raise _UnfinishedError(timings)
        (folder / _FILE).write_bytes(msgspec.json.encode(done, enc_hook=str))

    try:
        folder = cache.build("timing", _key(context, plans, items), make)
    except _UnfinishedError as unfinished:
        return unfinished.timings, False
    kept = msgspec.json.decode((folder / _FILE).read_bytes(), type=dict[str, Timing])
    return {Plan.parse(name): timing for name, timing in kept.items()}, not fresh


def _key(context: Context, plans: Sequence[Plan], items: Sequence[Item] | None) -> str:
    """Spell everything that a timing depends on and that can be known."""
    here = machine()
    return json.dumps(
        {
            "model": context.model.fingerprint,
            "overrides": asdict(context.subject.settings.model),
            "task": context.task.name,
            "plans": {
                str(plan): digests(context.model, context.task.network, plan) for plan in plans
            },
            "bench": asdict(context.subject.settings.bench),
            "items": None if items is None else context.references.yardstick.items_fingerprint,
            "machine": {k: here[k] for k in ("fingerprint", "threads", "kernel", "packages")},
            "code": cache.code(*_ROOMS),
        },
        sort_keys=True,
        default=str,
    )
