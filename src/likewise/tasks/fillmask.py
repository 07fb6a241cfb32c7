"""Texts with masks in; the likeliest tokens for each mask, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import TaskError
from likewise.tasks._scores import NOT_FINITE, apply, best, finite
from likewise.tasks._text import Cut, Texts, TextTask, open_texts
from likewise.types import Answer, Item, Json, Kind, Model, Network, Row, Task

if TYPE_CHECKING:
    from likewise.types import Arrays, Floats, Ints

GENERIC = ("<mask>", "[MASK]")
"""What may stand for the model's own mask token in any text."""

TOP = 5
"""Tokens shown for each mask unless asked otherwise."""

_KINDS: Mapping[str, Kind] = MappingProxyType({"logits": "logits", "scores": "distribution"})

__all__ = ["GENERIC", "TOP", "FillMask", "claims", "open"]


@dataclass(eq=False)
class FillMask(TextTask):
    """Fill-mask: one row of scores over the vocabulary for each mask."""

    mask_id: int
    mask_token: str
    targets: Ints  # ids that answers are drawn from; empty for the whole vocabulary
    _shown: dict[int, str] = field(default_factory=dict)

    name = "fillmask"
    takes = "masked"
    kinds = _KINDS

    def __post_init__(self) -> None:
        self.network: Network = self.texts.network("tokens", "logits", "rows")

    def facts(self) -> Mapping[str, Json]:
        """Return the contract, JSON-ready."""
        return {
            **self.texts.facts(),
            "mask_token": self.mask_token,
            "mask_id": self.mask_id,
            "activation": "softmax",
            "targets": [self._token(int(target)) for target in self.targets],
        }

    def encode(self, items: Sequence[Item]) -> list[Row]:
        """Return one row per text, in order; a text without a mask, or with one cut away, has none.

        Generic masks in a text are read as the model's own.
        """
        texts = [self._own_mask(item) for item in items]
        cuts = self.texts.cut(texts)
        return [self._row(text, cut) for text, cut in zip(texts, cuts, strict=True)]

    def collate(self, rows: Sequence[Row]) -> Arrays:
        """Return one batch of (N, T) arrays, and the flat positions (R,) of its masks."""
        arrays = self.texts.collate(rows)
        masks = (arrays["input_ids"] == self.mask_id) & (arrays["attention_mask"] == 1)
        return {**arrays, "rows": np.flatnonzero(masks).astype(np.int64)}

    def owners(self, inputs: Arrays) -> Ints:
        """Return (R,): the text that each mask stands in."""
        owners: Ints = inputs["rows"] // inputs["input_ids"].shape[1]
        return owners

    def finish(self, inputs: Arrays, outputs: Arrays) -> Arrays:  # noqa: ARG002  # the protocol's
        """Return logits and probabilities at each mask, (R, V) each."""
        return {"logits": outputs["logits"], "scores": apply("softmax", outputs["logits"])}

    def answers(self, inputs: Arrays, arrays: Arrays, *, top: int | None) -> list[Answer]:
        """Return one answer per text: for each of its masks, the ``top`` tokens (None: 5)."""
        scores = arrays["scores"]
        entries = self._entries(scores, TOP if top is None else top)
        good = finite(scores)
        owners = self.owners(inputs)
        answers: list[Answer] = []
        for index in range(len(inputs["input_ids"])):
            own = np.flatnonzero(owners == index).tolist()
            whole = all(good[row] for row in own)
            answers.append(
                {"masks": [entries[row] for row in own]} if whole else {"error": NOT_FINITE}
            )
        return answers

    def _entries(self, scores: Floats, top: int) -> list[list[dict[str, Json]]]:
        among = scores[:, self.targets] if len(self.targets) else scores
        indices = best(among, top)
        values = np.take_along_axis(among, indices, axis=1).tolist()
        ids = self.targets[indices] if len(self.targets) else indices
        return [
            [
                {"token": self._token(index), "index": index, "score": value}
                for index, value in zip(row, kept, strict=True)
            ]
            for row, kept in zip(ids.tolist(), values, strict=True)
        ]

    def _token(self, index: int) -> str:
        if index not in self._shown:
            tokenizer = self.texts.vocabulary.tokenizer
            self._shown[index] = tokenizer.decode([index], skip_special_tokens=False)
        return self._shown[index]

    def _own_mask(self, item: Item) -> Item:
        if not isinstance(item, str):
            return item
        for generic in GENERIC:
            item = item.replace(generic, self.mask_token)
        return item

    def _row(self, text: Item, cut: Cut) -> Row:
        if cut.problem is not None:
            return cut.row()
        beyond = np.flatnonzero(cut.beyond == self.mask_id)
        if len(beyond):
            fits = self.texts.limit - self.texts.after
            return self._beyond(f"position {fits + int(beyond[0])}", cut)
        unread = len(text) if cut.read is None else cut.read - len(self.mask_token) + 1
        character = text.find(self.mask_token, unread)
        if character >= 0:
            return self._beyond(f"character {character}", cut)
        if not (cut.ids == self.mask_id).any():
            problem = f"no mask in the text: put {self.mask_token} for a word"
            return Row({}, 0, cut.notes, problem)
        return cut.row()

    def _beyond(self, where: str, cut: Cut) -> Row:
        problem = f"mask beyond the limit ({where}, limit {self.texts.limit})"
        return Row({}, 0, cut.notes, problem)


def claims(model: Model) -> bool:
    """Tell whether the folder holds a language model with a trained head over tokens."""
    return (
        model.library == "transformers"
        and "tokens" in model.trained_heads
        and not model.sentence_transformer
    )


def open(model: Model, *, targets: Sequence[str] = ()) -> Task:
    """Open the task; loads the tokenizer, no weights.

    Args:
        model: the facts of a folder.
        targets: words that answers are drawn from, each one token of the vocabulary; their scores
            stay those among the whole vocabulary.

    Raises:
        TaskError: the head over tokens is not in the weights, the tokenizer has no mask token, or
            a target is not one token.
        FolderError: the tokenizer cannot be read.
    """
    if model.library != "transformers" or "tokens" not in model.trained_heads:
        raise TaskError(
            f"{model.folder} has no trained head that scores tokens.",
            found=f"trained heads: {', '.join(model.trained_heads) or 'none'}",
        )
    texts = open_texts(model)
    vocabulary = texts.vocabulary
    if vocabulary.mask_token is None or vocabulary.mask_id is None:
        raise TaskError("The tokenizer has no mask token.", found=f"{vocabulary.size} tokens")
    ids = np.array([_target(texts, word) for word in targets], dtype=np.int64)
    return FillMask(texts, vocabulary.assumptions, vocabulary.mask_id, vocabulary.mask_token, ids)


def _target(texts: Texts, word: str) -> int:
    tokenizer = texts.vocabulary.tokenizer
    pieces: list[int] = []
    for spelling in (f" {word}", word):  # a word stands after a space, as in a sentence
        pieces = tokenizer.encode(spelling, add_special_tokens=False).ids
        if len(pieces) == 1 and pieces[0] != tokenizer.token_to_id(texts.vocabulary.unk_token):
            return int(pieces[0])
    exact = tokenizer.token_to_id(word)
    if exact is not None:
        return int(exact)
    raise TaskError(
        f"The target {word!r} is not one token of this model.",
        found=" ".join(str(tokenizer.id_to_token(piece)) for piece in pieces),
        fix="a word that the vocabulary holds whole",
    )
