"""Pages that are made from the code are what it makes; every case about folders has a test."""

from __future__ import annotations

import importlib
import json
from types import ModuleType
from typing import Any

import pytest
from own_source import PROJECT

from likewise.report.record import schema

NUMBERS = (
    1, 2, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 20, 22, 23, 24, 25, 30, 32, 34, 35,
    36, 38, 39, 41, 42, 43, 45, 46, 48, 49, 50, 51, 52, 53, 54, 56, 57, 58, 59, 60, 62, 63,
    71, 75, 77, 79, 82, 83, 84, 86, 87, 88, 89, 90,
)  # fmt: skip
"""Of lengths, tokenizers, loading, labels, embeddings, masks, pictures and exports."""


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(PROJECT / "docs")
    return importlib.import_module("make")


def test_the_page_of_cases_is_made_from_the_tests(make: ModuleType) -> None:
    page = (PROJECT / "docs/cases.md").read_text(encoding="utf-8")
    assert page == make.cases(), "make docs"


def test_the_schema_is_made_from_the_types() -> None:
    published = json.loads((PROJECT / "docs/report.schema.json").read_text(encoding="utf-8"))
    assert published == json.loads(json.dumps(schema())), "make docs"


@pytest.mark.parametrize("case", [f"B{number:03d}" for number in NUMBERS])
def test_every_case_about_folders_and_inputs_has_a_test(make: ModuleType, case: str) -> None:
    assert f"| {case} |" in make.cases()


def test_the_page_of_figures_is_made_from_the_raw_rows(make: ModuleType) -> None:
    page = (PROJECT / "docs/measured.md").read_text(encoding="utf-8")
    assert page == make.measured.page(), "make docs"


def raw(name: str) -> list[dict[str, Any]]:
    file = PROJECT / "benchmarks/data" / f"{name}.json"
    return list(json.loads(file.read_text(encoding="utf-8")))


def test_no_visible_fault_was_missed_and_no_honest_run_was_outside() -> None:
    """What the published rows say; ``benchmarks/mutants.py`` and ``honest.py`` measure it anew."""
    mutants, honest = raw("mutants"), raw("honest")
    assert len({row["fault"] for row in mutants if row["verdict"] == "caught"}) >= 80
    assert not [row for row in mutants if row["verdict"] in ("missed", "false alarm")]
    assert len(honest) >= 300
    assert not [row for row in honest if row["outcome"] == "outside"]
    assert sum(row["outcome"] == "undecided" for row in honest) <= 0.02 * len(honest)
