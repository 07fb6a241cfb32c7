"""Types, tests and raw figures in; the schema, ``cases.md`` and ``measured.md``, out."""

import json
import re
from pathlib import Path

import measured

from likewise.report.record import schema

HERE = Path(__file__).parent
TESTS = HERE.parent / "tests"
_NAMED = re.compile(r"^def (test_\w*)\(", re.MULTILINE)
_CASE = re.compile(r"(?<![A-Za-z0-9])[Bb](\d{3})(?=_)")


def cases() -> str:
    """Return a page with every case from the field that a test is named by, and the tests."""
    found: dict[str, list[str]] = {}
    for file in sorted(TESTS.rglob("test_*.py")):
        for name in _NAMED.findall(file.read_text(encoding="utf-8")):
            for number in _CASE.findall(name.replace("test_", "_", 1)[1:]):
                words = re.sub(r"([Bb]\d{3}_)+", "", name.removeprefix("test_")).replace("_", " ")
                place = file.relative_to(HERE.parent).as_posix()
                found.setdefault(f"B{number}", []).append(f"[{words}](../{place})")
    lines = [f"| {case} | {'<br>'.join(tests)} |" for case, tests in sorted(found.items())]
    head = (
        "# Cases from the field\n\n"
        "What went wrong for people who ran encoders elsewhere, and the tests that keep it from\n"
        "going wrong here; made by `make docs` from the names of the tests.\n\n"
        "| case | what is kept |\n|---|---|\n"
    )
    return head + "\n".join(lines) + "\n"


if __name__ == "__main__":
    page = json.dumps(schema(), indent=2) + "\n"
    (HERE / "report.schema.json").write_text(page, encoding="utf-8")
    (HERE / "cases.md").write_text(cases(), encoding="utf-8")
    (HERE / "measured.md").write_text(measured.page(), encoding="utf-8")
