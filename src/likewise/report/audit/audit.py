"""A published report's file in; every contradiction that can be recomputed, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from types import ModuleType

from likewise import find
from likewise.errors import ItemError
from likewise.report.audit.facts import facts_of
from likewise.report.audit.finding import Finding
from likewise.report.audit.mentions import mentions
from likewise.report.audit.sheet import read_sheet
from likewise.report.audit.subject import Subject
from likewise.report.facts import visible

__all__ = ["audit", "audit_text", "spelled"]

MOST_BYTES = 5_000_000
_LONGEST_LINE = 4_000  # characters of a line that are read: no report has more to say in one
_MOST = 500  # findings of one check
_ROOM = "report/audit/checks"


def audit(path: Path, *, model: Path | None = None) -> tuple[Finding, ...]:
    """Return what contradicts itself in a report, in the order of lines.

    Args:
        path: a Markdown file.
        model: the folder of the model it is about: its config.json is believed.

    Raises:
        ItemError: the file cannot be read, is too large, or is not text in UTF-8.
        FolderError: the model has no config.json that can be read.
    """
    facts = facts_of(model) if model is not None else {}
    return audit_text(_read(path), facts)


def audit_text(text: str, facts: Mapping[str, int] | None = None) -> tuple[Finding, ...]:
    """Return what contradicts itself in a report, given what is known of its model."""
    cut = "\n".join(line[:_LONGEST_LINE] for line in text.splitlines())
    sheet = read_sheet(cut)
    subject = Subject(sheet, tuple(mentions(sheet)), facts or {})
    found = [_seen(f) for module in _checks() for f in islice(module.check(subject), _MOST)]
    distinct = dict.fromkeys(found)
    return tuple(sorted(distinct, key=lambda f: (f.lines, f.check, f.found)))


def spelled(findings: Sequence[Finding], name: str) -> str:
    """Return the findings as lines for a person."""
    lines = []
    for finding in findings:
        where = ", ".join(map(str, finding.lines))
        lines.append(f"{visible(name)}:{where}  {finding.severity} ({finding.check})")
        lines.append(f"  found:      {finding.found}")
        lines.append(f"  recomputed: {finding.recomputed}")
    wrong = sum(f.severity == "wrong" for f in findings)
    if not findings:
        return "Nothing that can be recomputed contradicts itself. That proves no port right."
    count = f"{len(findings)} findings" if len(findings) > 1 else "1 finding"
    return "\n".join([*lines, f"{count}: {wrong} wrong, {len(findings) - wrong} doubtful"])


def _seen(finding: Finding) -> Finding:
    """Return the finding with nothing that a terminal would obey."""
    found, recomputed = visible(finding.found), visible(finding.recomputed)
    return replace(finding, found=found, recomputed=recomputed)


@cache
def _checks() -> list[ModuleType]:
    return [find.load(_ROOM, name) for name in find.names(_ROOM)]


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        found = str(error.strerror or error)
        raise ItemError(f"{path} cannot be read.", found=found, fix="--audit README.md") from None
    if len(content) > MOST_BYTES:
        raise ItemError(
            f"{path} is too large to be a report.",
            found=f"more than {MOST_BYTES:,} bytes",
            fix="audit the Markdown alone, without embedded pictures",
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ItemError(
            f"{path} is not text in UTF-8.",
            found=f"byte {content[error.start]:#04x} at {error.start}",
            fix="iconv -t UTF-8",
        ) from None
