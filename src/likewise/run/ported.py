"""A folder that ``port`` wrote, in; which plans it holds proof of, and the one to run, out.

``DIR/model/ported.json`` is all that running needs of a report: task, overrides, the plans that
passed (fastest first), and the size and sha256 of every file beside it.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from likewise.cache import SMALL_BYTES, file_facts, file_stamp
from likewise.errors import FolderError, RefusedError
from likewise.settings import Overrides
from likewise.types import Plan

__all__ = ["Ported", "Proven", "is_ported", "pick_plan", "read_ported", "write_ported"]

MANIFEST = "ported.json"
SCHEMA = 1
HASHED_BYTES = 256 * 2**20  # hashing takes a second for every GiB, and first answers wait for it


@dataclass(frozen=True)
class Proven:
    """A plan that passed."""

    plan: str
    outcome: str
    needs: tuple[str, ...] = ()  # packages that running it takes, as Python imports them
    items_per_second: float | None = None


@dataclass(frozen=True)
class Ported:
    """What a ported folder says of itself."""

    schema: int
    likewise: str
    task: str
    fingerprint: str  # of the model it was made from
    overrides: Overrides = field(default_factory=Overrides)
    proven: tuple[Proven, ...] = ()  # fastest first
    judged: tuple[str, ...] = ()  # plans that were tried and did not pass
    files: dict[str, tuple[int, str]] = field(default_factory=dict)  # name → size, sha256
    stamps: dict[str, list[int]] = field(default_factory=dict)  # of large files, as written here


def is_ported(folder: Path) -> bool:
    """Tell whether ``likewise port`` wrote this folder."""
    return (folder / "model" / MANIFEST).is_file()


def write_ported(ported: Ported, folder: Path) -> None:
    """Write the manifest, with the size and sha256 of every file now in ``folder/model``."""
    model = folder / "model"
    files = {
        str(p.relative_to(model).as_posix()): _facts(p)
        for p in sorted(model.rglob("*"))
        if p.is_file() and p.name != MANIFEST
    }
    large = [name for name, (size, _) in files.items() if size > SMALL_BYTES]
    stamps = {name: file_stamp(model / name) for name in large}
    body = msgspec.json.encode(replace(ported, files=files, stamps=stamps))
    part = model / (MANIFEST + ".part")
    part.write_bytes(msgspec.json.format(body, indent=2))
    part.replace(model / MANIFEST)


def read_ported(folder: Path) -> Ported:
    """Read the manifest, and check that every file is the one that was proven.

    Files up to 256 MiB are checked by their sha256, larger ones by their size; a large file that
    still lies where ``port`` wrote it, by inode and times, is the same.

    Raises:
        FolderError: the manifest is unreadable or newer than this likewise, or a file is missing,
            is not the one that was proven, or was not there then.
    """
    path = folder / "model" / MANIFEST
    again = f"port it again: likewise port MODEL -o {folder}"
    try:
        ported = msgspec.json.decode(path.read_bytes(), type=Ported)
    except (OSError, msgspec.DecodeError) as error:
        raise FolderError(f"{path} cannot be read.", found=str(error), fix=again) from None
    if ported.schema > SCHEMA:
        raise FolderError(
            f"{folder} was written by a newer likewise.",
            found=f"schema {ported.schema}; this one reads up to {SCHEMA}",
            fix="pip install --upgrade likewise",
        )
    _check(folder / "model", ported, again)
    return ported


def _check(model: Path, ported: Ported, again: str) -> None:
    there = {p.relative_to(model).as_posix() for p in model.rglob("*") if p.is_file()}
    for name in sorted(there | set(ported.files)):
        file = model / name
        stamp = ported.stamps.get(name)
        if name == MANIFEST or (stamp and file.is_file() and stamp == file_stamp(file)):
            continue
        found = _strange(file, ported.files.get(name))
        if found:
            raise FolderError(
                f"{model / name} is not the file that was proven.", found=found, fix=again
            )


def _strange(file: Path, proven: tuple[int, str] | None) -> str:
    """Say what is off about a file of a ported folder, or ""."""
    if proven is None:
        return "it was not there when the plans were proven"
    if not file.is_file():
        return "it is missing"
    size, sha256 = file.stat().st_size, proven[1]
    if size != proven[0]:
        return f"{size} bytes where there were {proven[0]}"
    changed = size <= HASHED_BYTES and file_facts(file)["sha256"] != sha256
    return "its contents have changed" if changed else ""


def pick_plan(
    ported: Ported, plan: Plan | None = None, *, device: str = "auto", unproven: bool = False
) -> tuple[Plan, str]:
    """Return the plan to run, and a sentence to say aloud if it is not simply the chosen one.

    Args:
        ported: the folder's manifest.
        plan: the plan asked for; None takes the fastest proven plan that can run here.
        device: ``auto``, or the device the plan must be on.
        unproven: run the plan asked for though the folder holds no proof of it.

    Raises:
        RefusedError: nothing proven can run here, or the plan asked for was not proven.
    """
    proven = [p for p in ported.proven if device == "auto" or Plan.parse(p.plan).device == device]
    if plan is not None:
        if str(plan) in {p.plan for p in ported.proven}:
            return plan, ""
        if unproven:
            return plan, f"{plan} is not proven for this folder; run because of --unproven"
        raise _refusal(ported, f"{plan} is not proven to run from this folder.")
    if not proven:
        where = "" if device == "auto" else f" on {device}"
        raise _refusal(ported, f"This folder holds no proven plan{where}.")
    for place, candidate in enumerate(proven):
        if not _missing(candidate):
            said = "" if place == 0 else _substitute(proven[0], candidate)
            return Plan.parse(candidate.plan), said
    raise _refusal(
        ported, f"None of the proven plans can run here: {', '.join(p.plan for p in proven)}."
    )


def _missing(proven: Proven) -> list[str]:
    return [name for name in proven.needs if importlib.util.find_spec(name) is None]


def _substitute(chosen: Proven, runs: Proven) -> str:
    return (
        f"{chosen.plan} was chosen, but {', '.join(_missing(chosen))} is not here; "
        f"running {runs.plan}, proven {runs.outcome} in the same report"
    )


def _refusal(ported: Ported, what: str) -> RefusedError:
    proven = ", ".join(p.plan for p in ported.proven) or "none"
    return RefusedError(
        what,
        found=f"proven: {proven}"
        + (f"; not passed: {', '.join(ported.judged)}" * bool(ported.judged)),
        fix="likewise port MODEL --on PLAN -o DIR proves a plan; --unproven runs without proof",
    )


def _facts(file: Path) -> tuple[int, str]:
    facts = file_facts(file)
    return facts["size"], facts["sha256"]
