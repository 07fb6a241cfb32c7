"""The example report in; its golden renderings and the JSON Schema, written to where tests look.

Run it after a wanted change, and read the diff: ``python tests/report/accept.py``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import example

from likewise.report import html, markdown, record

_ROOT = Path(__file__).parents[2]
MARKDOWN = _ROOT / "tests/golden/report.md"
HTML = _ROOT / "tests/golden/report.html"
SCHEMA = _ROOT / "docs/report.schema.json"


def page() -> str:
    """Return the page without its plots, whose outlines are matplotlib's and change with it."""
    return re.sub(r"<svg.*?</svg>", "<svg/>", html.render(example.report()), flags=re.DOTALL)


def text() -> str:
    """Return the Markdown."""
    return markdown.render(example.report())


def schema() -> str:
    """Return the JSON Schema as it is published."""
    return json.dumps(record.schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path, content in ((MARKDOWN, text()), (HTML, page()), (SCHEMA, schema())):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
