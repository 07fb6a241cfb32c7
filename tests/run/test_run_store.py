"""A run survives the disk, to the bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from likewise.errors import FolderError
from likewise.run.store import load_run, save_run
from likewise.types import Plan, Run


def some_run(**changes: Any) -> Run:
    values = {
        "plan": Plan.parse("onnx/cpu/float32/b16/t2/fault=G01"),
        "facts": {"threads": 2, "loading": {"missing": []}},
        "items_fingerprint": "abc",
        "count": 3,
        "arrays": {
            "logits": np.array([[1.5, np.nan], [np.inf, -0.0]], np.float32),
            "odd name/with slash": np.arange(2.0),
        },
        "owners": np.array([0, 2]),
        "tokens": np.array([4, 0, 7]),
        "answers": [{"labels": []}, {"error": "no mask"}, {"labels": [{"label": "\ud800"}]}],
        "seconds": {"encode": (0.125,), "compute": (0.25, 0.1), "finish": (0.0, 1e-7)},
    }
    return Run(**{**values, **changes})


def test_a_run_survives(tmp_path: Path) -> None:
    run = some_run()
    save_run(run, tmp_path)
    loaded = load_run(tmp_path)
    assert vars(loaded).keys() == vars(run).keys()
    for name in ("plan", "facts", "items_fingerprint", "count", "answers", "seconds"):
        assert getattr(loaded, name) == getattr(run, name)
    for name, array in run.arrays.items():
        assert loaded.arrays[name].dtype == array.dtype
        assert loaded.arrays[name].tobytes() == array.tobytes()
    assert loaded.owners.tolist() == [0, 2]
    assert loaded.tokens.tolist() == [4, 0, 7]


def test_an_answer_that_is_not_finite_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        save_run(some_run(answers=[{"value": float("nan")}]), tmp_path)


def test_half_a_run_is_an_error(tmp_path: Path) -> None:
    save_run(some_run(), tmp_path)
    (tmp_path / "owners.npy").write_bytes(b"")
    with pytest.raises(FolderError, match="no run that can be read"):
        load_run(tmp_path)
    with pytest.raises(FolderError, match="no run that can be read"):
        load_run(tmp_path / "absent")
