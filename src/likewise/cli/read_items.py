"""Flags that name texts, a file or pictures, in; the items, out. No silent loss of a line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from likewise.errors import ItemError
from likewise.types import Item

__all__ = ["own_items", "read_items", "read_lines"]


def read_items(
    texts: list[str], file: Path | None, images: list[Path], *, pairs: Sequence[str] = ()
) -> list[Item]:
    """Return texts, or the lines of a file, or the paths of pictures: one kind at a time.

    With ``pairs``, each text and its second text become one item.

    A picture that cannot be opened is that row's problem, and said in its place.

    Raises:
        ItemError: nothing was given, or two kinds at once, or the file of texts is not there.
    """
    given = [
        name for name, there in (("--text", texts), ("--file", file), ("--image", images)) if there
    ]
    if len(given) != 1:
        raise ItemError(
            "One kind of input is wanted.",
            found=" and ".join(given) or "none",
            fix="--text TEXT (repeatable), --file LINES.txt, or --image PICTURE (repeatable)",
        )
    if pairs and len(pairs) != len(texts):
        raise ItemError(
            "Each --pair is the second text of one --text.",
            found=f"{len(texts)} --text, {len(pairs)} --pair",
            fix="--text FIRST --pair SECOND, as often as there are pairs",
        )
    if pairs:
        return list(zip(texts, pairs, strict=True))
    if file is not None:
        return list(read_lines(file))
    return list(texts) or list(images)


def own_items(file: Path | None, images: list[Path]) -> list[Item] | None:
    """Return the items of a proof or a timing; None where probes are to be made.

    Raises:
        ItemError: as in ``read_items``, or a picture is not there.
    """
    if file is None and not images:
        return None
    for image in images:
        if not image.is_file():
            raise ItemError(f"There is no picture {image}.", fix="check the path")
    return read_items([], file, images)


def read_lines(file: Path) -> list[str]:
    r"""Return the lines of a UTF-8 file, one item each; ``-`` is standard input.

    A line ends with LF, CR LF or a lone CR; no \r reaches the model. A blank line is an empty
    text and keeps its number; a last line without an end counts. A byte-order mark is dropped.

    Raises:
        ItemError: the file is missing, empty, or not UTF-8.
    """
    try:
        content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ItemError(
            f"{file} is not UTF-8 text.",
            found=f"byte {error.start} cannot be read",
            fix="iconv -f ENCODING -t UTF-8 FILE",
        ) from None
    except OSError as error:
        raise ItemError(f"{file} cannot be read.", found=error.strerror or str(error)) from None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        raise ItemError(f"{file} holds no lines.", fix="one text a line")
    return lines
