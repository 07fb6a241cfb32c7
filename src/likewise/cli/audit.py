"""A published report in; what contradicts itself in it, on stdout or in a file, out."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

__all__ = ["print_audit"]


def print_audit(path: Path, model: Path | None, *, out: Path | None, as_json: bool) -> int:
    """Print what an audit found; return the exit status: 1 if it found anything."""
    import msgspec

    from likewise.report.audit.audit import audit, spelled

    findings = audit(path, model=model)
    text = spelled(findings, str(path))
    if as_json:
        name = str(path).encode("utf-8", "backslashreplace").decode()
        record = {"report": name, "findings": [asdict(f) for f in findings]}
        body = msgspec.json.encode(record)
        text = msgspec.json.format(body, indent=2).decode()
    if out is None:
        sys.stdout.write(text + "\n")
    else:
        out.write_text(text + "\n", encoding="utf-8")
    return int(bool(findings))
