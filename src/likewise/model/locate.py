"""What a person typed for MODEL, in; the folder it means, out."""

from __future__ import annotations

from pathlib import Path

from likewise.errors import FolderError

__all__ = ["locate"]


def locate(source: str | Path) -> Path:
    """Return the absolute path of a folder that is there and not empty.

    Args:
        source: a model folder, or one that ``likewise port`` wrote.

    Raises:
        FolderError: there is no such folder, it is a file, it is empty, or it cannot be read.
    """
    folder = Path(source).expanduser()
    try:
        if not folder.exists():
            raise _missing(source, folder)
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
    except OSError as error:
        raise FolderError(
            f"The model folder {folder} cannot be read.", found=error.strerror or str(error)
        ) from None
    return folder.resolve()


def _missing(source: str | Path, folder: Path) -> FolderError:
    if str(source).strip() == "":
        return FolderError("The name of the model folder is empty.", fix="likewise inspect FOLDER")
    parent = folder.resolve().parent
    beside = sorted(p.name for p in parent.iterdir() if p.is_dir()) if parent.is_dir() else []
    close = [name for name in beside if name.lower() == folder.name.lower()]
    return FolderError(
        f"There is no folder {folder}.",
        found=f"{parent} holds {close[0]!r}" if close else f"{parent} does not hold it"
        if parent.is_dir()
        else f"{parent} is not there either",
        fix="likewise reads folders on this machine: download the model first, then name its folder",
    )
