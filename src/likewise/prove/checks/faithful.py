"""Is it the same computation, up to the rounding of its precision?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from likewise.prove.checks._held import held, held_above_noise, unknown, unsure
from likewise.prove.evidence import Evidence
from likewise.prove.pairs import Pairs
from likewise.types import Measure

gate = "G1"


def check(evidence: Evidence) -> list[Measure]:
    """Return, per output, how many times further from the truth than an honest run the plan is.

    Honest is CPU float32 itself, or, for a lossy class, CPU float32 that rounds as the class does.
    """
    return [m for pairs in evidence.judged.values() for m in _output(evidence, pairs)]


def _output(evidence: Evidence, pairs: Pairs) -> list[Measure]:
    if pairs.obstacle:
        shown = Measure("amplification_max", pairs.name, None, "× floor", len(pairs.items))
        limit = evidence.limits["amplification_max"]
        return [unknown(shown, limit, f"{pairs.obstacle}. {evidence.truth_missing}".strip())]
    ratios = _ratios(pairs)
    floor = Measure(
        "noise_floor", pairs.name, float(np.median(pairs.floor)), "of the spread", len(pairs.floor)
    )
    return [floor, *_amplified(evidence, pairs, ratios), _ceiling(evidence, pairs)]


def _ratios(pairs: Pairs) -> list[Measure]:
    """Return median, 99th percentile and largest amplification.

    Rows without truth have no say in the median, because their noise is only bounded.
    """
    ratio = pairs.amplification
    worst = int(pairs.items[int(ratio.argmax())])
    values = {
        "amplification_median": float(np.median(ratio[pairs.known])),
        "amplification_p99": float(np.percentile(ratio, 99)),
        "amplification_max": float(ratio.max()),
    }
    return [
        Measure(name, pairs.name, value, "× floor", len(ratio), worst_item=worst)
        for name, value in values.items()
    ]


def _amplified(evidence: Evidence, pairs: Pairs, ratios: list[Measure]) -> list[Measure]:
    limits = evidence.limits
    subjects = {
        "amplification_median": "half of the items are",
        "amplification_p99": "one item in a hundred is",
        "amplification_max": "item {item} is",
    }
    than = _than(evidence)
    outside = {
        "amplification_median": limits["amplification_median_outside"].value,
        "amplification_max": limits["amplification_max_outside"].value,
    }
    outside["amplification_p99"] = outside["amplification_max"]
    judged = [
        held(
            measure,
            limits[measure.metric],
            f"{pairs.name}: {subjects[measure.metric]} {{value}} times further from {than} "
            f"(limit {{limit}}); the worst is item {{item}}",
            outside=outside[measure.metric],
        )
        for measure in ratios
    ]
    guessed = evidence.tiny(pairs)
    return [unsure(measure, guessed=guessed) for measure in judged]


def _than(evidence: Evidence) -> str:
    """Return from what, than which honest run is; braces are doubled, for it is filled in."""
    exact, truth = evidence.limits.exact, evidence.truth is not None
    honest = "CPU float32" if exact else f"honest {evidence.limits.precision}"
    if evidence.other is None:
        from_what = "float64" if truth else "CPU float32"
        return f"{from_what} than {honest if truth or not exact else 'other runs'} is"
    named = evidence.other.named.replace("{", "{{").replace("}", "}}")
    return f"{named} than {f'{honest} is from float64' if truth else 'other runs of it are'}"


def _ceiling(evidence: Evidence, pairs: Pairs) -> Measure:
    """Return the p99.9 error against the class's absolute limit.

    Where CPU float32 itself is off by about as much, the model magnifies rounding and the limit
    cannot tell: that is undecided, not outside.
    """
    limit = evidence.limits["spread_error"]
    worst = int(pairs.items[int(pairs.errors.argmax())])
    value = float(np.percentile(pairs.errors, 99.9))
    shown = Measure("spread_error", pairs.name, value, "of the spread", len(pairs.items))
    words = (
        f"{pairs.name}: item {{item}} is off by {{value}} of the distance between items "
        "(limit {limit})"
    )
    noise = evidence.allowance * float(pairs.floor.max())
    return held_above_noise(replace(shown, worst_item=worst), limit, words, noise)
