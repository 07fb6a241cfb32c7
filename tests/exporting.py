"""A test that needs many exports in; the same exports without a fresh process for each, out.

A process imports torch and transformers for seconds. Here the module that was exported is thrown
away with its job, so nothing is computed with it afterwards, as the rule of the process wants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from likewise.engines import _export


@contextmanager
def exports_here() -> Iterator[None]:
    """Make ``_export.ensure`` export in this process while the context lasts."""
    from likewise.engines import _export_child

    def run_child(module: str, arguments: Sequence[str], **options: Any) -> None:
        assert module == "likewise.engines._export_child"
        _export_child.export(
            msgspec.json.decode(
                Path(arguments[0]).read_bytes(),
                type=_export.Job,
                dec_hook=lambda kind, text: kind(text),
            )
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_export, "run_child", run_child)
        patch.setattr(_export, "threads", lambda: 1)  # two would wait for each other, spinning
        yield
