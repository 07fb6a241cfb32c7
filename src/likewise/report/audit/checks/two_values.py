"""Does one thing have one value?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from likewise.report.audit.finding import Finding
from likewise.report.audit.mentions import Mention
from likewise.report.audit.subject import Subject

__all__ = ["check"]

_MOST = 20  # values of one thing that are listed: more is a list, not a report
_ROUGH = 0.1  # what "about" may be off by


def check(subject: Subject) -> Iterator[Finding]:
    """Yield every thing that has two values under the same words.

    A figure of another device, precision, batch, statistic or plan is of another thing, and so is
    one under a heading that says something of its own: rather one too few than a false alarm.
    """
    groups: dict[tuple[str, frozenset[str]], list[Mention]] = defaultdict(list)
    for mention in subject.mentions:
        base = mention.thing.name == "speed-up" and mention.figure.value == 1
        if mention.thing.name != "batch" and not base:
            groups[mention.thing.name, mention.apart].append(mention)
    for (name, words), group in groups.items():
        distinct = _distinct(group)
        if len(distinct) > 1:
            said = f"{name} ({', '.join(sorted(words))})" if words else name
            values = " and ".join(m.figure.text for m in distinct)
            lines = tuple(sorted({m.line for m in distinct}))
            yield Finding("two_values", "wrong", lines, f"{said}: {values}", _gap(distinct))


def _gap(distinct: Sequence[Mention]) -> str:
    low, *_, high = sorted(mention.figure.value for mention in distinct)
    if low <= 0:
        return "they are not equal"
    return f"they are not equal: the largest is {100 * (high / low - 1):.3g} % above the smallest"


def _distinct(group: Sequence[Mention]) -> list[Mention]:
    """Return one mention of each value; one rounded more is no other value."""
    kept: list[Mention] = []
    for mention in sorted(group, key=lambda m: (m.figure.half, m.line)):
        if not any(_same(mention, other) for other in kept):
            kept.append(mention)
        if len(kept) == _MOST:
            break
    return sorted(kept, key=lambda m: m.line)


def _same(one: Mention, other: Mention) -> bool:
    return one.figure.same(other.figure, _ROUGH if one.rough or other.rough else 1e-9)
