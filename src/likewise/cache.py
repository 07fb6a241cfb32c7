"""A kind, a key and a way to make a thing, in; the folder that holds it, made once, out.

Entries live under the user's cache folder as ``KIND/HASH/``; ``manifest.json`` in each holds the
key and every file's size, sha256 and times. An entry is written to a temporary name, synced, and
renamed, so a reader sees all of it or none. A file that is not the one that was sealed, by its
inode and its times, or that is small, is hashed again before it is used.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from likewise.errors import LikewiseError

__all__ = [
    "SMALL_BYTES",
    "Entry",
    "build",
    "code",
    "entries",
    "file_facts",
    "file_stamp",
    "prune",
    "root",
    "verify",
]

_MANIFEST = "manifest.json"
_PARTIAL = ".partial-"
_LOCKS = ".locks"
SMALL_BYTES = 16 * 2**20
"""Files up to here are hashed at every use; larger ones if their inode or times have changed."""


@dataclass(frozen=True)
class Entry:
    """One derived artefact on disk."""

    kind: str
    key: str
    folder: Path
    size: int  # bytes, all files
    used_at: float  # seconds since the epoch: when it was last asked for
    problem: str | None = None  # why it cannot be used; None where nothing is known against it


def root() -> Path:
    """Return the folder of all derived artefacts; it may not exist yet."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("likewise"))


