"""Was every blank filled in?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from likewise.report.audit.finding import Finding
from likewise.report.audit.subject import Subject

__all__ = ["check"]

_SPAN = re.compile(r"(?:\{[\w:.+-]+\})?`[^`]*`")  # and the role that Sphinx reads before one
_TYPE = (  # of JavaScript, in whose pages they stand in braces
    "(?:string|number|boolean|object|integer|any|null|undefined|function|symbol|bigint|this|require"
    "|module)"
)
_FORMULA = re.compile(r"\$[^$\n]*\\[^$\n]*\$")
_BLANKS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\$\{[A-Za-z_]\w*\}",
        r"\{\{\s*[A-Za-z_][\w.]*\s*\}\}",
        rf"(?<![\\^_}}$\w])\{{(?!{_TYPE}\}})[a-z_]\w*(?::[.,]?\d*[.]?\d*[dfeg%])?\}}",
        r"(?:(?<=[|:(=>]\s)|(?<=[|:(=>])|(?<=- )|^)(?:TODO|TBD|FIXME)(?![A-Za-z0-9])",
        r"(?<![A-Za-z0-9])(?:TODO|FIXME)(?=\s*[:：(])",
        r"(?<![A-Za-z0-9.])[xX]{2,4}\.[xX]{1,4}(?![A-Za-z0-9.])",
        r"(?<![A-Za-z0-9.])(?:[xX]\.[xX]{1,4}|[xX]{2,4})(?=\s*(?:[%％]|(?:ms|s|MB|GB)\b))",
        r"<(?:your|insert|fill|put|enter|path to|please)\b[^<>]{0,60}>",
        r"\[(?:insert|your|fill in)\b[^\[\]]{0,60}\](?!\()",
        r"待补充|待填写?|待测试?(?![\u4e00-\u9fff])",
    )
)
_OUTPUT = ("", "text", "txt", "log", "output", "markdown", "md")
_UNFORMATTED = re.compile(r"\{[A-Za-z_]\w*:[.,]?\d*[.]?\d*[dfeg%]\}|\$\{[A-Za-z_]\w*:[.]\d+f\}")


def check(subject: Subject) -> Iterator[Finding]:
    """Yield every blank of a template in prose or tables, and format strings in printed output.

    Commands and programs may hold such marks by right: code is not asked.
    """
    for line in subject.sheet.lines():
        bare = _FORMULA.sub(" ", _SPAN.sub(" ", line.text))
        found = list(dict.fromkeys(m[0] for blank in _BLANKS for m in blank.finditer(bare)))
        if found:
            yield _finding(line.number, found)
    for line in subject.sheet.code:
        found = [m[0] for m in _UNFORMATTED.finditer(line.text)] if line.code in _OUTPUT else []
        if found:
            yield _finding(line.number, found)


def _finding(line: int, found: list[str]) -> Finding:
    return Finding("placeholders", "wrong", (line,), ", ".join(found), "a blank, not a figure")
