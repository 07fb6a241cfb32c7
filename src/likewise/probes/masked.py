"""A seed and a model's hints in; texts with one or two masks in them, out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random

from likewise.probes import text
from likewise.probes._deck import Group, deal
from likewise.types import Item, Json, Probe

_GENERIC = "<mask>"  # every fill-mask task reads it as its model's own
_TWO = 8  # one text in so many has two masks
# What a mask may stand for: a word, or one sign where spaces do not set words apart.
_PLACES = re.compile(r"[\u0e01-\u0e2e\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")

__all__ = ["probes", "worded", "workload"]


def probes(count: int, seed: int, hints: Mapping[str, Json]) -> list[Probe]:
    """Return ``count`` distinct texts, the same for the same seed and hints.

    They are those of ``likewise.probes.text``, with one mask each, one in eight with two. A mask
    stands where no truncation reaches it.

    Args:
        count: how many.
        seed: of all that is drawn.
        hints: of the task: as for text, and mask_token.
    """
    groups = [replace(group, make=partial(_masked, group, hints)) for group in text.groups(hints)]
    return deal(groups, count, seed)


def workload(kind: str, count: int, seed: int, hints: Mapping[str, Json]) -> list[Item]:
    """Return ``count`` texts of stated lengths (as for text) with one mask each, for timing."""
    random = Random(f"{seed} masks")
    items = text.workload(kind, count, seed, hints)
    return [_mask(item, 1, hints, random) for item in items]


def worded(texts: Sequence[str], seed: int, hints: Mapping[str, Json]) -> list[Item]:
    """Return plain texts as items of this kind: with a mask in the place of a word of each."""
    random = Random(f"{seed} worded")
    bare = [text.replace(str(hints["mask_token"] or _GENERIC), " ") for text in texts]
    return [_mask(text.replace(_GENERIC, " "), 1, hints, random) for text in bare]


def _masked(group: Group, hints: Mapping[str, Json], random: Random) -> Iterator[str]:
    for index, item in enumerate(group.make(random)):
        yield _mask(item, 2 if index % _TWO == _TWO // 2 else 1, hints, random)


def _mask(item: str, count: int, hints: Mapping[str, Json], random: Random) -> str:
    """Return the text with that many masks, or with one in front where it has no word."""
    token = hints["mask_token"] or _GENERIC
    places = list(_places(item, int(hints["max_tokens"]) - 8))
    if not places:
        return f"{token} {item}" if item else token
    for start, end in sorted(random.sample(places, min(count, len(places))), reverse=True):
        item = item[:start] + token + item[end:]
    return item


def _places(item: str, most: int) -> Iterator[tuple[int, int]]:
    """Yield the places for a mask that no tokenizer puts beyond ``most`` tokens.

    A token is at least one byte, so as many bytes before the place are a safe bound.
    """
    for match in _PLACES.finditer(item):
        if len(item[: match.start()].encode()) > most:
            return
        yield match.span()
