"""A runner and items in; seconds, end to end, out. The clock stops when answers are on the host.

Timed is ``Runner.stream``, which is what ``run`` and serving use: tokens, computing and the answers
as Python values. An engine that returns early and works later is still inside: its numbers have
become answers before the clock stops (case B115).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likewise.types import Item, Json

if TYPE_CHECKING:
    from likewise.run.runner import Runner

__all__ = ["look", "offline", "single"]


def look(runner: Runner, items: Sequence[Item]) -> dict[str, Json]:
    """Pass over the items once and tell what there is to know about them; a warm-up pass.

    Returns:
        seconds (of the pass, a fingerprint of the items included), phases {name: seconds}, tokens
        {median, p90, max} of the items that have any, problems (items without an answer), facts.
    """
    began = time.perf_counter()
    run = runner.run(items, keep=False)
    seconds = time.perf_counter() - began
    tokens = run.tokens[run.tokens > 0]
    return {
        "seconds": seconds,
        "phases": {name: float(sum(values)) for name, values in run.seconds.items()},
        "tokens": {
            "median": float(np.median(tokens)) if tokens.size else 0.0,
            "p90": float(np.percentile(tokens, 90)) if tokens.size else 0.0,
            "max": int(tokens.max(initial=0)),
        },
        "problems": sum("error" in answer for answer in run.answers),
        "facts": dict(run.facts),
    }


def offline(runner: Runner, items: Sequence[Item]) -> dict[str, Json]:
    """Pass over the items once, in batches as the plan says; return {seconds}."""
    return {"seconds": _pass(runner, items)}


def single(runner: Runner, items: Sequence[Item]) -> dict[str, Json]:
    """Answer the items one at a time, as they would come from one person.

    Returns:
        wake (seconds of one more item before the others: what the caches lost while another plan
        was running is not this plan's latency), seconds (one per item).
    """
    return {
        "wake": _pass(runner, items[-1:]),
        "seconds": [_pass(runner, [item]) for item in items],
    }


def _pass(runner: Runner, items: Sequence[Item]) -> float:
    began = time.perf_counter()
    for _ in runner.stream(items):
        pass
    return time.perf_counter() - began
