"""A matplotlib figure in; one inline SVG that shares a page with others, out.

Colours become the page's own (so the plot follows dark and light), text stays text in the page's
font, every id carries the plot's name, and a screen reader finds a title and a description.
"""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from typing import Any, Literal

__all__ = ["COLOURS", "INK", "LINE", "MUTED", "SIZE", "draw", "inline", "scale"]

INK, MUTED, LINE = "#111111", "#222222", "#333333"
COLOURS = {"equal": "#aa0001", "within": "#aa0002", "outside": "#aa0003", "undecided": "#aa0004"}
"""Stand-ins: each becomes a CSS variable of the page, with what to do where there is no page."""

_VARIABLES = {
    INK: "var(--ink, currentColor)",
    MUTED: "var(--muted, currentColor)",
    LINE: "var(--line, #9994)",
    COLOURS["equal"]: "var(--equal, #16794c)",
    COLOURS["within"]: "var(--within, #1f63b5)",
    COLOURS["outside"]: "var(--outside, #b3261e)",
    COLOURS["undecided"]: "var(--undecided, #8a5a00)",
}
SIZE = 8.4  # points of all text: as large as the page's small print where the page is wide
_WIDTH, _RIGHT, _BELOW, _ABOVE = 8.4, 0.12, 0.52, 0.12  # inches
_SVG = "http://www.w3.org/2000/svg"
_NEEDLESS = (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style")  # a style rule would hold page-wide
_SETTINGS = {
    "svg.fonttype": "none",  # text stays text: it can be read, searched and translated
    "svg.image_inline": True,
    "font.family": "sans-serif",
    "font.size": SIZE,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": False,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "text.parse_math": False,  # a "$" in a name is a dollar
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "path.simplify": False,
}


def draw(height: float, *, left: float) -> tuple[Any, Any]:
    """Return a figure and its axes, on no background.

    Args:
        height: inches of the whole; all figures are equally wide, so the page scales them alike.
        left: inches left of the axes, for labels.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context(_SETTINGS):
        figure = Figure(figsize=(_WIDTH, height))
        FigureCanvasSVG(figure)
        room = (_WIDTH - left - _RIGHT) / _WIDTH, (height - _BELOW - _ABOVE) / height
        axes = figure.add_axes((left / _WIDTH, _BELOW / height, *room))
    figure.patch.set_visible(False)
    axes.patch.set_visible(False)
    axes.tick_params(length=0, pad=5)
    axes.set_axisbelow(True)
    return figure, axes


def scale(
    axes: Any, which: Literal["x", "y"], low: float, high: float, *, room: float = 1.3
) -> None:
    """Give an axis a logarithmic scale from low to high, and so many times more on both sides."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set(**{f"{which}scale": "log", f"{which}lim": (low / room, high * room)})
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(LogLocator(subs=(1.0,) if high / low > 100 else (1.0, 2.0, 5.0)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(_spelled))


def _spelled(value: float, _: int) -> str:
    return f"{value:g}" if value >= 0.01 else f"{value:.0e}".replace("e-0", "e-")


def inline(figure: Any, name: str, title: str, description: str) -> str:
    """Return the figure as an ``<svg>`` element; the same figure gives the same text.

    Args:
        figure: made by ``draw``.
        name: unique on the page; it prefixes every id.
        title: what the plot is.
        description: what it shows, in words and figures, for whoever does not see it.
    """
    from matplotlib import rc_context

    stream = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with rc_context({**_SETTINGS, "svg.hashsalt": name}):
        figure.savefig(stream, format="svg", metadata=nothing)
    root = ET.fromstring(stream.getvalue())
    for parent in root.iter():
        for child in [c for c in parent if c.tag in _NEEDLESS]:
            parent.remove(child)
    pointed_at = set(re.findall(r"#(\w+)", stream.getvalue()))
    for element in root.iter():
        if element.get("id") not in pointed_at:
            element.attrib.pop("id", None)
        for key, value in element.attrib.items():
            element.set(key, _adapted(key, value, name))
    _describe(root, name, title, description)
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    return ET.tostring(root, encoding="unicode")


def _adapted(key: str, value: str, name: str) -> str:
    """Prefix an id and what points at it; give colours and fonts back to the page."""
    if key == "id":
        return f"{name}-{value}"
    value = re.sub(r"(^|url\()#", rf"\1#{name}-", value)
    for colour, variable in _VARIABLES.items():
        value = value.replace(colour, variable)
    value = re.sub(r"font-family: [^;]*;? ?", "", value)
    return re.sub(r"font: (.*?)([\d.]+px) [^;]*", _size, value)  # as matplotlib < 3.11 wrote it


def _size(font: re.Match[str]) -> str:
    weight = f"font-weight: {font[1].strip()}; " if font[1].strip() else ""
    return f"{weight}font-size: {font[2]}"


def _describe(root: ET.Element, name: str, title: str, description: str) -> None:
    for size in ("width", "height"):
        root.attrib.pop(size, None)
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title")
    root.set("aria-describedby", f"{name}-description")
    for place, (tag, text) in enumerate((("title", title), ("description", description))):
        element = ET.Element(f"{{{_SVG}}}{'desc' if place else 'title'}", id=f"{name}-{tag}")
        element.text = text
        root.insert(place, element)
