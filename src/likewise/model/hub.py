"""A hub name in; the folder that a hub's own client has cached for it, without network, out.

Names are ``org/name[@revision]``, with ``hf:``, ``ms:`` or ``om:`` before them to ask one hub
only: Hugging Face, ModelScope, openMind. Each keeps its files in its own cache and layout, which
its own environment variables move; likewise reads them where they lie.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["HUBS", "Name", "cached", "origin", "parse_name", "unfinished"]

HUBS = {"hf": "Hugging Face", "ms": "ModelScope", "om": "openMind"}
_LONG = {"huggingface": "hf", "modelscope": "ms", "openmind": "om"}
_NAME = re.compile(
    r"(?:(?P<hub>[a-z]+):)?(?P<name>\w[\w.-]*(?:/\w[\w.-]*)?)(?:@(?P<revision>[\w./-]+))?"
)
_SNAPSHOT = re.compile(r"models--(?P<name>[^/]+)/snapshots/(?P<revision>[^/]+)")


@dataclass(frozen=True)
class Name:
    """A model on a hub."""

    name: str  # org/name, or a name alone
    revision: str = ""  # a commit, branch or tag; "" for the hub's default
    hub: str = ""  # one of HUBS; "" for any

    def __str__(self) -> str:
        hub = f"{self.hub}:" if self.hub else ""
        return f"{hub}{self.name}" + (f"@{self.revision}" if self.revision else "")


def parse_name(text: str) -> Name | None:
    """Read a hub name; None where the text can only be a path.

    >>> parse_name("hf:org/name@main")
    Name(name='org/name', revision='main', hub='hf')
    >>> parse_name("./folder") is None
    True
    """
    found = _NAME.fullmatch(text)
    if found is None or ".." in text or "--" in text:
        return None
    hub = found["hub"] or ""
    hub = _LONG.get(hub, hub)
    return Name(found["name"], found["revision"] or "", hub) if hub in ("", *HUBS) else None


def cached(name: Name) -> list[Path]:
    """Return the folders that caches hold for a name, Hugging Face's first."""
    hubs = (name.hub,) if name.hub else tuple(HUBS)
    folders = [folder for hub in hubs for folder in _PLACES[hub](name)]
    return [folder for folder in folders if folder.is_dir() and any(folder.iterdir())]


def origin(folder: Path) -> str:
    """Return hub, name and revision of a folder that lies in a hub's cache; "" elsewhere."""
    resolved = folder.resolve().as_posix()
    found = _SNAPSHOT.search(resolved)
    if found:
        hub = "om" if "/openmind/" in resolved else "hf"
        return f"{hub}:{found['name'].replace('--', '/')}@{found['revision']}"
    for base in sorted(_modelscope_roots(), key=lambda root: -len(root.parts)):  # inmost first
        if folder.resolve().is_relative_to(base.resolve()):
            inner = folder.resolve().relative_to(base.resolve()).parts
            if "snapshots" in inner:  # org--name/snapshots/revision
                revision = "/".join(inner[inner.index("snapshots") + 1 :])
                return f"ms:{inner[0].replace('--', '/')}@{revision}"
            if (folder / ".mv").is_file() or (folder / ".msc").is_file():  # left by the client
                name = "/".join(inner[:2]).replace("___", ".")
                return f"ms:{name}@{_modelscope_revision(folder)}"
    return ""


def unfinished(folder: Path) -> list[str]:
    """Return the files of a download that has not come to its end, in a cache or beside it."""
    found = [p for p in folder.rglob("*") if p.is_symlink() and not p.exists()]
    found += folder.rglob("*.incomplete")
    if folder.parent.name == "snapshots":
        found += folder.parent.parent.glob("blobs/*.incomplete")
    for base in _modelscope_roots():
        if folder.is_relative_to(base):
            found += (base / "._____temp" / folder.relative_to(base)).glob("*")
    if "._____temp" in folder.parts:
        found += [p for p in folder.iterdir() if p.is_file()]
    return sorted(path.name for path in found)


def _huggingface(name: Name) -> Iterator[Path]:
    home = os.environ.get("HF_HOME") or _cache_home() / "huggingface"
    root = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    yield from _snapshots(Path(root or Path(home) / "hub").expanduser(), name)


def _openmind(name: Name) -> Iterator[Path]:
    yield from _snapshots(_cache_home() / "openmind" / "hub", name)


def _snapshots(root: Path, name: Name) -> Iterator[Path]:
    """Yield the snapshot of a revision: by its reference, by its commit, or the only one."""
    folder = root / f"models--{name.name.replace('/', '--')}"
    reference = folder / "refs" / (name.revision or "main")
    if reference.is_file():
        yield folder / "snapshots" / reference.read_text(encoding="utf-8").strip()
    elif name.revision:
        yield folder / "snapshots" / name.revision
    elif (folder / "snapshots").is_dir():
        there = sorted(p for p in (folder / "snapshots").iterdir() if p.is_dir())
        yield from there if len(there) == 1 else ()


def _modelscope(name: Name) -> Iterator[Path]:
    """Yield where its clients, old and new, put a model: a dot in a name becomes ``___``."""
    owner, _, short = name.name.rpartition("/")
    for root in _modelscope_roots():
        for spelling in dict.fromkeys((short.replace(".", "___"), short)):
            folder = root / owner / spelling
            if not name.revision or _modelscope_revision(folder) == name.revision:
                yield folder
        snapshots = root / name.name.replace("/", "--") / "snapshots"
        yield snapshots / (name.revision or "master")


def _modelscope_roots() -> tuple[Path, ...]:
    told = os.environ.get("MODELSCOPE_CACHE")
    bases = [Path(told).expanduser()] if told else []
    home = Path.home() / ".cache" / "modelscope"
    bases += [home, home / "hub"]
    return tuple(root for base in bases for root in (base / "models", base, base / "hub"))


def _modelscope_revision(folder: Path) -> str:
    """Return what the client wrote down: ``Revision:master,CreatedAt:…``."""
    try:
        text = (folder / ".mv").read_text(encoding="utf-8")
    except OSError:
        return ""
    found = re.search(r"Revision:([^,\s]+)", text)
    return found[1] if found else ""


def _cache_home() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


_PLACES = {"hf": _huggingface, "ms": _modelscope, "om": _openmind}
