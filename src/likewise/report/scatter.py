"""Plans with a speed and an error in; one plot of the two, with the Pareto front, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from likewise.report import numbers, svg
from likewise.report.words import Words

__all__ = ["MOST_NAMES", "Point", "scatter"]

MOST_NAMES = 10
"""Of more plans, only the chosen one and those on the front carry their name."""

_MARKERS = {"equal": "o", "within": "D", "outside": "X", "undecided": "^"}
_HEIGHT, _LEFT = 4.0, 0.78  # inches
_LETTER, _LINE = 5.0, 11.5  # points that a letter and a line take
_PLACES = [
    (x, y, anchor)
    for y in (0, 14, -14, 28, -28, 42, -42)
    for x, anchor in ((11, "left"), (-11, "right"), (0, "center"))
    if x or y
]
"""Where a label may stand beside its point, best first, in points."""

_Box: TypeAlias = tuple[float, float, float, float]  # left, bottom, right, top


@dataclass(frozen=True)
class Point:
    """One plan."""

    plan: str
    outcome: str
    items_per_second: float
    error: float  # 0 or more
    chosen: bool
    ahead: bool  # no other plan beats it on both


def scatter(points: Sequence[Point], words: Words) -> str:
    """Return the plot as SVG; labels leave out what all plans share."""
    figure, axes = svg.draw(_HEIGHT, left=_LEFT)
    lowest = min((p.error for p in points if p.error > 0), default=1e-9)
    highest = max(lowest, *(p.error for p in points))
    edge = lowest / 10 if any(p.error == 0 for p in points) else lowest
    svg.scale(axes, "y", edge, highest, room=4)
    axes.set_xlim(0, max(p.items_per_second for p in points) * 1.12)
    axes.grid(alpha=0.7)
    axes.set_xlabel(words["axis_speed"])
    axes.set_ylabel(words["axis_error"])
    places = [(p.items_per_second, p.error or edge) for p in points]
    front = sorted(xy for p, xy in zip(points, places, strict=True) if p.ahead)
    axes.plot(*zip(*front, strict=True), color=svg.MUTED, lw=1, linestyle=(0, (4, 3)))
    for point, place in zip(points, places, strict=True):
        colour = svg.COLOURS.get(point.outcome, svg.MUTED)
        marker = _MARKERS.get(point.outcome, "s")
        if point.chosen:
            axes.plot(*place, "o", markersize=18, markerfacecolor="none", markeredgecolor=svg.INK)
        axes.plot(*place, marker, color=colour, markersize=9, markeredgecolor=colour)
    _label(axes, points, places, words)
    return svg.inline(figure, "pareto", words["plot_pareto"], _described(points, words))


def _described(points: Sequence[Point], words: Words) -> str:
    return "; ".join(
        words["point_is"].format(
            plan=p.plan,
            outcome=words[p.outcome],
            speed=numbers.number(p.items_per_second),
            error=numbers.number(p.error),
        )
        for p in points
    )


def _label(
    axes: Any, points: Sequence[Point], places: Sequence[tuple[float, float]], words: Words
) -> None:
    """Write each plan beside its point, where no other label or point is in the way."""
    pixels = axes.transData.transform(places) * 72 / axes.figure.dpi
    taken: list[_Box] = [(x - 7, y - 7, x + 7, y + 7) for x, y in pixels]
    frame: _Box = tuple(edge * 72 / axes.figure.dpi for edge in axes.bbox.extents)
    short = _short([p.plan for p in points])
    for point, place, (x, y), name in zip(points, places, pixels, short, strict=True):
        if len(points) > MOST_NAMES and not (point.chosen or point.ahead):
            continue
        text = f"{name} ({words[point.outcome]}{', ' + words['chosen'] if point.chosen else ''})"
        boxes = [_box(x + dx, y + dy, text, anchor) for dx, dy, anchor in _PLACES]
        best = min(range(len(boxes)), key=lambda n: _trouble(boxes[n], taken, frame))
        taken.append(boxes[best])
        dx, dy, anchor = _PLACES[best]
        axes.annotate(
            text,
            place,
            (dx, dy),
            textcoords="offset points",
            ha=anchor,
            va="center",
            color=svg.INK,
            fontsize=svg.SIZE,
            weight="bold" if point.chosen else "normal",
            parse_math=False,
        )


def _short(plans: Sequence[str]) -> list[str]:
    """Return the plans without the parts that all of them share; one plan stays whole."""
    parts = [plan.split("/") for plan in plans]
    shared = set(parts[0]).intersection(*parts[1:]) if len(plans) > 1 else set()
    return ["/".join(p for p in own if p not in shared) or "/".join(own) for own in parts]


def _box(x: float, y: float, text: str, anchor: str) -> _Box:
    width = len(text) * _LETTER
    left = x - width * {"left": 0.0, "center": 0.5, "right": 1.0}[anchor]
    return left, y - _LINE / 2, left + width, y + _LINE / 2


def _trouble(box: _Box, taken: Sequence[_Box], frame: _Box) -> float:
    """Return the area that a label would cover of others, and that would lie off the axes."""
    area = (box[2] - box[0]) * (box[3] - box[1])
    return sum(_shared(box, other) for other in taken) + area - _shared(box, frame)


def _shared(one: _Box, other: _Box) -> float:
    """Return the area of what two boxes share."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, width) * max(0.0, height)
