"""A figure and a limit in; the Measure that says whether it holds, out."""

from __future__ import annotations

import math
from dataclasses import replace

from likewise.prove.limits import Limit
from likewise.types import Measure

__all__ = ["ZERO", "count", "doubted", "held", "held_above_noise", "unknown", "unsure"]

ZERO = Limit(0.0, "it must not happen at all")
_MORE = "; not surely wrong: more items would tell"


def held(measure: Measure, limit: Limit, words: str, *, outside: float | None = None) -> Measure:
    """Hold a figure to its limit; every comparison is written so that a NaN fails.

    Args:
        measure: with its value, unit, n and worst item.
        limit: what it is held to.
        words: the reason if it does not hold; ``{value}``, ``{limit}`` and ``{item}`` are filled.
        outside: beyond this it fails; between the limit and this it is undecided.
    """
    value = measure.value if measure.value is not None else math.nan
    low = measure.better == "lower"
    good = value <= limit.value if low else value >= limit.value
    unsure = outside is not None and value <= outside
    shown = "not a number" if not math.isfinite(value) else f"{value:.3g}"
    reason = words.format(value=shown, limit=f"{limit.value:.3g}", item=measure.worst_item)
    if not good and unsure:
        reason += _MORE
    return replace(
        measure,
        value=value if math.isfinite(value) else None,
        limit=limit.value,
        source=limit.source,
        holds=True if good else None if unsure else False,
        reason="" if good else reason,
    )


def held_above_noise(measure: Measure, limit: Limit, words: str, noise: float) -> Measure:
    """Hold a figure to its limit, unless an honest run may reach the figure: then undecided.

    Args:
        measure: with its value.
        limit: the class's own, as if rounding were always that small.
        words: as for ``held``.
        noise: the most that an honest run may show on this model, from the yardstick alone.
    """
    made = held(measure, limit, words)
    if made.holds is False and made.value is not None and made.value <= noise:
        why = f"an honest run may be off by {noise:.3g} here: this model magnifies rounding"
        return unknown(made, limit, f"{made.reason}, but {why}")
    return made


def unknown(measure: Measure, limit: Limit, words: str) -> Measure:
    """Say why a question has no answer: then the verdict is undecided."""
    return replace(measure, limit=limit.value, source=limit.source, holds=None, reason=words)


def count(metric: str, on: str, bad: int, of: int, words: str) -> Measure:
    """Hold a count of what must not happen to zero; ``words`` is the reason as it stands."""
    plain = words.replace("{", "{{").replace("}", "}}")
    return held(Measure(metric, on, float(bad), "", of), ZERO, plain)


def doubted(measure: Measure, words: str = "") -> Measure:
    """Turn a failure of the reference into doubt: it decides nothing, and it passes nothing."""
    if measure.holds:
        return measure
    return replace(measure, holds=None, reason=words or measure.reason)


def unsure(measure: Measure, *, guessed: bool) -> Measure:
    """Turn a failure into doubt where honest noise is only guessed, and the error is tiny."""
    if not guessed or measure.holds or measure.limit is None:
        return measure
    why = "float64 could not be asked, and another engine may round so"
    cure = "with the folder that it was ported from it can be"
    return doubted(measure, f"{measure.reason.removesuffix(_MORE)}, but {why}: {cure}")
