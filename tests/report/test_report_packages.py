"""Rendering a page needs plotting packages; the record and Markdown need none."""

from __future__ import annotations

import json
import subprocess
import sys

import example
import pytest

from likewise.errors import LikewiseError
from likewise.report import html


def test_a_missing_package_is_named_with_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(LikewiseError) as caught:
        html.render(example.report())
    assert caught.value.found == "no matplotlib"
    assert "likewise[port]" in caught.value.fix


def test_the_record_and_markdown_need_no_plotting_package() -> None:
    code = (
        "import sys; import likewise.report.markdown, likewise.report.record, likewise.report.html;"
        "print([m for m in ('matplotlib', 'jinja2', 'numpy', 'torch') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert json.loads(done.stdout.replace("'", '"')) == []
