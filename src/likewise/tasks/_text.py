"""Texts in; token ids that fit the model, padded to a batch, with what was cut away, out.

The tokenizer is shared by every caller and thread, so it is never changed: truncation and padding
are done here, on its plain output (case B013: two threads that set their own truncation on one
tokenizer get each other's, without an error).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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

CHARACTERS_PER_TOKEN = 32  # a text of up to this × limit is tokenised whole, and counted exactly
LEAST_READ = 1 << 14  # characters that are always read
_MOST_READ = 1 << 20  # and never more: WordPiece takes 0.8 s for a megabyte of words
_GROWTH = 8  # read this × more where the part that was read does not fill the limit
_MARGIN = 64  # tokens read beyond the limit, so that a cut inside a word changes none that is kept
_SENTENCE = "I do not think that the price of bread will go up today, but who knows?"

__all__ = [
    "CHARACTERS_PER_TOKEN", "LEAST_READ", "WINDOW", "Cut", "TextTask", "Texts", "open_texts",
    "text_problem",
]  # fmt: skip


@dataclass(frozen=True)
class Cut:
    """One text as tokens, before and after the limit."""

    ids: Ints  # (T,) int64, special tokens included; never more than the limit
    beyond: Ints  # (B,) int64, the tokens that did not fit, as far as they were read
    read: int | None = None  # characters that were tokenised; None where all were
    problem: str | None = None
    segments: Ints | None = None  # (T,) int64, which text of a pair; None where it is one text
    window: bool = False  # the tokens are a part from within the text

    @property
    def notes(self) -> Mapping[str, Json]:
        """What the answer says of the text's length.

        ``tokens_given`` is a lower bound where ``tokens_given_at_least`` is there: the text was
        so long that only its beginning was tokenised.
        """
        truncated = len(self.beyond) > 0 or self.read is not None
        given = len(self.ids) + len(self.beyond)
        notes = {"tokens": len(self.ids), "tokens_given": given, "truncated": truncated}
        notes |= {"window": True} if self.window else {}
        return notes if self.read is None else {**notes, "tokens_given_at_least": True}

    def row(self) -> Row:
        """Return the encoded item."""
        if self.problem is not None:
            return Row({}, 0, self.notes if len(self.ids) else {}, self.problem)
        pair = {} if self.segments is None else {"token_type_ids": self.segments}
        return Row({"input_ids": self.ids, **pair}, len(self.ids), self.notes)


_NONE: Ints = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Texts:
    """The text side of a task: one model's tokenizer, limit, prompt and padding."""

    model: Model
    vocabulary: Vocabulary
    before: int  # special tokens that open every text
    after: int  # and those that close it; truncation keeps them
    prompt: str = ""  # put before every text, and counted in the limit

    @property
    def limit(self) -> int:
        """The most tokens of a text, special tokens and prompt included."""
        return self.model.max_tokens

    @property
    def segments(self) -> bool:
        """Whether token_type_ids are sent: only to a model that has more than one type (B012)."""
        return self.model.token_types > 1

    def network(self, head: Head, output: str, *more: str) -> Network:
        """Return the tensors that an engine is to compute, for this model's inputs."""
        segments = ("token_type_ids",) if self.segments else ()
        return Network(head, ("input_ids", "attention_mask", *segments, *more), (output,))

    def encode(self, items: Sequence[Item]) -> list[Row]:
        """Return one row per item, in order; an item that is not a text has a problem."""
        return [cut.row() for cut in self.cut(items)]

    def cut(self, items: Sequence[Item]) -> list[Cut]:
        """Tokenise all items in one call, and cut each to the limit, or refuse it there."""
        cuts = [Cut(_NONE, _NONE, problem=text_problem(item)) for item in items]
        good = [index for index, cut in enumerate(cuts) if cut.problem is None]
        tokens = self._tokenise([self.prompt + str(items[index]) for index in good])
        for index, (ids, read) in zip(good, tokens, strict=True):
            cuts[index] = self.checked(self._fit(np.array(ids, dtype=np.int64), read))
        return cuts

    def checked(self, cut: Cut, *, special: int | None = None) -> Cut:
        """Return the cut; with a problem where the policy is to refuse a text over the limit."""
        notes = cut.notes
        if self.model.overflow != "refuse" or cut.problem or not notes["truncated"]:
            return cut
        special = self.before + self.after if special is None else special
        least = "at least " if cut.read is not None else ""
        problem = (
            f"too long: {least}{notes['tokens_given']} tokens, {special} of them special; "
            f"the limit is {self.limit} (--overflow cut answers its part that fits)"
        )
        return replace(cut, problem=problem)

    def collate(self, rows: Sequence[Row]) -> Arrays:
        """Return one batch of (N, T) int64 arrays, padded on the right to its longest row."""
        shape = (len(rows), max(len(row.arrays["input_ids"]) for row in rows))
        ids = np.full(shape, self.vocabulary.pad_id, dtype=np.int64)
        mask = np.zeros(shape, dtype=np.int64)
        for index, row in enumerate(rows):
            length = len(row.arrays["input_ids"])
            ids[index, :length] = row.arrays["input_ids"]
            mask[index, :length] = 1
        if not self.segments:
            return {"input_ids": ids, "attention_mask": mask}
        segments = np.zeros(shape, dtype=np.int64)
        for index, row in enumerate(rows):
            if "token_type_ids" in row.arrays:
                segments[index, : row.tokens] = row.arrays["token_type_ids"]
        return {"input_ids": ids, "attention_mask": mask, "token_type_ids": segments}

    def hints(self) -> Mapping[str, Json]:
        """Return what probes need to speak this model's language and to reach its limit."""
        return {
            "mask_token": self.vocabulary.mask_token,
            "max_tokens": self.limit,
            "special_tokens": self.before + self.after,
            "words": whole_words(self.vocabulary.tokenizer),
            "unknown_share": self._unknown_share(),
            "size": None,
        }

    def facts(self) -> Mapping[str, Json]:
        """Return the text side of the contract, JSON-ready."""
        return {
            "tokenizer": self.model.tokenizer,
            "vocabulary": self.vocabulary.size,
            "lower_case": self.model.lower_case,
            "limit": self.limit,
            "special_tokens": {"before": self.before, "after": self.after},
            "overflow": self.model.overflow,
            "truncation": f"the {'beginning' if self.vocabulary.cut_left else 'end'} of the text; "
            "special tokens stay",
            "padding": f"right, to the longest of the batch, id {self.vocabulary.pad_id}",
            "segments": "0; 1 in the second text of a pair" if self.segments else "not sent",
            "prompt": self.prompt,
        }

    def _unknown_share(self) -> float:
        """Return which share of an English sentence's tokens the vocabulary does not know."""
        ids = self.vocabulary.tokenizer.encode(_SENTENCE, add_special_tokens=False).ids
        unknown = self.vocabulary.tokenizer.token_to_id(self.vocabulary.unk_token)
        return sum(index == unknown for index in ids) / max(len(ids), 1)

    def _tokenise(self, texts: Sequence[str]) -> list[tuple[list[int], int | None]]:
        tokenise = self.vocabulary.tokenizer.encode_batch_fast
        whole = max(LEAST_READ, CHARACTERS_PER_TOKEN * self.limit)
        tokens: list[tuple[list[int], int | None]] = []
        encodings = tokenise([self._part(text, whole) for text in texts])
        for text, encoding in zip(texts, encodings, strict=True):
            ids, read = encoding.ids, min(len(text), whole)
            most = min(len(text), max(whole, _MOST_READ))
            while read < most and len(ids) < self.limit + _MARGIN:
                read = min(read * _GROWTH, most)
                ids = tokenise([self._part(text, read)])[0].ids
            tokens.append((ids, None if read == len(text) else read))
        return tokens

    def _fit(self, ids: Ints, read: int | None) -> Cut:
        if len(ids) == 0:
            return Cut(_NONE, _NONE, problem="the text has no tokens")
        if len(ids) <= self.limit:
            return Cut(ids, _NONE, read)
        end = len(ids) - self.after
        if self.vocabulary.cut_left:
            start = end - (self.limit - self.before - self.after)
            kept = np.concatenate((ids[: self.before], ids[start:]))
            return Cut(kept, ids[self.before : start], read)
        fits = self.limit - self.after
        return Cut(np.concatenate((ids[:fits], ids[end:])), ids[fits:end], read)

    def _part(self, text: str, length: int) -> str:
        """Return the side of a text that truncation keeps."""
        return text[-length:] if self.vocabulary.cut_left else text[:length]


