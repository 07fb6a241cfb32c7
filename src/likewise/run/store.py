"""A Run in; a folder that holds it, and the Run again, out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import FolderError
from likewise.types import Plan, Run

if TYPE_CHECKING:
    from likewise.types import Arrays

__all__ = ["RUN", "load_run", "save_run"]

RUN = "run.json"
_PLAIN = ("facts", "items_fingerprint", "count", "answers", "seconds")


def save_run(run: Run, folder: Path) -> None:
    """Write ``run.json`` and one ``.npy`` per array; exact to the bit."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {name: f"output-{place}.npy" for place, name in enumerate(run.arrays)}
    for name, file in names.items():
        np.save(folder / file, run.arrays[name], allow_pickle=False)
    np.save(folder / "owners.npy", run.owners, allow_pickle=False)
    np.save(folder / "tokens.npy", run.tokens, allow_pickle=False)
    record = {name: getattr(run, name) for name in _PLAIN}
    text = json.dumps({"plan": str(run.plan), "arrays": names, **record}, allow_nan=False)
    (folder / RUN).write_text(text)


def load_run(folder: Path) -> Run:
    """Read what ``save_run`` wrote.

    Raises:
        FolderError: the folder holds no run, or half of one.
    """
    try:
        record = json.loads((folder / RUN).read_text())
        arrays: Arrays = {
            name: np.load(folder / file, allow_pickle=False)
            for name, file in record["arrays"].items()
        }
        return Run(
            plan=Plan.parse(record["plan"]),
            facts=record["facts"],
            items_fingerprint=record["items_fingerprint"],
            count=record["count"],
            arrays=arrays,
            owners=np.load(folder / "owners.npy", allow_pickle=False),
            tokens=np.load(folder / "tokens.npy", allow_pickle=False),
            answers=record["answers"],
            seconds={name: tuple(values) for name, values in record["seconds"].items()},
        )
    except (OSError, EOFError, ValueError, KeyError) as error:
        raise FolderError(
            f"{folder} holds no run that can be read.", found=f"{type(error).__name__}: {error}"
        ) from None
