"""The schema in the docs is the types' own, and a record follows it."""

from __future__ import annotations

import json
from pathlib import Path

import accept
import example
import jsonschema

from likewise.report import record


def test_the_published_schema_is_the_one_of_the_types() -> None:
    published = accept.SCHEMA.read_text(encoding="utf-8")
    assert published == accept.schema(), "python tests/report/accept.py, and read the diff"


def test_a_record_validates_against_the_published_schema(tmp_path: Path) -> None:
    record.save(example.report(), tmp_path / record.FILE)
    schema = json.loads(accept.SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(
        json.loads((tmp_path / record.FILE).read_text(encoding="utf-8"))
    )
