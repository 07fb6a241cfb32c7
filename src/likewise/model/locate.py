"""What a person typed for MODEL, in; the folder it means, out."""

from __future__ import annotations

import os
from pathlib import Path

from likewise.errors import FolderError
from likewise.model.fetch import fetch, reason_against
from likewise.model.files import optional_json, show
from likewise.model.hub import Name, cached, parse_name, unfinished

__all__ = ["locate"]


def locate(source: str | Path) -> Path:
    """Return the absolute path of a folder that is there and not empty.

    A path that is there goes first; else the caches of the hubs are asked, and at last the hub.

    Args:
        source: a model folder, one that ``likewise port`` wrote, or a hub name: org/name,
            org/name@revision, hf:…, ms:…, om:….

    Raises:
        FolderError: there is no such folder or name, it is a file, it is empty, it cannot be
            read, or its download was broken off.
    """
    if not isinstance(source, str | os.PathLike):
        raise FolderError(
            "The name of the model folder is no text or path.", found=type(source).__name__
        )
    if str(source).strip() == "":
        raise FolderError("The name of the model folder is empty.", fix="name a model folder")
    try:
        folder = Path(source).expanduser()
        if not folder.exists():
            return _from_hub(str(source), folder).resolve()
        if not folder.is_dir():
            raise FolderError(
                f"{folder} is a file; a model is a folder.",
                found=f"a file of {folder.stat().st_size:,} bytes",
                fix=f"name its folder: {folder.resolve().parent}",
            )
        if not any(folder.iterdir()):
            raise FolderError(
                f"The model folder {folder} is empty.",
                found="no files",
                fix="download the model into it again, or name another folder",
            )
    except RuntimeError as error:  # ~somebody who is not there
        raise FolderError(f"There is no folder {source}.", found=str(error)) from None
    except OSError as error:
        raise FolderError(
            f"The model folder {source} cannot be read.", found=error.strerror or str(error)
        ) from None
    return folder.resolve()


def _from_hub(typed: str, folder: Path) -> Path:
    """Return what a hub's cache holds of a name, or fetch it; refuse what is only half there."""
    name = parse_name(typed)
    if name is None:
        raise _missing(folder)
    there = cached(name)
    for candidate in there:
        if _is_whole(candidate):
            return candidate
    reason, fix = _not_fetched(name)
    if not reason:
        return fetch(name)
    if there:
        left = unfinished(there[0])
        raise FolderError(
            f"{there[0]} was not downloaded to its end.",
            found=f"unfinished: {show(left)}; {reason}" if left else f"no weights; {reason}",
            fix=fix or "download it again, with the hub's own client",
        )
    raise _missing(folder, f"; no cache of a hub holds {name}, and {reason}", fix)


def _not_fetched(name: Name) -> tuple[str, str]:
    """Return why a name is not fetched, and what to type; a mistyped path is not sent to a hub."""
    owner, _, _ = name.name.rpartition("/")
    if not name.hub and not owner:
        return "a name without an owner is not fetched", f"hf:{name}, to fetch it all the same"
    if not name.hub and Path(owner).is_dir():
        return f"{owner} is a folder here, so nothing is fetched", f"hf:{name}, if a hub is meant"
    return reason_against(name)


def _is_whole(folder: Path) -> bool:
    """Tell whether weights are there, with every shard, and no link leads nowhere."""
    for index in folder.glob("*.index.json"):
        named = set(optional_json(index).get("weight_map", {}).values())
        if not all((folder / str(name)).is_file() for name in named):
            return False
    patterns = ("*.safetensors", "*/*.safetensors", "pytorch_model*.bin", "*/pytorch_model*.bin")
    return not any(p.is_symlink() and not p.exists() for p in folder.rglob("*")) and any(
        path.is_file() for pattern in patterns for path in folder.glob(pattern)
    )


def _missing(folder: Path, more: str = "", fix: str = "") -> FolderError:
    parent = folder.resolve().parent
    if not parent.is_dir():
        found = f"{parent} is not there either"
    else:
        beside = sorted(path.name for path in parent.iterdir() if path.is_dir())
        close = [name for name in beside if name.lower() == folder.name.lower()]
        found = f"{parent} holds {close[0]!r}" if close else f"{parent} does not hold it"
    return FolderError(
        f"There is no folder {folder}.",
        found=found + more,
        fix=fix or "check the path; a model on a hub is named org/name",
    )
