"""A plan and how fast it is, in; a Timing whose raw samples say so, out."""

from __future__ import annotations

import math
import random
import statistics

from likewise import outcomes as o
from likewise import types as t


def timing(
    plan: str, items_per_second: float, single: float, peak: int, doubts: tuple[str, ...] = ()
) -> o.Timing:
    draw = random.Random(plan)
    items = 48
    passes = [items / items_per_second * (1 + draw.uniform(-0.02, 0.02)) for _ in range(7)]
    calls = [single * math.exp(abs(draw.gauss(0, 0.16))) for _ in range(160)]
    offline = samples(passes, items)
    return o.Timing(
        plan=plan,
        workload={
            "name": "mixed",
            "items": items,
            "tokens": {"median": 31, "p90": 88, "max": 203},
            "fingerprint": "77ab01cd" * 8,
        },
        offline=offline,
        single=samples(calls, 1),
        items_per_second=items / offline.median,
        phases={"encode": 0.021, "compute": 0.968, "finish": 0.011},
        open_seconds=1.12,
        first_result_seconds=1.31,
        peak_bytes=peak,
        doubts=doubts,
        facts={"engine": t.Plan.parse(plan).engine},
        made_at="2026-11-30T18:45:02Z",
    )


def samples(values: list[float], items: int) -> o.Samples:
    seconds = tuple(float(f"{v:.6g}") for v in values)
    ordered = sorted(seconds)
    median = statistics.median(ordered)
    return o.Samples(
        seconds=seconds,
        warmups=seconds[:2],
        items=items,
        n=len(seconds),
        median=median,
        p90=ordered[int(0.9 * len(ordered))],
        p99=ordered[int(0.99 * len(ordered))] if len(ordered) >= 100 else None,
        low=median * 0.99,
        high=median * 1.01,
    )
