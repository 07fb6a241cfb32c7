"""Two texts that are judged together, in; one row of tokens that fits the model, out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likewise.tasks._text import Cut, Texts, text_problem
from likewise.types import Item

if TYPE_CHECKING:
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
    parts = [str(item)[:_MOST_READ] for item in pair]
    first, second = (tokenizer.encode(part, add_special_tokens=False) for part in parts)
    room = texts.limit - tokenizer.num_special_tokens_to_add(True)
    if room < 2:
        return Cut(_NONE, _NONE, problem=f"the limit of {texts.limit} has no room for two texts")
    read = sum(map(len, parts)) if any(len(str(i)) > _MOST_READ for i in pair) else None
    one, two = shares(len(first), len(second), room)
    beyond = first.ids[one:] + second.ids[two:]
    side = "left" if texts.vocabulary.cut_left else "right"
    first.truncate(one, direction=side)
    second.truncate(two, direction=side)
    whole = tokenizer.post_process(first, second)
    cut = Cut(
        np.array(whole.ids, dtype=np.int64),
        np.array(beyond, dtype=np.int64),
        read,
        segments=np.array(whole.type_ids, dtype=np.int64),
    )
    return texts.checked(cut)


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
