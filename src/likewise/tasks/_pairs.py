"""Two texts that are judged together, in; one row of tokens that fits the model, out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.tasks._text import Cut, Texts, text_problem
from likewise.types import Item

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from likewise.types import Ints

__all__ = ["cut_pair", "read_pair", "shares"]

_MOST_READ = 1 << 18  # characters of each text; tokenising so many takes about 0.2 s
_NONE: Ints = np.zeros(0, dtype=np.int64)


def read_pair(item: Item) -> tuple[Item, Item] | None:
    """Return the two texts of a pair: a tuple, or {"text": …, "text_pair": …}; None for others."""
    if isinstance(item, dict) and set(item) == {"text", "text_pair"}:
        return item["text"], item["text_pair"]
    return item if isinstance(item, tuple) and len(item) == 2 else None


def cut_pair(texts: Texts, pair: tuple[Item, Item]) -> Cut:
    """Tokenise a pair, and take tokens off the longer text until both fit, as transformers does.

    The segment of the second text is 1 where the model has two (case B012).
    """
    for item in pair:
        problem = text_problem(item)
        if problem is not None:
            return Cut(_NONE, _NONE, problem=problem)
    tokenizer = texts.vocabulary.tokenizer
    left = texts.vocabulary.cut_left
    parts = [text[-_MOST_READ:] if left else text[:_MOST_READ] for text in map(str, pair)]
    ids = [tokenizer.encode(part, add_special_tokens=False).ids for part in parts]
    frame = _frame(tokenizer)
    room = texts.limit - sum(map(len, frame.specials))
    if room < 2:
        return Cut(_NONE, _NONE, problem=f"the limit of {texts.limit} has no room for two texts")
    counts = shares(len(ids[0]), len(ids[1]), room)
    kept = [_side(tokens, count, left=left) for tokens, count in zip(ids, counts, strict=True)]
    beyond = [
        token
        for tokens, count in zip(ids, counts, strict=True)
        for token in (tokens[: len(tokens) - count] if left else tokens[count:])
    ]
    read = sum(map(len, parts)) if any(len(str(i)) > _MOST_READ for i in pair) else None
    whole = [*frame.specials[0], *kept[0], *frame.specials[1], *kept[1], *frame.specials[2]]
    if not whole:
        return Cut(_NONE, _NONE, problem="the texts have no tokens")
    types = [
        *frame.types[0], *[frame.types[3][0]] * len(kept[0]), *frame.types[1],
        *[frame.types[3][1]] * len(kept[1]), *frame.types[2],
    ]  # fmt: skip
    cut = Cut(
        np.array(whole, dtype=np.int64),
        np.array(beyond, dtype=np.int64),
        read,
        segments=np.array(types, dtype=np.int64),
    )
    return texts.checked(cut, special=sum(map(len, frame.specials)))


def _side(tokens: list[int], count: int, *, left: bool) -> list[int]:
    return tokens[len(tokens) - count :] if left else tokens[:count]


@dataclass(frozen=True)
class _Frame:
    """What stands before, between and after two texts."""

    specials: tuple[list[int], list[int], list[int]]
    types: tuple[list[int], list[int], list[int], list[int]]  # of these, and of the two texts


def _frame(tokenizer: Tokenizer) -> _Frame:
    """Read the frame off two short texts; the tokenizer is shared and stays as it is."""
    whole = next(
        e for e in (tokenizer.encode(x, x) for x in "a1A的") if {0, 1} <= {*e.sequence_ids}
    )
    owners = whole.sequence_ids
    first, second = owners.index(0), owners.index(1)
    end_first = len(owners) - 1 - owners[::-1].index(0)
    end_second = len(owners) - 1 - owners[::-1].index(1)
    spans = ((0, first), (end_first + 1, second), (end_second + 1, len(owners)))
    ids, kinds = whole.ids, whole.type_ids
    specials = tuple(ids[start:end] for start, end in spans)
    types = tuple(kinds[start:end] for start, end in spans)
    return _Frame(
        (specials[0], specials[1], specials[2]),
        (types[0], types[1], types[2], [kinds[first], kinds[second]]),
    )


def shares(first: int, second: int, room: int) -> tuple[int, int]:
    """Return how many tokens of each text are kept: the longer gives first.

    Source: the strategy ``longest_first`` of the tokenizers package.

    >>> shares(100, 10, 40)
    (30, 10)
    >>> shares(100, 100, 41)
    (20, 21)
    """
    if first + second <= room:
        return first, second
    short, long = sorted((first, second))
    long = long if short > room else max(short, room - short)
    if short + long > room:
        short = room // 2
        long = short + room % 2
    return (short, long) if first <= second else (long, short)
