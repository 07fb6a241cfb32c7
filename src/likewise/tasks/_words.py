"""A tokenizer in; words of its own language, each one token long, out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_CANDIDATES = 8192  # ids looked at, at most

__all__ = ["whole_words"]


def whole_words(tokenizer: Tokenizer, count: int = 400, *, seed: int = 0) -> list[str]:
    """Return up to ``count`` different words that the tokenizer keeps whole, drawn by ``seed``.

    A model of protein residues gets residues, a Chinese one characters. A word counts if it is
    one token again when it stands after a space: pieces from inside a word do not.
    """
    size = tokenizer.get_vocab_size()
    drawn = np.random.default_rng(seed).permutation(size)[:_CANDIDATES].tolist()
    texts = tokenizer.decode_batch([[index] for index in drawn], skip_special_tokens=True)
    words = {text.strip(): index for text, index in zip(texts, drawn, strict=True) if _plain(text)}
    for space in (" ", ""):  # a tokenizer that does not split at spaces: the bare word
        encodings = tokenizer.encode_batch_fast(
            [space + word for word in words], add_special_tokens=False
        )
        whole = [
            word
            for (word, index), encoding in zip(words.items(), encodings, strict=True)
            if encoding.ids == [index]
        ]
        if whole:
            return whole[:count]
    return []


def _plain(text: str) -> bool:
    word = text.strip()
    return bool(word) and word.isprintable() and "\ufffd" not in word and " " not in word
