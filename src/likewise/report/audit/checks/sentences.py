"""Does what a sentence computes follow from the figures beside it?"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from likewise.report.audit.figures import Figure, figures
from likewise.report.audit.finding import Finding
from likewise.report.audit.mentions import sentences
from likewise.report.audit.subject import Subject

__all__ = ["check"]

_FASTER = re.compile(r"faster|speed-?\s?up|quick|times|\d\s?[x×]|倍|加速", re.IGNORECASE)
_FROM_TO = re.compile(r"\bfrom\b.+\bto\b|→|->|从.+(?:到|至)|降到|提升到|降至", re.IGNORECASE)
_CHANGE = re.compile(
    r"reduc|improv|lower|faster|less|drop|fell|fall|sav|gain|increas|decreas|cut|more|提升|降低"
    r"|减少|下降|节省",
    re.IGNORECASE,
)
_BATCH = re.compile(r"(?:batch(?:[ _-]?size)?(?: of)?|批次?)\s*[=:]?\s*(\d+)", re.IGNORECASE)
_SHARE = re.compile(
    r"(?<![\d./])(\d{1,6})\s*(?:/|of(?: the)?|out of)\s*(\d{1,6})(?![\d./])"
    r"\s*(?:[A-Za-z]{1,12}\s*)?(?:[(=（:,，]|\bor\b)\s*(?P<per>\d+(?:\.\d+)?)\s?[%％]"
    r"(?!\s*(?:confidence|interval|bound|upper|CI\b|置信))"
)
_PER_ITEM = re.compile(r"p9\d|p50|max|min|first|warm|load|each|single", re.IGNORECASE)
_MOST = 24  # figures of a sentence; a longer one computes nothing
_ROUGH = re.compile(r"about|around|roughly|approx|nearly|almost|over|up to|more than|[~≈]|约|近|超")


def check(subject: Subject) -> Iterator[Finding]:
    """Yield sentences whose ratio, percentage or throughput is not that of their own figures."""
    for line in subject.sheet.prose:
        for sentence in sentences(line):
            found = figures(sentence)
            if len(found) > _MOST:
                continue
            for one in (_times, _change, _throughput):
                for said, recomputed in one(sentence, found):
                    yield Finding("sentences", "wrong", (line.number,), said, recomputed)
    for line in subject.sheet.lines():
        for said, recomputed in _shares(line.text):
            yield Finding("sentences", "wrong", (line.number,), said, recomputed)


def _times(sentence: str, found: Sequence[Figure]) -> Iterator[tuple[str, str]]:
    """Two figures of one unit and "N times": N is the ratio of some two."""
    stated = [f for f in found if f.unit == "x"]
    pairs = [
        (one, other)
        for one, other in itertools.combinations(found, 2)
        if one.unit == other.unit and one.unit in ("s", "/s", "B", "J", "W") and other.value
    ]
    if not stated or not pairs or not _FASTER.search(sentence):
        return
    slack = 0.15 if _ROUGH.search(sentence) else 0.03
    for figure in stated:
        if figure.value and not any(_is_ratio(figure, *pair, slack) for pair in pairs):
            ratios = ", ".join(f"{_ratio(*pair):.3g}" for pair in pairs)
            beside = " and ".join(dict.fromkeys(f.text for pair in pairs for f in pair))
            yield f"{figure.text} beside {beside}", f"{ratios} times"


def _ratio(one: Figure, other: Figure) -> float:
    low, high = sorted((one.value, other.value))
    return high / low if low else 0.0


def _is_ratio(stated: Figure, one: Figure, other: Figure, slack: float) -> bool:
    low, high = sorted((one, other), key=lambda f: f.value)
    least = (high.value - high.half) / (low.value + low.half)
    most = (high.value + high.half) / max(low.value - low.half, low.value * 0.1, 1e-300)
    return stated.may_be(least, most, slack)


def _change(sentence: str, found: Sequence[Figure]) -> Iterator[tuple[str, str]]:
    """Of "from A to B, P %": P is (A - B) / A, or of B, or B / A."""
    shares = [f for f in found if f.unit == "%"]
    for unit in ("s", "/s", "B", "J", "W"):
        pair = [f for f in found if f.unit == unit]
        if len(pair) == 2 and len(shares) == 1 and _asks_change(sentence) and pair[0].value:
            low, high = sorted(f.value for f in pair)
            possible = [(high - low) / v for v in (low, high) if v] + [low / high]
            slack = 0.1 if _ROUGH.search(sentence) else 0.03
            if not any(shares[0].may_be(p, p, slack) for p in possible):
                listed = " or ".join(f"{100 * p:.3g} %" for p in possible[:2])
                yield f"{pair[0].text} and {pair[1].text} with {shares[0].text}", listed


def _asks_change(sentence: str) -> bool:
    return bool(_FROM_TO.search(sentence) and _CHANGE.search(sentence))


def _throughput(sentence: str, found: Sequence[Figure]) -> Iterator[tuple[str, str]]:
    """A batch, one time and one throughput: items divided by seconds."""
    batch = _BATCH.search(sentence)
    seconds = [f for f in found if f.unit == "s"]
    rates = [f for f in found if f.unit == "/s"]
    if not batch or len(seconds) != 1 or len(rates) != 1 or not seconds[0].value:
        return
    if _PER_ITEM.search(sentence):
        return
    counts = {1.0, float(batch[1]), *(f.value for f in found if f.unit == "" and f.half == 0.5)}
    time, slack = seconds[0], 0.15 if _ROUGH.search(sentence) else 0.05
    made = [(c / (time.value + time.half), c / max(time.value - time.half, 1e-12)) for c in counts]
    if not any(rates[0].may_be(low, high, slack) for low, high in made):
        rate = float(batch[1]) / time.value
        yield f"batch {batch[1]} in {time.text}, {rates[0].text}", f"{rate:.4g} per second"


def _shares(text: str) -> Iterator[tuple[str, str]]:
    """Of "K of N (P %)": P is K / N."""
    for found in _SHARE.finditer(text):
        some, total = int(found[1]), int(found[2])
        if not 0 < total >= some:
            continue
        decimals = len(found["per"].partition(".")[2])
        true = 100 * some / total
        off = abs(float(found["per"]) - true)
        if min(off, abs(100 - float(found["per"]) - true)) > 10.0**-decimals:
            yield found[0], f"{some} of {total} is {true:.4g} %"
