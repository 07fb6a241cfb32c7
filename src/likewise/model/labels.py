"""A config in; the labels by index, the problem type, and what is odd about them, out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from likewise.errors import FolderError
from likewise.model.files import show

__all__ = ["PROBLEM_TYPES", "check_problem_type", "label_name", "problem_type", "read_labels"]

PROBLEM_TYPES = ("regression", "single_label_classification", "multi_label_classification")
_NUMBERED = re.compile(r"LABEL_\d+")


def read_labels(
    config: Mapping[str, Any], classes: int | None, file: Path
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the labels by index, and warnings.

    Args:
        config: the content of config.json.
        classes: rows of the trained classifier; None where the weights do not tell.
        file: config.json, for messages.

    Raises:
        FolderError: the indices are not 0 … C-1, or C is not what the weights have.
    """
    stated = config.get("id2label")
    labels = _by_index(stated, file) if stated else ()
    inverted = () if labels else _inverted(config.get("label2id"), classes)
    if inverted:
        return inverted, ("no id2label in config.json: the names are taken from label2id",)
    if not labels:
        count = classes if classes is not None else int(config.get("num_labels") or 2)
        labels = tuple(f"LABEL_{index}" for index in range(count))
    if classes is not None and len(labels) != classes:
        raise FolderError(
            f"{file} names {len(labels)} label(s) and the weights have {classes}.",
            found=f"labels: {show(labels)}",
            fix="correct id2label in config.json, or state the labels: --labels",
        )
    return labels, _oddities(labels, config.get("label2id"))


def problem_type(config: Mapping[str, Any], file: Path) -> str:
    """Return the problem type that the config states; "" where it does not.

    Raises:
        FolderError: it states one that there is not.
    """
    stated = config.get("problem_type")
    return "" if stated is None else check_problem_type(stated, f"{file}")


def check_problem_type(stated: object, where: str) -> str:
    """Return a problem type unchanged.

    Raises:
        FolderError: there is no such problem type.
    """
    if stated not in PROBLEM_TYPES:
        raise FolderError(
            f"{where} states a problem_type that there is not.",
            found=f"{stated!r}",
            fix=f"one of: {', '.join(PROBLEM_TYPES)}",
        )
    return str(stated)


def _by_index(stated: Any, file: Path) -> tuple[str, ...]:
    pairs = dict(enumerate(stated)) if isinstance(stated, list) else stated
    try:
        by_index = {int(index): label_name(label, file) for index, label in pairs.items()}
    except (AttributeError, TypeError, ValueError):
        by_index = {}
    if not by_index or sorted(by_index) != list(range(len(pairs))):
        raise FolderError(
            f"{file} has an id2label that does not name the labels 0, 1, 2 …",
            found=f"{stated}"[:200],
            fix='write it as {"0": "first", "1": "second"}',
        )
    return tuple(by_index[index] for index in range(len(by_index)))


def label_name(stated: object, file: Path) -> str:
    """Return a label's name; numbers are spelt out.

    Raises:
        FolderError: it is no text, or not valid Unicode.
    """
    label = str(stated) if isinstance(stated, str | int | float) else ""
    try:
        label.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        label = ""
    if not label.strip():
        raise FolderError(
            f"{file} has a label that is no name.",
            found=ascii(stated)[:200],
            fix="correct it, or state the labels: --labels",
        )
    return label


def _inverted(label2id: Any, classes: int | None) -> tuple[str, ...]:
    """Return the names that label2id alone gives; () where it does not number them from 0."""
    by_index = {str(i): name for name, i in label2id.items()} if isinstance(label2id, dict) else {}
    names = tuple(by_index.get(str(index), "") for index in range(len(by_index)))
    return names if names and all(names) and len(names) == (classes or len(names)) else ()


def _oddities(labels: tuple[str, ...], label2id: Any) -> tuple[str, ...]:
    found = []
    if all(_NUMBERED.fullmatch(label) for label in labels):
        found.append(f"the labels have no names ({show(labels)}): state them with --labels")
    twice = [label for label, count in Counter(labels).items() if count > 1]
    if twice:
        found.append(f"two labels have the same name: {show(twice)}; the index tells them apart")
    if isinstance(label2id, dict) and not twice:
        conflicts = [
            f"{label} is {index} by id2label and {label2id.get(label)} by label2id"
            for index, label in enumerate(labels)
            if label in label2id and str(label2id[label]) != str(index)
        ]
        unknown = sorted(str(label) for label in set(label2id) - set(labels))
        if conflicts or (unknown and labels):
            said = show(conflicts) or f"label2id also names {show(unknown)}"
            found.append(f"id2label and label2id conflict: {said}; id2label is used")
    return tuple(found)
