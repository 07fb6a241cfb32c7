"""A tokenizer in; words of its own language, each one token long, out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_CANDIDATES = 8192  # ids looked at, at most
_CHUNK = 1024  # of them at once: most vocabularies are two thirds whole words

__all__ = ["whole_words"]


def whole_words(tokenizer: Tokenizer, count: int = 400, *, seed: int = 0) -> list[str]:
    """Return up to ``count`` different words that the tokenizer keeps whole, drawn by ``seed``.

    A model of protein residues gets residues, a Chinese one characters. A word counts if it is
    one token again when it stands after a space: pieces from inside a word do not. Where no word
    passes, the tokenizer does not split at spaces, and the bare words are tried.
    """
    size = tokenizer.get_vocab_size()
    drawn = np.random.default_rng(seed).permutation(size)[:_CANDIDATES].tolist()
    for space in (" ", ""):
        words: list[str] = []
        for start in range(0, len(drawn), _CHUNK):
            words += _whole(tokenizer, drawn[start : start + _CHUNK], space)
            if len(words) >= count:
                break
        if words:
            return list(dict.fromkeys(words))[:count]
    return []


def _whole(tokenizer: Tokenizer, ids: Sequence[int], space: str) -> list[str]:
    texts = tokenizer.decode_batch([[index] for index in ids], skip_special_tokens=True)
    words = [text.strip() for text in texts]
    encodings = tokenizer.encode_batch_fast(
        [space + word for word in words], add_special_tokens=False
    )
    return [
        word
        for word, index, encoding in zip(words, ids, encodings, strict=True)
        if word and encoding.ids == [index] and word.isprintable() and "\ufffd" not in word
    ]
