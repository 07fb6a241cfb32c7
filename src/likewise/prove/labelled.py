"""A file of labelled items and a task, in; the items, and what is right about each, out."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from likewise.errors import ItemError
from likewise.types import Item, Json, Task

__all__ = ["Labelled", "read_labelled"]

_TEXT = ("text", "sentence", "sentence1", "premise", "question")
_PAIR = ("text_pair", "sentence2", "hypothesis")
_LABEL = ("label", "labels", "target", "score")
_DIALECTS = {".csv": ",", ".tsv": "\t"}


@dataclass(frozen=True)
class Labelled:
    """Items with what is right about them."""

    items: tuple[Item, ...]  # of N; for vectors the first texts of all pairs, then the second
    gold: tuple[float, ...]  # (N,) indices of labels or tokens; scores for vectors


def read_labelled(file: str | Path, task: Task) -> Labelled:
    """Read labelled items as data sets have them: JSON lines, CSV or TSV with a header.

    Columns: ``text`` (or ``sentence``, ``sentence1``, ``premise``, ``question``), for a pair also
    ``text_pair`` (``sentence2``, ``hypothesis``), for pictures ``image``; and ``label``. A label is
    a name, an index, or an index as text; of a fill-mask model the word; of an embedder the
    ``score`` of a pair.

    Raises:
        ItemError: the file cannot be read, a column is missing, or a label is none of the model's.
    """
    path = Path(file)
    rows = list(_rows(path))
    if not rows:
        raise ItemError(f"{path} holds no items.", fix="one JSON object, or one row, an item")
    items: list[Item] = []
    pairs: list[Item] = []
    gold: list[float] = []
    for number, row in enumerate(rows, 1):
        where = f"row {number} of {path}"
        item = _item(row, task, where, path.parent)
        if task.name == "embed":
            pairs.append(item[1])
            item = item[0]
        items.append(item)
        gold.append(_gold(_column(row, _LABEL, where), task, where))
    return Labelled((*items, *pairs), tuple(gold))


def _rows(path: Path) -> Iterator[Mapping[str, Json]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix in _DIALECTS:
            yield from csv.DictReader(io.StringIO(text), delimiter=_DIALECTS[path.suffix])
            return
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise ItemError(f"Line {number} of {path} is no object.", fix='{"text": …}')
                yield row
    except OSError as error:
        raise ItemError(f"{path} cannot be read.", found=error.strerror or str(error)) from None
    except (UnicodeDecodeError, json.JSONDecodeError, csv.Error) as error:
        raise ItemError(
            f"{path} is not a list of labelled items.",
            found=str(error),
            fix='JSON lines, as in {"text": "good", "label": "positive"}; or .csv, .tsv',
        ) from None


def _column(row: Mapping[str, Json], names: tuple[str, ...], where: str) -> Json:
    name = next((n for n in names if row.get(n) is not None), None)
    if name is None:
        raise ItemError(
            f"{where.capitalize()} has no {names[0]}.",
            found=", ".join(map(str, row)),
            fix=f"a column of one of the names {', '.join(names)}",
        )
    return row[name]


def _item(row: Mapping[str, Json], task: Task, where: str, folder: Path) -> Item:
    if task.takes == "picture":
        return folder / str(_column(row, ("image", "file", "path"), where))
    text = str(_column(row, _TEXT, where))
    if task.name == "embed":
        return text, str(_column(row, _PAIR, where))
    paired = task.name == "classify" and any(row.get(name) is not None for name in _PAIR)
    return (text, str(_column(row, _PAIR, where))) if paired else text


def _gold(stated: Json, task: Task, where: str) -> float:
    if task.name == "embed":
        return _number(stated, where)
    if task.name == "fillmask":
        return _token(str(stated), task, where)
    labels = [str(label) for label in task.facts().get("labels") or ()]
    if str(stated) in labels:
        return float(labels.index(str(stated)))
    index = _number(stated, where, labels)
    if not index.is_integer() or (labels and not 0 <= index < len(labels)):
        raise _unknown(stated, where, labels)
    return index


def _number(stated: Json, where: str, labels: list[str] | None = None) -> float:
    try:
        return float(stated)
    except (TypeError, ValueError):
        raise _unknown(stated, where, labels or []) from None


def _token(word: str, task: Any, where: str) -> float:
    tokenizer = task.texts.vocabulary.tokenizer
    spellings = [word, f"Ġ{word}", f"▁{word}", word.lower()]
    found = next((i for s in spellings if (i := tokenizer.token_to_id(s)) is not None), None)
    if found is None:
        raise ItemError(
            f"{where.capitalize()} has a label that is no token of the model.", found=repr(word)
        )
    return float(found)


def _unknown(stated: Json, where: str, labels: list[str]) -> ItemError:
    some = ", ".join(labels[:8]) + (" …" if len(labels) > 8 else "")
    return ItemError(
        f"{where.capitalize()} has a label that the model does not know.",
        found=repr(stated),
        fix=f"one of: {some}; or its index" if labels else "a number",
    )