@dataclass(eq=False)
class TextTask:
    """What every task over texts does alike, around its own ``finish`` and ``answers``."""

    texts: Texts
    assumptions: tuple[str, ...]

    takes = "text"
    window = WINDOW

    def hints(self) -> Mapping[str, Json]:
        """Return what probes need."""
        return self.texts.hints()

    def encode(self, items: Sequence[Item]) -> list[Row]:
        """Return one row per text, in order."""
        return self.texts.encode(items)

    def collate(self, rows: Sequence[Row]) -> Arrays:
        """Return one batch of (N, T) arrays."""
        return self.texts.collate(rows)

    def owners(self, inputs: Arrays) -> Ints:
        """Return (N,): each text has one row of outputs."""
        return np.arange(len(inputs["input_ids"]))


def open_texts(model: Model, *, prompt: str = "", windows: bool = False) -> Texts:
    """Open the model's tokenizer.

    Args:
        model: the facts of a folder.
        prompt: put before every text.
        windows: whether the task can answer a window of a text.

    Raises:
        FolderError: there is no tokenizer, or it cannot be read.
        TaskError: the limit leaves no room for a text beside special tokens and prompt, or the
            stated overflow policy is none of this task's.
    """
    if model.overflow == "window" and not windows:
        raise TaskError(
            "Only fill-mask answers a window of a text.", fix="--overflow cut, or refuse"
        )
    vocabulary = open_tokenizer(model)
    before, after = _frame(vocabulary)
    texts = Texts(model, vocabulary, before, after, prompt)
    taken = len(vocabulary.tokenizer.encode(prompt).ids)
    if model.max_tokens <= taken:
        raise TaskError(
            "The limit leaves no room for a text.",
            found=f"limit {model.max_tokens}; special tokens and prompt take {taken}",
            fix="a higher max_tokens, or a shorter prompt",
        )
    return texts


def _frame(vocabulary: Vocabulary) -> tuple[int, int]:
    """Return how many special tokens stand before and after a text."""
    for text in ("a", "1", "A", "的"):
        inner = vocabulary.tokenizer.encode(text, add_special_tokens=False).ids
        outer = vocabulary.tokenizer.encode(text).ids
        for start in range(len(outer) - len(inner) + 1):
            if inner and outer[start : start + len(inner)] == inner:
                return start, len(outer) - len(inner) - start
    raise TaskError(
        "The tokenizer makes no tokens of a plain letter or digit.",
        found=f"{vocabulary.size} ids",
        fix="put the tokenizer files that belong to this model into its folder",
    )


def text_problem(item: Item) -> str | None:
    """Return why an item is not a text that can be tokenised, or None."""
    if not isinstance(item, str):
        return f"not a text: {'null' if item is None else type(item).__name__}"
    if item.isascii():
        return None
    try:
        item.encode()
    except UnicodeEncodeError as error:
        return f"not valid Unicode: a lone surrogate at character {error.start}"
    return None
