"""A tokenizer and token ids in; texts that are read as these ids, packed into few, out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["Read", "sweep", "wanted"]

Read = Callable[[Sequence[str]], "list[set[int]]"]
"""Texts in, the ids that the model is given for each, after every cut, out."""

_BEFORE = ("", "a", "q", "z", "1", "é", "и", "の")
"""What may stand before a piece, so that it is read from inside a word."""
_SIGNS = (
    *range(0x800), 0x803, *(lead << 12 | 3 for lead in range(1, 0x10)),
    0x1F603, 0x40003, 0x80003, 0xC0003, 0x100003,
)  # fmt: skip
"""Characters that together have every byte of UTF-8: some vocabularies hold single bytes."""
_ROUNDS = 2  # what a first packing loses at its limits is packed once more, into shorter texts


def wanted(tokenizer: Tokenizer, most: int, seed: int) -> tuple[list[int], int]:
    """Return up to ``most`` ids, drawn by the seed where there are more, and how many there are.

    Special tokens are no text's: the task puts them into every one.
    """
    special = {i for i, token in tokenizer.get_added_tokens_decoder().items() if token.special}
    every = sorted(set(tokenizer.get_vocab(with_added_tokens=True).values()) - special)
    if len(every) <= most:
        return every, len(every)
    return sorted(Random(f"{seed} sweep").sample(every, most)), len(every)


def sweep(
    tokenizer: Tokenizer, ids: Sequence[int], room: int, *, read: Read, seed: int
) -> tuple[list[str], set[int]]:
    """Return texts of about ``room`` tokens, and which of the ids are read from them.

    Some ids are of no text: [unused7], half of a letter. They are left out.

    Args:
        tokenizer: of the model.
        ids: to be read at least once each.
        room: tokens of a text, special ones apart.
        read: what the model is given for a text in the end.
        seed: of the order.
    """
    units = _units(tokenizer, ids)
    order = Random(f"{seed} order").sample(sorted(units), len(units))
    texts: list[str] = []
    found: set[int] = set()
    reachable = set(units)
    for round_ in range(_ROUNDS):
        left = [index for index in order if index not in found]
        packed = list(_packed(left, units, max(1, room >> round_)))
        for text, seen in zip(packed, read(packed), strict=True):
            fresh = (seen & reachable) - found
            if fresh:
                texts.append(text)
                found |= fresh
    return texts, found & set(ids)


def _units(tokenizer: Tokenizer, ids: Sequence[int]) -> dict[int, tuple[str, int]]:
    """Return a text that is read as each id, with its tokens; ids that none was found for miss."""
    units: dict[int, tuple[str, int]] = {}
    left = set(ids)

    def take(texts: Sequence[str]) -> None:
        encodings = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        for text, encoding in zip(texts, encodings, strict=True):
            for index in left.intersection(encoding.ids):
                left.discard(index)
                units[index] = text, len(encoding.ids)

    for before in _BEFORE:
        opening = tokenizer.encode(before, add_special_tokens=False).ids if before else []
        pieces = tokenizer.decode_batch(
            [[*opening, index] for index in sorted(left)], skip_special_tokens=False
        )
        take([f" {piece.strip()}" for piece in pieces])
    take([f" {chr(sign)}" for sign in _SIGNS])
    return units


def _packed(order: Sequence[int], units: Mapping[int, tuple[str, int]], room: int) -> Iterator[str]:
    """Yield the texts of these ids one after the other, as many as there is room for in each."""
    parts: list[str] = []
    used = 0
    for index in order:
        text, tokens = units[index]
        if parts and used + tokens > room:
            yield "".join(parts)
            parts, used = [], 0
        parts.append(text)
        used += tokens
    if parts:
        yield "".join(parts)
