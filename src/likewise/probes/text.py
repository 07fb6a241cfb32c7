"""A seed and a model's hints in; the texts that a verdict or a timing is made from, out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle
from random import Random

from likewise.probes import _english, _odd, _scripts
from likewise.probes._deck import Group, deal
from likewise.types import Item, Json, Probe

_LADDER = (3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65)
_LONG = (257, 129, 128, 255, 127, 256)
_VERY_LONG = (513, 1025, 512)  # for a model whose limit is beyond them
_WORDS = (
    "the", "of", "and", "to", "in", "is", "it", "was", "that", "for", "on", "are", "with", "his",
    "they", "at", "be", "this", "from", "have", "not", "by", "which", "you", "all", "one", "we",
)  # fmt: skip
_WORDS_PER_TOKEN = 0.84  # of these sentences, in WordPiece and byte-level BPE; tests hold it
_WORKLOADS = {  # share of the items: tokens from, to
    "short": ((1.0, 24, 36),),
    "mixed": ((0.6, 20, 40), (0.3, 60, 120), (0.1, 200, 300)),
    "long": ((1.0, 230, 270),),
}

__all__ = ["groups", "probes", "speaks", "worded", "workload"]


def probes(count: int, seed: int, hints: Mapping[str, Json]) -> list[Probe]:
    """Return ``count`` distinct texts, the same for the same seed and hints.

    Args:
        count: how many; 256 hold every length of the ladder and every group.
        seed: of all that is drawn.
        hints: of the task: max_tokens, special_tokens, words, each one token of the model, and
            pairs, whether it takes two texts at once.
    """
    return deal(groups(hints), count, seed)


def workload(kind: str, count: int, seed: int, hints: Mapping[str, Json]) -> list[Item]:
    """Return ``count`` texts of stated lengths, for timing.

    Args:
        kind: ``short`` (24 to 36 tokens), ``long`` (230 to 270), or ``mixed``: of every ten texts
            six have 20 to 40 tokens, three 60 to 120, one 200 to 300; never over the limit.
        count: how many.
        seed: of all that is drawn.
        hints: as for ``probes``.
    """
    random = Random(f"{seed} {kind}")
    shares = _WORKLOADS[kind]
    own = None if speaks(hints) else _words(hints)
    items: list[Item] = []
    for index in range(count):
        low, high = _lengths(shares, (index % 10 + 0.5) / 10)
        tokens = min(random.randint(low, high), int(hints["max_tokens"])) - _special(hints)
        items.append(_run_of(own, tokens, random) if own else _english_of(tokens, random))
    return items


def worded(texts: Sequence[str], seed: int, hints: Mapping[str, Json]) -> list[Item]:  # noqa: ARG001  # as for masked
    """Return plain texts as items of this kind: they are."""
    return list(texts)


def speaks(hints: Mapping[str, Json]) -> bool:
    """Tell whether the model knows the words of ordinary sentences, whole or in pieces.

    A protein model knows some twenty letters: to it all sentences of a length are the same row of
    unknown tokens, and a verdict over them would be one over a single item.
    """
    return bool(hints.get("unknown_share", 0.0) < 0.5)


def groups(hints: Mapping[str, Json]) -> list[Group]:
    """Return every group of texts, with its share of a deck of 256."""
    words, most = _words(hints), int(hints["max_tokens"])
    usual = 1.0 if speaks(hints) else 0.1
    ordinary = [Group("english", 62, _english.sentences), Group("posts", 18, _english.posts)]
    scripts = {"chinese": 10, "latin": 8, "cyrillic": 7, "japanese": 6, "korean": 6, "arabic": 5}
    scripts |= {"hindi": 5, "hebrew": 4, "greek": 4, "thai": 4}
    return [
        *(ordinary if usual == 1 else []),
        Group("vocabulary", 34 if usual == 1 else 160, partial(_vocabulary, words, most)),
        Group("ladder", 15, partial(_ladder, words, hints)),
        Group("limit", 9, partial(_limit, words, hints)),
        *(
            Group(name, share * usual, partial(_scripts.sentences, name))
            for name, share in scripts.items()
        ),
        Group("case", 12 * usual, _odd.cases),
        Group("emoji", 9 * usual, _odd.emoji),
        Group("numbers", 9 * usual, _odd.numbers),
        Group("markup", 6 * usual, _odd.markup),
        Group("repeated", 6, partial(_odd.repeated, words)),
        Group("combining", 5 * usual, _odd.combining),
        Group("control", 5, _odd.control),
        Group("unknown", 4, _odd.unknown),
        Group("whitespace", 3, _odd.whitespace),
        *([Group("pair", 12, partial(_pairs, words, most))] if hints.get("pairs") else []),
    ]


def _vocabulary(words: Sequence[str], most: int, random: Random) -> Iterator[str]:
    """Yield every word of the model, a few at a time, in a new order each time round.

    Where there are only letters, they are drawn again and again, in runs up to 60 tokens.
    """
    while len(words) < 200:
        yield " ".join(random.choices(words, k=random.randint(3, max(3, min(60, most - 3)))))
    while True:
        left = random.sample(words, len(words))
        while left:
            size = random.randint(3, 16)
            yield " ".join(left[:size])
            left = left[size:]


def _ladder(words: Sequence[str], hints: Mapping[str, Json], random: Random) -> Iterator[str]:
    """Yield the empty text, then one of each length up to 65 tokens, in random order."""
    yield ""
    fitting = [length for length in _LADDER if length < hints["max_tokens"] - 1]
    for length in random.sample(fitting, len(fitting)):
        yield _run_of(words, length - _special(hints), random)


def _limit(words: Sequence[str], hints: Mapping[str, Json], random: Random) -> Iterator[str]:
    """Yield a text beyond the limit, one at it, and the long lengths below it.

    Only the first is as long as the limit where that is over 1,024 tokens: a verdict has to stay
    affordable.
    """
    most = int(hints["max_tokens"])
    below = [length for length in (*_LONG, *_VERY_LONG) if length < most - 1]
    ends = [most, most - 1, most + 1] if most <= 1024 else []
    lengths = [most + most // 2, *ends[:1], *below[:1], *ends[1:], *below[1:]]
    for length in lengths:
        yield _run_of(words, length - _special(hints), random)


def _pairs(words: Sequence[str], most: int, random: Random) -> Iterator[tuple[str, str]]:
    """Yield two texts at once: long and short, short and long, and both over the limit."""
    most = min(most, 1024)
    lengths = [(3, 12), (30, 4), (1, 1), (most, most), (12, 30), (5, 60), (9, 2), (40, 40)]
    for first, second in cycle(lengths):
        yield _run_of(words, first, random), _run_of(words, second, random)


def _run_of(words: Sequence[str], count: int, random: Random) -> str:
    """Return so many words of one token each; the space in front makes the first one such."""
    return "".join(f" {word}" for word in random.choices(words, k=max(count, 1)))


def _english_of(tokens: int, random: Random) -> str:
    return _english.text_of(max(1, round(tokens * _WORDS_PER_TOKEN)), random)


def _words(hints: Mapping[str, Json]) -> Sequence[str]:
    return hints["words"] or _WORDS


def _special(hints: Mapping[str, Json]) -> int:
    return int(hints.get("special_tokens", 2))


def _lengths(shares: Sequence[tuple[float, int, int]], drawn: float) -> tuple[int, int]:
    total = 0.0
    for share, low, high in shares:
        total += share
        if drawn <= total:
            return low, high
    return shares[-1][1:]