def build(kind: str, key: str, make: Callable[[Path], None]) -> Path:
    """Return the folder of an entry, making it first where it is not there.

    Concurrent callers wait for the one that builds. An entry whose files are missing or do not
    hold what was written is deleted, alone, and made again.

    Args:
        kind: a word: export, reference …
        key: everything the artefact depends on, spelt out; it is hashed into a folder name.
        make: fills the empty folder it is given; what it raises is passed on, and nothing is kept.

    Raises:
        LikewiseError: the cache folder cannot be written.
    """
    folder = _folder(kind, key)
    if _problem(folder) is None:
        with suppress(OSError):  # a cache that may only be read is good enough to read
            os.utime(folder / _MANIFEST)
        return folder
    with _lock(kind, folder.name):
        if _problem(folder) is None:  # another process made it meanwhile
            return folder
        if folder.exists():
            shutil.rmtree(folder)
        partial = Path(tempfile.mkdtemp(prefix=f"{_PARTIAL}{folder.name}-", dir=folder.parent))
        try:
            make(partial)
            _seal(partial, kind, key)
            partial.rename(folder)
            _sync(folder.parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return folder


def entries() -> list[Entry]:
    """List what is there, checked as ``build`` checks it, and what killed processes left."""
    return [*(_read(folder) for folder in _folders()), *_left()]


def verify() -> list[Entry]:
    """List what is there with every file's sha256 computed anew; ``problem`` says what is off."""
    return [_read(folder, every=True) for folder in _folders()]


def prune(*, days: float = 30.0) -> list[Entry]:
    """Delete entries that are damaged or were not used for so many days; return them.

    What killed processes have left behind goes too: unfinished entries that nobody builds any
    more, and scratch folders that are a day old.

    Args:
        days: 0 deletes every entry.
    """
    now, gone = time.time(), []
    for entry in (*verify(), *_left()):
        if entry.problem is None and now - entry.used_at < days * 86_400:
            continue
        with _lock(entry.kind, _name(entry.folder)):
            shutil.rmtree(entry.folder, ignore_errors=True)
        gone.append(entry)
    for scratch in Path(tempfile.gettempdir()).glob("likewise-*-*"):
        if now - scratch.stat().st_mtime > 86_400:
            shutil.rmtree(scratch, ignore_errors=True)
    return gone


def code(*names: str) -> str:
    """Return a digest of likewise's own source: what a derived artefact was computed by.

    Args:
        names: files and folders under ``src/likewise``; of a folder, its Python files and limits,
            and those of the folders in it.
    """
    digest = hashlib.sha256()
    home = Path(__file__).parent
    for name in names:
        place = home / name
        found = sorted(f for f in place.rglob("*") if f.suffix in (".py", ".toml"))
        for file in found or [place]:
            digest.update(file.relative_to(home).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def file_facts(file: Path) -> dict[str, Any]:
    """Return {"size": bytes, "sha256": hexadecimal} of a file."""
    with file.open("rb") as stream:
        digest = hashlib.sha256()
        while block := stream.read(1 << 20):
            digest.update(block)
    return {"size": file.stat().st_size, "sha256": digest.hexdigest()}


def _folder(kind: str, key: str) -> Path:
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", kind):
        raise LikewiseError(f"{kind!r} is no kind of cache entry.", fix="a lower-case word")
    return root() / kind / hashlib.sha256(key.encode()).hexdigest()[:24]


def _folders() -> list[Path]:
    return sorted(p for p in root().glob("[a-z]*/*") if p.is_dir() and p.name[0] != ".")


def _name(folder: Path) -> str:
    """Return an entry's name; an unfinished one has its entry's."""
    return folder.name.removeprefix(_PARTIAL).partition("-")[0]


def _left() -> list[Entry]:
    """List unfinished entries whose lock is free: the process that built them is dead."""
    import filelock

    found = []
    for folder in sorted(root().glob(f"*/{_PARTIAL}*")):
        lock = filelock.FileLock(root() / _LOCKS / f"{folder.parent.name}-{_name(folder)}.lock")
        try:
            with lock.acquire(timeout=0):
                found.append(replace(_read(folder), problem="left by a process that was killed"))
        except (filelock.Timeout, OSError):  # it is being built
            continue
    return found


@contextmanager
def _lock(kind: str, name: str) -> Iterator[None]:
    import filelock

    try:
        (root() / kind).mkdir(parents=True, exist_ok=True)
        locks = root() / _LOCKS
        locks.mkdir(exist_ok=True)
        lock = filelock.FileLock(locks / f"{kind}-{name}.lock")
        lock.acquire()
    except OSError as error:
        raise LikewiseError(
            "The cache folder cannot be written.",
            found=f"{root()}: {error}",
            fix="free some space there, or point XDG_CACHE_HOME at a folder you may write",
        ) from None
    try:
        yield
    finally:
        lock.release()


def _seal(folder: Path, kind: str, key: str) -> None:
    files = {
        p.relative_to(folder).as_posix(): {**file_facts(p), "stamp": file_stamp(p)}
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }
    manifest = folder / _MANIFEST
    manifest.write_text(json.dumps({"kind": kind, "key": key, "files": files}, indent=1))
    for name in (*files, _MANIFEST):
        _sync(folder / name)
    _sync(folder)


def _sync(path: Path) -> None:
    """Wait until the file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def file_stamp(file: Path) -> list[int]:
    """Return what changes whenever a file is written, moved or replaced."""
    facts = file.stat()
    return [facts.st_ino, facts.st_mtime_ns, facts.st_ctime_ns]


def _problem(folder: Path, *, every: bool = False) -> str | None:
    """Return why an entry cannot be used, or None.

    ``every`` hashes every file, whatever its times say.
    """
    try:
        files = json.loads((folder / _MANIFEST).read_text())["files"]
    except FileNotFoundError:
        return "it has no manifest"
    except (OSError, ValueError, KeyError, TypeError):
        return "its manifest cannot be read"
    for name, facts in files.items():
        file = folder / name
        if not file.is_file():
            return f"{name} is missing"
        if file.stat().st_size != facts["size"]:
            return f"{name} has {file.stat().st_size} bytes where {facts['size']} were written"
        as_sealed = facts["size"] > SMALL_BYTES and facts.get("stamp") == file_stamp(file)
        if (every or not as_sealed) and file_facts(file)["sha256"] != facts["sha256"]:
            return f"{name} does not hold what was written"
    return None


def _read(folder: Path, *, every: bool = False) -> Entry:
    problem = _problem(folder, every=every)
    try:
        key = str(json.loads((folder / _MANIFEST).read_text())["key"])
        used_at = (folder / _MANIFEST).stat().st_mtime
    except (OSError, ValueError, KeyError, TypeError):
        key, used_at = "", folder.stat().st_mtime
    size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    return Entry(folder.parent.name, key, folder, size, used_at, problem)
