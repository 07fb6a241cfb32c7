"""Raw rows of a benchmark in; a JSON file of a line a row, that can be read and compared, out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["write"]


def write(rows: Sequence[dict[str, Any]], file: Path | None) -> None:
    """Write rows, with four digits of every figure; nothing where no file was asked for."""
    if file is None:
        return
    lines = [json.dumps(_short(row), ensure_ascii=False) for row in rows]
    file.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _short(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_short(inner) for inner in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value
