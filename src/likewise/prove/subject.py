"""A model folder and settings in; what is to be proven, and on which items, out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from likewise import cache, find
from likewise.errors import FolderError, ItemError
from likewise.model.read import read
from likewise.prove.labelled import Labelled, read_labelled
from likewise.run.items import fingerprint, save_items, taken
from likewise.run.ported import is_ported
from likewise.settings import Settings
from likewise.tasks._pick import pick
from likewise.types import Item, Json, Model, Probe, Row, Task

__all__ = ["Subject", "contents", "draw", "open_subject", "probed", "stored"]


@dataclass(frozen=True, eq=False)
class Subject:
    """One model, its task, and the items that it is tried on."""

    model: Model
    task: Task
    probes: tuple[Probe, ...]
    said: str  # where the probes come from
    settings: Settings
    labelled: Labelled | None = None  # what the user knows the right answers of
    own: bool = False  # the probes are the user's own items
    added: Mapping[str, Json] = field(default_factory=dict)  # what a thorough proof added, by group

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
        items: the user's own; None draws as many probes as the effort says, and up to three more.
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
    settings = replace(settings, proof=settings.proof.settled())
    return probed(Subject(model, task, (), "", settings), items)


def probed(subject: Subject, items: Sequence[Item] | None) -> Subject:
    """Return a subject with its items: the user's own, or drawn ones; and with labelled ones.

    Raises:
        ItemError: the user's items are none at all, or labelled ones cannot be read.
    """
    task, proof = subject.task, subject.settings.proof
    labelled = read_labelled(proof.labelled, task) if proof.labelled else None
    if items is not None:
        if not len(items):
            raise ItemError("There are no items to prove on.", fix="a file with at least one line")
        own = tuple(Probe(item, "own") for item in taken(items, task.takes))
        said = "the user's own items"
        return replace(subject, probes=own, said=said, labelled=labelled, own=True)
    # Three over a multiple of four: no batch of 4, 8, 16 … divides that, and the last, partial
    # batch holds several items. Some runtimes go wrong there (fault S05).
    drawn = draw(task, proof.sized().items | 3, proof.seed)
    said = f"built-in {task.takes} probes, seed {proof.seed}"
    return replace(subject, probes=drawn, said=said, labelled=labelled)


def draw(task: Task, count: int, seed: int) -> tuple[Probe, ...]:
    """Return ``count`` probes that this task reads as different; fewer if there are no more.

    Items that become the same tokens (white space, unknown words) are one item: they would count
    twice, and among equal neighbours a mix-up cannot be seen.
    """
    more = find.load("probes", task.takes).probes(count + count // 4, seed, task.hints())
    distinct: dict[str, Probe] = {}
    for place, content in enumerate(contents(task, [probe.item for probe in more])):
        distinct.setdefault(content or f"unreadable {place}", more[place])
    return tuple(distinct.values())[:count]


def contents(task: Task, items: Sequence[Item]) -> list[str]:
    """Return of each item a digest of what the model is given; "" where it cannot be read."""
    return [_content(row) for row in task.encode(items)]


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
