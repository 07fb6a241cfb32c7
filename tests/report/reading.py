"""Rendered text in; what a reader or a browser finds in it, out."""

from __future__ import annotations

import html.parser
import re

VOID = {"meta", "link", "br", "path", "use"}


class Page(html.parser.HTMLParser):
    """Every element with its attributes, the text of headings, and all tables as rows of cells."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.headings: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.text += " " if tag in ("dd", "dt", "td", "th", "li", "p") else ""
        if tag not in VOID:
            self.open.append(tag)
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.tables and ("td" in self.open or "th" in self.open):
            self.tables[-1][-1][-1] += data

    def values(self, attribute: str) -> list[str]:
        """Return every value of an attribute, in order."""
        return [v for _, attrs in self.elements if (v := attrs.get(attribute)) is not None]


def markdown_tables(source: str) -> list[list[list[str]]]:
    """Return every table of a Markdown text as rows of cells, without its rule."""
    tables: list[list[list[str]]] = []
    before = ""
    for line in source.splitlines():
        if line.startswith("| "):
            if not before.startswith("| "):
                tables.append([])
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not re.fullmatch(r"[-: |]+", line):
                tables[-1].append(cells)
        before = line
    return tables


def figure(text: str) -> float | None:
    """Return the first number of a cell; None for a dash."""
    found = re.search(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", text)
    return float(found[0].replace(",", "")) if found else None
