"""A model folder and settings in; what is to be proven, and on which items, out."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from likewise import cache, find
from likewise.errors import FolderError, ItemError
from likewise.model.read import read
from likewise.prove.labelled import Labelled, read_labelled
from likewise.run.items import fingerprint, save_items, taken
from likewise.run.ported import is_ported
from likewise.settings import Settings
from likewise.tasks._pick import pick
from likewise.types import Item, Model, Probe, Row, Task

__all__ = ["Subject", "draw", "open_subject", "stored"]


@dataclass(frozen=True, eq=False)
class Subject:
    """One model, its task, and the items that it is tried on."""

    model: Model
    task: Task
    probes: tuple[Probe, ...]
    said: str  # where the probes come from
    settings: Settings
    labelled: Labelled | None = None  # what the user knows the right answers of

    @property
    def items(self) -> list[Item]:
        """The probes' items, in order."""
        return [probe.item for probe in self.probes]


def open_subject(
    source: str | Path, *, items: Sequence[Item] | None, settings: Settings
) -> Subject:
    """Read the folder, pick its task, and draw the probes.

    Args:
        source: a model folder.
        items: the user's own; None draws ``settings.proof.items`` probes, and up to three more.
        settings: the proof's, and what the user states about the model.

    Raises:
        FolderError, TaskError: the folder cannot be read, or no task fits.
        ItemError: the user's items are none at all.
    """
    if is_ported(Path(source)) or is_ported(Path(source).parent):
        raise FolderError(
            f"{source} is what likewise port wrote, not a model folder.",
            found="it holds an export, and no weights for the references",
            fix="name the folder that it was ported from",
        )
    model = read(source, settings.model)
    task = pick(model, settings.model.task)
    proof = settings.proof
    labelled = read_labelled(proof.labelled, task) if proof.labelled else None
    if items is not None:
        if not len(items):
            raise ItemError("There are no items to prove on.", fix="a file with at least one line")
        own = tuple(Probe(item, "own") for item in taken(items, task.takes))
        return Subject(model, task, own, "the user's own items", settings, labelled)
    # Three over a multiple of four: no batch of 4, 8, 16 … divides that, and the last, partial
    # batch holds several items. Some runtimes go wrong there (fault S05).
    drawn = draw(task, proof.items | 3, proof.seed)
    said = f"built-in {task.takes} probes, seed {proof.seed}"
    return Subject(model, task, drawn, said, settings, labelled)


def draw(task: Task, count: int, seed: int) -> tuple[Probe, ...]:
    """Return ``count`` probes that this task reads as different; fewer if there are no more.

    Items that become the same tokens (white space, unknown words) are one item: they would count
    twice, and among equal neighbours a mix-up cannot be seen.
    """
    more = find.load("probes", task.takes).probes(count + count // 4, seed, task.hints())
    rows = task.encode([probe.item for probe in more])
    distinct: dict[str, Probe] = {}
    for place, (probe, row) in enumerate(zip(more, rows, strict=True)):
        distinct.setdefault(_content(row) or f"unreadable {place}", probe)
    return tuple(distinct.values())[:count]


def _content(row: Row) -> str:
    """Return a digest of an encoded item; "" if it could not be encoded."""
    if row.problem is not None:
        return ""
    digest = hashlib.sha256()
    for name, array in sorted(row.arrays.items()):
        digest.update(f"{name} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def stored(items: Sequence[Item]) -> Path:
    """Return the folder that holds the items for a child process."""
    return cache.build("items", fingerprint(items), lambda folder: save_items(items, folder))
