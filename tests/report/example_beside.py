"""Errors of the example in; what stands beside its verdicts: canaries, strata, usual rules, out."""

from __future__ import annotations

from likewise import outcomes as o
from likewise import types as t

LABELS = ("Bearish", "Neutral", "Bullish")
N = 256


def strata(errors: tuple[float, ...]) -> tuple[o.Stratum, ...]:
    """Return what every third item, and the longer half, would have been."""
    parts = [("label", name, list(range(n, N, 3))) for n, name in enumerate(LABELS)]
    parts += [("tokens", "1 to 16", list(range(128))), ("tokens", "17 to 64", list(range(128, N)))]
    made = []
    for by, name, items in parts:
        worst = max(items, key=lambda n: errors[n])
        made.append(o.Stratum(by, name, len(items), 0, 0, errors[worst], worst))
    return tuple(made)


def rules() -> tuple[o.Rule, ...]:
    return (
        o.Rule("error < 1 %: largest relative difference", "scores", 0.25, N, "lower", 0.01, False),
        o.Rule("mean cosine", "scores", 0.9999999999991, N, "higher", 0.99, True),
        o.Rule("mean squared difference", "scores", 4e-14, N, "lower", None, None, "none is usual"),
        o.Rule("same best class (top-1)", "scores", 1.0, N, "higher", 1.0, True),
        o.Rule("same best five (top-5)", "scores", None, N, "higher", 1.0, None, "3 classes"),
    )


def canaries(missed: float = 0.0) -> tuple[t.Measure, ...]:
    return tuple(
        t.Measure(name, "run", bad, "", of, 0.0, "lower", "it must not happen", bad == 0, gate="G0")
        for name, bad, of in (("canaries_missed", missed, 8), ("false_alarms", 0.0, 3))
    )
