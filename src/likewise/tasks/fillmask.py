"""Texts with masks in; the likeliest tokens for each mask, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import TaskError
from likewise.tasks._scores import NOT_FINITE, apply, best, finite
from likewise.tasks._targets import Target, find_targets
from likewise.tasks._text import (
    CHARACTERS_PER_TOKEN,
    LEAST_READ,
    Cut,
    TextTask,
    open_texts,
)
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
    targets: tuple[Target, ...]  # what answers are drawn from; () for the whole vocabulary
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
            "targets": [asdict(target) for target in self.targets],
        }

    def encode(self, items: Sequence[Item]) -> list[Row]:
        """Return one row per text, in order; a text without a mask, or with one cut away, has none.

        Generic masks in a text are read as the model's own. With the overflow policy ``window``,
        a long text is answered from the tokens around its masks.
        """
        texts = [self._own_mask(item) for item in items]
        if self.texts.model.overflow != "window":
            cuts = self.texts.cut(texts)
            return [self._row(text, cut) for text, cut in zip(texts, cuts, strict=True)]
        parts = [around(text, self.mask_token, self.texts.limit) for text in texts]
        cuts = [
            cut if part is text else replace(cut, read=len(part))
            for text, part, cut in zip(texts, parts, self.texts.cut(parts), strict=True)
        ]
        return [self._row(part, cut) for part, cut in zip(parts, cuts, strict=True)]

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
        """Return one answer per text: for each of its masks, the ``top`` tokens.

        None lists 5, or all the targets.
        """
        scores = arrays["scores"]
        usual = len(self.targets) or TOP
        entries = self._entries(scores, usual if top is None else top)
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
        known = dict.fromkeys(t.token for t in self.targets if t.token is not None)
        asked = np.array(list(known), dtype=np.int64)
        among = scores[:, asked] if self.targets else scores
        indices = best(among, top)
        values = np.take_along_axis(among, indices, axis=1).tolist()
        ids = asked[indices] if self.targets else indices
        none = [
            {"token": t.word, "index": None, "score": None, "reason": t.reason}
            for t in self.targets
            if t.token is None
        ]
        return [
            [
                {"token": self._token(index), "index": index, "score": value}
                for index, value in zip(row, kept, strict=True)
            ]
            + none
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
        if self.texts.model.overflow == "window" and cut.problem is None:
            cut = self._window(cut)
        if cut.problem is not None:
            return cut.row()
        beyond = np.flatnonzero(cut.beyond == self.mask_id)
        left = self.texts.vocabulary.cut_left
        if len(beyond):
            fits = self.texts.before if left else self.texts.limit - self.texts.after
            return self._beyond(f"position {fits + int(beyond[0])}", cut)
        character = self._unread(text, cut.read)
        if character >= 0:
            return self._beyond(f"character {character}", cut)
        if not (cut.ids == self.mask_id).any():
            problem = f"no mask in the text: put {self.mask_token} for a word"
            return Row({}, 0, cut.notes, problem)
        return cut.row()

    def _unread(self, text: str, read: int | None) -> int:
        """Return where a mask stands in the part of a text that was not tokenised; -1: nowhere."""
        if read is None:
            return -1
        over = len(self.mask_token) - 1
        if self.texts.vocabulary.cut_left:
            return text.find(self.mask_token, 0, len(text) - read + over)
        return text.find(self.mask_token, read - over)

    def _window(self, cut: Cut) -> Cut:
        """Return as many tokens around the masks as the limit holds, special tokens kept."""
        before, after = self.texts.before, self.texts.after
        if len(cut.beyond) == 0:
            return cut
        if self.texts.vocabulary.cut_left:
            inner = np.concatenate((cut.beyond, cut.ids[before : len(cut.ids) - after]))
        else:
            inner = np.concatenate((cut.ids[before : len(cut.ids) - after], cut.beyond))
        masks, room = np.flatnonzero(inner == self.mask_id), self.texts.limit - before - after
        if len(masks) == 0:
            return cut
        span = int(masks[-1] - masks[0]) + 1
        if span > room:
            problem = f"masks {span} tokens apart do not fit one window (limit {self.texts.limit})"
            return replace(cut, problem=problem)
        start = min(max(int(masks[0]) - (room - span) // 2, 0), len(inner) - room)
        kept = inner[start : start + room]
        whole = np.concatenate((cut.ids[:before], kept, cut.ids[len(cut.ids) - after :]))
        beyond = np.concatenate((inner[:start], inner[start + room :]))
        return replace(cut, ids=whole, beyond=beyond, window=True)

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


def open(model: Model) -> Task:
    """Open the task; loads the tokenizer, no weights.

    Where targets are stated, answers are drawn from them; their scores stay those among the whole
    vocabulary, and a target that is not one token is answered with the reason.

    Raises:
        TaskError: the head over tokens is not in the weights, or the tokenizer has no mask token.
        FolderError: the tokenizer cannot be read.
    """
    if model.library != "transformers" or "tokens" not in model.trained_heads:
        raise TaskError(
            f"{model.folder} has no trained head that scores tokens.",
            found=f"trained heads: {', '.join(model.trained_heads) or 'none'}",
        )
    texts = open_texts(model, windows=True)
    vocabulary = texts.vocabulary
    if vocabulary.mask_token is None or vocabulary.mask_id is None:
        raise TaskError(
            f"The tokenizer in {model.folder / model.tokenizer} has no mask token.",
            found=f"{vocabulary.size} tokens",
            fix="name it in tokenizer_config.json: mask_token",
        )
    targets = find_targets(texts, model.targets)
    said = tuple(f"the target {t.word!r} is {t.reason}" for t in targets if t.token is None)
    assumptions = (*vocabulary.assumptions, *said)
    return FillMask(texts, assumptions, vocabulary.mask_id, vocabulary.mask_token, targets)


def around(text: Item, mask: str, limit: int) -> Item:
    """Return the part of a very long text that its masks stand in the middle of.

    So much is kept that the limit is filled from it on both sides; whole where the masks are so
    far apart that they fit no window.
    """
    most = max(LEAST_READ, CHARACTERS_PER_TOKEN * limit)
    if not isinstance(text, str) or len(text) <= most or mask not in text:
        return text
    first, last = text.find(mask), text.rfind(mask) + len(mask)
    if last - first > most:
        return text
    start = max(0, (first + last - most) // 2)
    return text[start : start + most]
