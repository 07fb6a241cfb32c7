"""A Report in; one HTML page that needs nothing else, out: no request, no script, no other file."""

from __future__ import annotations

import functools
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from likewise.errors import LikewiseError
from likewise.outcomes import Report
from likewise.report.facts import visible
from likewise.report.view import page
from likewise.report.words import words

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["render"]

_HERE = Path(__file__).parent


def render(report: Report, *, language: str = "en") -> str:
    """Return the report as one self-contained page.

    Every text of the record is escaped, and the page forbids itself scripts and requests.

    Raises:
        SettingsError: likewise does not speak the language.
        LikewiseError: jinja2 or matplotlib is not here, or the report cannot be recorded.
    """
    text = words(language)
    jinja2, _ = _package("jinja2"), _package("matplotlib")
    plots = import_module("likewise.report.plots")
    drawn = [draw(report, language) for draw in (plots.pareto, plots.latency, plots.errors)]
    pictures = {plot.name: jinja2.utils.markupsafe.Markup(plot.svg) for plot in drawn}
    return _template().render(page=page(report, text), t=text, plots=drawn, pictures=pictures)


@functools.cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    def shown(value: Any) -> Any:
        return visible(value) if type(value) is str else value

    return Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    ).get_template("page.html.j2")


def _package(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise LikewiseError(
            "The HTML report needs a package that is not here.",
            found=f"no {name}",
            fix="pip install 'likewise[port]', or report DIR --to md, which needs nothing more",
        ) from None
