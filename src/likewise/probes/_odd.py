"""A random state in; the texts that tokenizers and masks trip over, out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from random import Random

from likewise.probes._english import sentence

_EMOJI = (
    "🙂", "😂", "🚀🚀🚀", "❤️", "👍🏽", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪🇯🇵",
    "1️⃣", "🫠", "🧑🏿‍🚒", "☎︎", "🤷‍♀️", "🐈‍⬛",
)  # fmt: skip
_COMBINING = (
    "cafe\u0301", "nai\u0308ve", "a\u0300\u0301\u0302\u0303", "Z\u0336a\u0336l\u0336g\u0336o\u0336",
    "\u1100\u1161\u11a8", "n\u0303andu\u0301", "A\u030angstro\u0308m", "e\u0323\u0302",
)  # fmt: skip
_CONTROL = (
    "a nul \x00 in the middle", "a bell \x07 and a backspace \x08", "\ufeffa byte order mark",
    "soft\u00adhyphen and zero\u200bwidth", "\x1b[31mred\x1b[0m", "right \u202eto left\u202c again",
    "a line\u2028separator", "carriage\rreturn and\x0bvertical tab", "\x7f\x80\x9f", "\ufffd",
)  # fmt: skip
_WHITESPACE = (
    " ", "\n", "\t \t\n", "\u00a0\u2003\u3000", "   a   wide    gap   ",
    "one\n\ntwo\r\nthree\tfour", "\n\n\n ends in blanks     ",
)  # fmt: skip
_UNKNOWN = (
    "𐎀𐎁𐎂𐎃", "𒀀𒀁𒀂", "ⵜⵉⴼⵉⵏⴰⵖ", "\ue000\ue001\ue002", "ꙮ", "𐐔𐐯𐑅𐐨", "𓀀𓂀𓃰", "⠓⠑⠇⠇⠕", "꧁꧂",
    "𝔉𝔯𝔞𝔨𝔱𝔲𝔯 𝟙𝟚𝟛",
)  # fmt: skip
_MARKUP = (
    "[SEP]", "<s>", "</s>", "[CLS]", "<pad>", "[PAD]", "<unk>", "[UNK]", "##ing", "▁the", "Ġthe",
    "<|endoftext|>", "<b>bold</b>",
)  # fmt: skip
_NUMBERS = (
    "{a}", "{a}.{b}", "-{a},{b}e-{c}", "call +{c} {a}-{b}", "{c}:{c}:{c} on 20{c}-0{d}-1{d}",
    "https://example.org/{a}/page?id={b}&x=%20#{d}", "user.{a}@mail-{b}.com paid ${a}.{c}",
    "v{d}.{c}.{b}-rc{d}", "192.168.{c}.{a}", "0x{a:x}{b:x} sha256:{a:08x}{b:08x}",
    "for i in range({a}): x[i] += {b} * y", '{{"id": {a}, "ok": true, "t": [{b}, {c}]}}',
    "SELECT * FROM t{c} WHERE n > {b};", "{a} + {b} = {c} ± {d} %", "ISBN 978-{a}-{b}-{d}",
    "C:\\temp\\{a}\\{b}.txt", "№ {a}, § {b}, {c} °C, ½ l, {d}²", "iiii{a}jjjj{b}kkkk{a}llll{b}",
)  # fmt: skip

__all__ = ["cases", "combining", "control", "emoji", "markup", "numbers", "repeated", "unknown"]
__all__ += ["whitespace"]


def emoji(random: Random) -> Iterator[str]:
    """Yield each emoji alone, then sentences with some, without end."""
    yield from random.sample(_EMOJI, len(_EMOJI) // 3)
    while True:
        yield f"{sentence(random)} {random.choice(_EMOJI)}{random.choice(_EMOJI)}"


def combining(random: Random) -> Iterator[str]:
    """Yield sentences with combining marks, without end."""
    while True:
        words = sentence(random).split()
        words[random.randrange(len(words))] = random.choice(_COMBINING)
        yield " ".join(words)


def control(random: Random) -> Iterator[str]:
    """Yield texts with characters that are not seen."""
    yield from random.sample(_CONTROL, len(_CONTROL))


def whitespace(random: Random) -> Iterator[str]:
    """Yield texts of nothing but space, or with much of it."""
    yield from random.sample(_WHITESPACE, len(_WHITESPACE))


def unknown(random: Random) -> Iterator[str]:
    """Yield texts in which no usual vocabulary has a word."""
    yield from random.sample(_UNKNOWN, len(_UNKNOWN))


def markup(random: Random) -> Iterator[str]:
    """Yield sentences that hold the spelling of a special token, without end."""
    for token in cycle(_MARKUP):
        words = sentence(random).split()
        words.insert(random.randrange(len(words)), token)
        yield " ".join(words)


def numbers(random: Random) -> Iterator[str]:
    """Yield digits, dates, addresses and code, without end."""
    patterns = random.sample(_NUMBERS, len(_NUMBERS))
    while True:
        for pattern in patterns:
            digits = {name: random.randint(10, 99_999) for name in "ab"}
            yield pattern.format(**digits, c=random.randint(10, 59), d=random.randint(1, 9))


def cases(random: Random) -> Iterator[str]:
    """Yield the same sentence in upper case, in lower case and in title case, without end."""
    while True:
        text = sentence(random)
        yield text.upper()
        yield text.lower()
        yield text.title()


def repeated(words: Sequence[str], random: Random) -> Iterator[str]:
    """Yield one word, or one sign, over and over, without end."""
    while True:
        word = random.choice((random.choice(words), random.choice("!a?不.")))
        between = " " if len(word) > 1 else random.choice(("", " "))
        yield between.join([word] * random.randint(3, 40))
