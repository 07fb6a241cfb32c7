"""Free-form JSON of the record in; labelled lines of text that a person can read, out."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from likewise.report import numbers
from likewise.report.words import Words
from likewise.types import Json

__all__ = ["Pairs", "answers", "pairs", "visible"]

Pairs: TypeAlias = tuple[tuple[str, str], ...]
"""Labels and values, in the order of showing."""

_MOST = 12  # parts of a list that are shown
_LONGEST = 400  # characters of a value that are shown
_DIGITS = 6  # of a fact
_FINER = (4, 6, 9, 12, 17)  # digits of two answers side by side: the fewest that tell them apart
_TURNING = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}


def visible(text: str) -> str:
    r"""Show what would be unseen, or would turn the text around it: control and bidi characters.

    >>> visible("tab\there, \x00, and \u202eback")
    'tab␉here, ␀, and \\u202eback'
    """
    return "".join(_shown(c) for c in text)


def pairs(facts: Mapping[str, Json], words: Words, *, without: tuple[str, ...] = ()) -> Pairs:
    """Flatten a mapping into labelled values; nested keys join with a middle dot.

    Keys that end in ``seconds`` or ``bytes`` carry their unit. Nothing is dropped in silence: a
    long list says how many more there are.

    >>> from likewise.report.words import words
    >>> pairs({"cpu": {"cores": 2, "avx": True}, "peak_bytes": 1048576}, words("en"))
    (('cpu · avx', 'yes'), ('cpu · cores', '2'), ('peak', '1 MiB'))
    """
    kept = {key: value for key, value in facts.items() if key not in without}
    return tuple(_flat("", kept, words))


def answers(
    reference: Json, candidate: Json, words: Words
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Spell two answers to one item, line by line, with the digits that tell them apart.

    >>> from likewise.report.words import words
    >>> one, other = [{"labels": [{"label": "Bull", "score": s}]} for s in (0.9123456, 0.9123461)]
    >>> answers(one, other, words("en"))
    (('Bull 0.9123456',), ('Bull 0.9123461',))
    >>> answers({"vector": [0.5, -0.25]}, {"vector": [0.5, -0.25]}, words("en"))[0]
    ('2 numbers: 0.5, -0.25',)
    """
    spelled = [[_lines(a, words, digits) for a in (reference, candidate)] for digits in _FINER]
    if len(spelled[0][0]) != len(spelled[0][1]):
        return spelled[1][0], spelled[1][1]
    pairs = [
        next((pair for pair in finer if pair[0] != pair[1]), finer[0])
        for finer in zip(*(zip(*both, strict=True) for both in spelled), strict=True)
    ]
    return tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs)


def _lines(value: Json, words: Words, digits: int) -> tuple[str, ...]:
    """Return one line per label, mask, vector or other part of an answer."""
    if not isinstance(value, Mapping):
        return (_cut(_spelled(value, words, digits)),)
    lines: list[str] = []
    for key, part in value.items():
        if key == "labels" and isinstance(part, list):
            lines += _scored(part, "label", words, digits)
        elif key == "masks" and isinstance(part, list):
            for n, mask in enumerate(part, 1):
                line = "; ".join(_scored(mask, "token", words, digits))
                lines.append(words["mask"].format(n=n, tokens=line))
        elif key in ("vector", "values") and isinstance(part, list):
            line = _listed(part, words, digits)
            lines.append(words["numbers"].format(n=f"{len(part):,}", numbers=line))
        else:
            lines.append(f"{_plain(key)}: {_spelled(part, words, digits)}")
    return tuple(_cut(line) for line in lines)


def _shown(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if code in _TURNING or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"):
        return f"\\u{code:04x}"
    return character


def _flat(label: str, value: Json, words: Words) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and (value or not label):
        for key in sorted(value):
            yield from _flat(f"{label} · {key}" if label else str(key), value[key], words)
    elif isinstance(value, list) and any(isinstance(part, Mapping) for part in value):
        for n, part in enumerate(value[:_MOST], 1):
            yield from _flat(f"{label} {n}", part, words)
        if len(value) > _MOST:
            yield _plain(label), words["more"].format(n=f"{len(value) - _MOST:,}")
    else:
        yield _with_unit(label, value, words)


def _with_unit(label: str, value: Json, words: Words) -> tuple[str, str]:
    last = label.rpartition(" ")[2]
    counts = isinstance(value, int | float) and not isinstance(value, bool)
    if counts and last.endswith("seconds"):
        return _plain(label.removesuffix("_seconds")), numbers.seconds(float(value))
    if counts and last.endswith("bytes"):
        return _plain(label.removesuffix("_bytes")), f"{numbers.mebibytes(value)} MiB"
    return _plain(label), _cut(_spelled(value, words))


def _spelled(value: Json, words: Words, digits: int = _DIGITS) -> str:
    if value is None or value in ("", {}, []):
        return numbers.MISSING
    if isinstance(value, bool):
        return words["yes"] if value else words["no"]
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, list):
        return _listed(value, words, digits)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _listed(values: list[Json], words: Words, digits: int) -> str:
    return ", ".join(_first(values, [_spelled(v, words, digits) for v in values[:_MOST]], words))


def _scored(parts: list[Json], name: str, words: Words, digits: int) -> list[str]:
    """Return ``label score`` of each part, best first, as the answer lists them."""
    lines = [
        f"{part.get(name)} {_spelled(part.get('score'), words, digits)}"
        if isinstance(part, Mapping)
        else _spelled(part, words, digits)
        for part in parts[:_MOST]
    ]
    return _first(parts, lines, words)


def _first(values: list[Json], shown: list[str], words: Words) -> list[str]:
    """Return what is shown, and how many more there are."""
    more = len(values) - len(shown)
    return [*shown, words["more"].format(n=f"{more:,}")] if more > 0 else shown


def _plain(label: str) -> str:
    return label.replace("_", " ")


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}… ({len(text):,})"
