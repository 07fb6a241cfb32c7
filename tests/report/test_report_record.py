from __future__ import annotations

import dataclasses
import json
import math
import os
from pathlib import Path

import example
import numpy as np
import pytest
from drawn import any_float, finite, reports
from hypothesis import given, settings

from likewise.errors import FolderError, LikewiseError
from likewise.outcomes import Report
from likewise.report import record


@settings(max_examples=30, deadline=None)
@given(report=reports(finite))
def test_a_report_survives_its_own_file(
    report: Report, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("record") / "report.json"
    record.save(report, path)
    assert record.load(path) == report


@settings(max_examples=30, deadline=None)
@given(report=reports(any_float))
def test_no_file_holds_nan_and_a_settled_report_stays_as_it_is(
    report: Report, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("record") / "report.json"
    record.save(report, path)

    def refuse(token: str) -> None:
        raise AssertionError(token)

    json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    settled = record.settled(report)
    assert record.load(path) == settled == record.settled(settled)


def test_an_absent_figure_is_null_beside_its_reason(tmp_path: Path) -> None:
    report = dataclasses.replace(
        example.report(), machine={"watts": math.inf, "load": [1.0, math.nan], "name": "x"}
    )
    record.save(report, tmp_path / "report.json")
    raw = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    verdict = next(e["verdict"] for e in raw["entries"] if e["plan"] == example.HALF)
    assert verdict["measures"][1]["value"] is None
    assert verdict["measures"][1]["reason"] == "not a finite number: nan"
    assert verdict["errors"][-6:] == [None] * 6
    assert verdict["absent"] == {"errors": "6 of 256 are not finite numbers: nan"}
    assert verdict["worst"][0]["error"] is None
    assert verdict["worst"][0]["reason"] == "not a finite number: nan"
    assert verdict["worst"][0]["candidate"]["labels"][0]["score_reason"]
    assert raw["machine"]["watts"] is None
    assert raw["machine"]["watts_reason"] == "not a finite number: inf"
    assert raw["machine"]["load_reason"] == "1 of 2 are not finite numbers: nan"


def test_a_timing_without_a_figure_is_not_recorded(tmp_path: Path) -> None:
    report = example.report()
    timing = report.entries[0].timing
    assert timing is not None
    broken = dataclasses.replace(timing, items_per_second=math.nan)
    entry = dataclasses.replace(report.entries[0], timing=broken)
    with pytest.raises(LikewiseError, match=r"items_per_second"):
        record.save(dataclasses.replace(report, entries=(entry,)), tmp_path / "report.json")
    assert list(tmp_path.iterdir()) == []


def test_equal_reports_give_equal_bytes(tmp_path: Path) -> None:
    one = example.report()
    other = dataclasses.replace(one, machine=dict(reversed(one.machine.items())))
    record.save(one, tmp_path / "one.json")
    record.save(other, tmp_path / "other.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "other.json").read_bytes()


def test_numpy_numbers_paths_and_half_characters_become_plain_json(tmp_path: Path) -> None:
    facts = {
        "a": np.float32(0.5),
        "b": np.arange(2),
        "c": Path("x"),
        "d": "\ud800",
        "e": np.float64("nan"),
    }
    record.save(dataclasses.replace(example.report(), machine=facts), tmp_path / "report.json")
    assert record.load(tmp_path).machine == {
        "a": 0.5,
        "b": [0, 1],
        "c": "x",
        "d": "\\ud800",
        "e": None,
        "e_reason": "not a finite number: nan",
    }


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.json"
    record.save(example.report(), path)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        record.save(dataclasses.replace(example.report(), command="other"), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["report.json"]


def test_the_folder_of_a_report_is_as_good_as_its_file(tmp_path: Path) -> None:
    record.save(example.report(), tmp_path / "new" / record.FILE)
    assert record.load(tmp_path / "new") == record.load(tmp_path / "new" / record.FILE)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"schema": 1}',
        b'{"schema": "1"}',
        b'\xff\xfe{"schema": 1}',
        b'{"schema": 1, "likewise": NaN}',
        b'{"schema": 1, "machine": ' + b'{"a":' * 100_000,
    ],
    ids=["empty", "cut", "a list", "fields missing", "wrong type", "not text", "NaN", "too deep"],
)
def test_a_damaged_record_is_said_to_be_damaged(tmp_path: Path, content: bytes) -> None:
    (tmp_path / record.FILE).write_bytes(content)
    with pytest.raises(FolderError, match="damaged") as caught:
        record.load(tmp_path)
    assert "likewise port" in caught.value.fix


def test_a_missing_record_names_the_command_that_writes_one(tmp_path: Path) -> None:
    with pytest.raises(FolderError, match="no report") as caught:
        record.load(tmp_path)
    assert "likewise port" in caught.value.fix


def test_a_record_of_a_newer_likewise_is_refused_even_where_its_fields_differ(
    tmp_path: Path,
) -> None:
    (tmp_path / record.FILE).write_text('{"schema": 999, "likewise": ["9"]}')
    with pytest.raises(FolderError, match="newer") as caught:
        record.load(tmp_path)
    assert "999" in caught.value.found
