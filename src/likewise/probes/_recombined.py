"""Texts and a seed in; new texts, each of the beginning of one and the end of another, out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

__all__ = ["recombined"]

_TRIES = 20  # draws for each text that is wanted: a few texts have few combinations


def recombined(texts: Sequence[str], count: int, seed: int) -> list[str]:
    """Return up to ``count`` distinct texts that are none of these, the same for the same seed.

    A text of spaces is cut between words, any other between characters. Two halves that pull in
    different directions are where a classifier hesitates.

    >>> recombined(["good film", "bad book"], 9, 0)
    ['bad film', 'good book']
    """
    random = Random(f"{seed} recombined")
    known = set(texts)
    usable = [text for text in texts if len(text) > 1]
    made: list[str] = []
    for text in _drawn(usable, count * _TRIES, random):
        if len(made) == count:
            break
        if text not in known:
            known.add(text)
            made.append(text)
    return made


def _drawn(texts: Sequence[str], tries: int, random: Random) -> Iterator[str]:
    for _ in range(tries if len(texts) > 1 else 0):
        first, second = random.sample(texts, 2)
        yield _half(first, random)[0] + _half(second, random)[1]


def _half(text: str, random: Random) -> tuple[str, str]:
    """Return a text in two parts; the blank between two words belongs to the second."""
    blanks = [place for place, sign in enumerate(text) if sign == " " and place > 0]
    place = random.choice(blanks) if blanks else random.randint(1, len(text) - 1)
    return text[:place], text[place:]
