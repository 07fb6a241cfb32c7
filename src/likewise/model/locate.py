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
    if str(source).strip() == "":
        raise FolderError("The name of the model folder is empty.", fix="name a model folder")
    folder = Path(source).expanduser()
    try:
        if not folder.exists():
            raise _missing(folder)
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


def _missing(folder: Path) -> FolderError:
    parent = folder.resolve().parent
    if not parent.is_dir():
        found = f"{parent} is not there either"
    else:
        beside = sorted(path.name for path in parent.iterdir() if path.is_dir())
        close = [name for name in beside if name.lower() == folder.name.lower()]
        found = f"{parent} holds {close[0]!r}" if close else f"{parent} does not hold it"
    return FolderError(
        f"There is no folder {folder}.",
        found=found,
        fix="download the model first, then name its folder: likewise reads this machine only",
    )
