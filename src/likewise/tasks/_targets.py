"""Words that a fill-mask answer may be, in; the token of each, or why it is none, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from likewise.tasks._text import Texts

__all__ = ["Target", "find_targets"]


@dataclass(frozen=True)
class Target:
    """One word that was asked for."""

    word: str
    token: int | None  # its id; None where it is not one token
    reason: str = ""  # why it has no id


def find_targets(texts: Texts, words: Sequence[str]) -> tuple[Target, ...]:
    """Return the token of each word, as it stands after a space in a sentence."""
    return tuple(_find(texts, word) for word in dict.fromkeys(words))


def _find(texts: Texts, word: str) -> Target:
    tokenizer = texts.vocabulary.tokenizer
    pieces: list[int] = []
    for spelling in (f" {word}", word):
        pieces = tokenizer.encode(spelling, add_special_tokens=False).ids
        if len(pieces) == 1 and pieces[0] != tokenizer.token_to_id(texts.vocabulary.unk_token):
            return Target(word, int(pieces[0]))
    exact = tokenizer.token_to_id(word)
    if exact is not None:
        return Target(word, int(exact))
    shown = " ".join(str(tokenizer.id_to_token(piece)) for piece in pieces)
    return Target(word, None, f"not one token of this model: {shown or 'no token at all'}")
