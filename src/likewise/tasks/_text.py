"""Texts in; padded token ids that fit the model, with what was cut away, out.

The tokenizer is shared by every caller and thread, so it is never changed: truncation and padding
are done here, on its plain output. Measured with tokenizers 0.23: two threads that set their own
truncation on one tokenizer get each other's (tests/tasks/test_tasks_text.py, case B013).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import TaskError
from likewise.model.tokenizer import Vocabulary, open_tokenizer
from likewise.tasks._words import whole_words
from likewise.types import Head, Item, Json, Model, Network, Row

if TYPE_CHECKING:
    from likewise.types import Arrays, Ints

WINDOW = 1024
"""Texts encoded at once: enough to keep the tokenizer's threads busy, little to hold."""

_CHARACTERS_PER_TOKEN = 32  # a text up to this × limit is tokenised whole, and counted exactly
_LEAST_READ = 1 << 14  # characters that are always read
_MOST_READ = 1 << 20  # and never more: WordPiece takes 0.8 s for a megabyte of words
_GROWTH = 8  # read this × more where the part that was read does not fill the limit
_MARGIN = 64  # tokens read beyond the limit: a cut inside a word then changes none that is kept

__all__ = ["WINDOW", "Cut", "Texts", "network", "open_texts"]


@dataclass(frozen=True)
class Cut:
    """One text as tokens, before and after the limit."""

    ids: Ints  # (T,) int64, special tokens included; never more than the limit
    beyond: Ints  # (B,) int64, the tokens that did not fit, as far as they were read
    read: int | None = None  # characters that were tokenised; None where all were
    problem: str | None = None

    @property
    def notes(self) -> Mapping[str, Json]:
        """What the answer says of the text's length."""
        truncated = len(self.beyond) > 0 or self.read is not None
        given = len(self.ids) + len(self.beyond)
        notes = {"tokens": len(self.ids), "tokens_given": given, "truncated": truncated}
        return notes if self.read is None else {**notes, "tokens_given_at_least": True}

    def row(self) -> Row:
        """Return the encoded item."""
        if self.problem is not None:
            return Row({}, 0, problem=self.problem)
        return Row({"input_ids": self.ids}, len(self.ids), self.notes)


_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Texts:
    """The text side of a task: one model's tokenizer, limit and padding."""

    model: Model
    vocabulary: Vocabulary
    before: int  # special tokens that open every text
    after: int  # and those that close it; truncation keeps them
    prompt: str = ""  # put before every text, and counted in the limit
    segments: bool = field(default=False)  # token_type_ids are sent: all 0, for single texts

    @property
    def limit(self) -> int:
        """The most tokens of a text, special tokens and prompt included."""
        return self.model.max_tokens

    def encode(self, items: Sequence[Item]) -> list[Row]:
        """Return one row per item, in order; an item that is not a text has a problem."""
        return [cut.row() for cut in self.cut(items)]

    def cut(self, items: Sequence[Item]) -> list[Cut]:
        """Tokenise all items in one call, and cut each to the limit."""
        texts = [self.prompt + str(item) if isinstance(item, str) else None for item in items]
        reads = [self._first_read(text) for text in texts if text is not None]
        parts = [t[:read] for t, read in zip(filter(_given, texts), reads, strict=True) if t]
        del parts
        problems = [_problem(item) for item in items]
        return self._assemble(texts, problems)
