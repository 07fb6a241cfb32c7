"""Ten thousand lines give ten thousand answers, in order."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

LINES = 10_000
SENTINEL = "the quick brown fox jumps over the lazy dog"

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("engine", ["torch", "onnx", "openvino"])
def test_ten_thousand_lines_give_ten_thousand_answers_in_order(
    engine: str, tiny: Callable[[str], Path], tmp_path: Path
) -> None:
    texts = [SENTINEL if n % 100 == 0 else f"{n} " + "word " * (n % 40) for n in range(LINES)]
    (tmp_path / "texts.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    command = [
        sys.executable, "-m", "likewise", "run", str(tiny("bert_classifier")),
        "--on", f"{engine}/cpu/float32/b16/t1", "--file", str(tmp_path / "texts.txt"), "--json",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["index"] for row in rows] == list(range(LINES))
    assert [row["item"].strip() for row in rows] == [text.strip() for text in texts]
    first = scores(rows[0])
    for row in rows[::100]:  # the same text, among ever other neighbours
        assert scores(row) == pytest.approx(first, abs=1e-5)


def scores(row: dict[str, object]) -> list[float]:
    """Return an answer's scores by the index of their label."""
    labels = row["labels"]
    assert isinstance(labels, list)
    return [entry["score"] for entry in sorted(labels, key=lambda e: e["index"])]
