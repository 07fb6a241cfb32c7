"""Rows of figures in; one plot with a strip of ticks a row, on a common scale, out."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from likewise.report import svg

__all__ = ["MOST_TICKS", "Strip", "draw"]

MOST_TICKS = 300
"""Ticks in a row; of more values, as many evenly spread quantiles are drawn, ends included."""

_ROW = 0.5  # inches
_LINEAR = 8.0  # largest ratio on the scale that starts at 0


@dataclass(frozen=True)
class Strip:
    """One plan's figures."""

    shape: str  # of its outcome
    label: str
    colour: str
    values: tuple[float, ...]  # sorted, not empty
    mark: float  # where the diamond stands
    caption: str
    limit: float | None = None  # where a dashed line stands


def draw(name: str, title: str, strips: Sequence[Strip], *, axis: str, log: bool = False) -> str:
    """Return the plot as SVG.

    Args:
        name: prefix of its ids.
        title: what it is, for a screen reader; the labels and captions follow.
        strips: from top to bottom; at least one.
        axis: what the scale means.
        log: a logarithmic scale in any case; else only where the figures differ widely. All
            values must be above 0 then.
    """
    figure, axes = svg.draw(0.64 + _ROW * len(strips), left=0.1)
    limits = [s.limit for s in strips if s.limit]
    low = min(s.values[0] for s in strips)
    high = max(*limits, *(s.values[-1] for s in strips), low)
    if log or (low > 0 and high / low > _LINEAR):
        svg.scale(axes, "x", min(low, *limits, low), high)
    else:
        axes.set_xlim(0, high * 1.04 or 1)
    axes.set_ylim(len(strips) - 0.6, -0.6)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x", alpha=0.7)
    axes.set_xlabel(axis)
    for place, strip in enumerate(strips):
        _draw_strip(axes, strip, place)
    described = "; ".join(f"{s.label}: {s.caption}" for s in strips)
    return svg.inline(figure, name, title, described)


def _draw_strip(axes: Any, strip: Strip, place: int) -> None:
    middle = statistics.median(strip.values)
    axes.plot(*_segments(_thinned(strip.values), place, 0.13), color=strip.colour, alpha=0.45, lw=1)
    axes.plot([middle, middle], [place - 0.2, place + 0.2], color=svg.INK, lw=2.2)
    axes.plot([strip.mark], [place], "D", color=strip.colour, markersize=6, markeredgecolor=svg.INK)
    if strip.limit:
        ends = [place - 0.2, place + 0.2]
        axes.plot([strip.limit] * 2, ends, color=svg.INK, lw=1.2, linestyle=(0, (2, 2)))
    _write(axes, 0, place, f"{strip.shape}  {strip.label}", ha="left", color=svg.INK)
    _write(axes, 1, place, strip.caption, ha="right", color=svg.MUTED)


def _segments(values: Sequence[float], place: int, half: float) -> tuple[list[float], list[float]]:
    """Return one path of short upright lines, broken between them."""
    across = [x for value in values for x in (value, value, float("nan"))]
    upright = [place - half, place + half, float("nan")] * len(values)
    return across, upright


def _thinned(values: Sequence[float]) -> Sequence[float]:
    if len(values) <= MOST_TICKS:
        return values
    step = (len(values) - 1) / (MOST_TICKS - 1)
    return [values[round(n * step)] for n in range(MOST_TICKS)]


def _write(axes: Any, x: int, place: int, text: str, **style: str) -> None:
    """Write above a strip, at the left (0) or right (1) end of the axes."""
    where = axes.get_yaxis_transform()
    axes.text(x, place - 0.29, text, transform=where, fontsize=svg.SIZE, parse_math=False, **style)
