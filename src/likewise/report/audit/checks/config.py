"""Does the report describe the model that its config.json does?"""

from __future__ import annotations

from collections.abc import Iterator

from likewise.report.audit.finding import Finding
from likewise.report.audit.mentions import Mention
from likewise.report.audit.subject import Subject

__all__ = ["check"]


def check(subject: Subject) -> Iterator[Finding]:
    """Yield figures that config.json contradicts; nothing where no model was named.

    A length may be shorter than the positions, for a user may cut earlier; never longer.
    """
    for mention in subject.mentions:
        fact = subject.facts.get(mention.thing.name)
        if fact is None or mention.rough or not _contradicts(mention, subject):
            continue
        said = f"{mention.thing.name} {mention.figure.text}"
        recomputed = f"config.json: {mention.thing.name} {_spelled(mention, subject)}"
        yield Finding("config", "wrong", (mention.line,), said, recomputed)


def _contradicts(mention: Mention, subject: Subject) -> bool:
    name, value = mention.thing.name, mention.figure.value
    if name == "longest input":
        return value > subject.facts[name]
    allowed = [subject.facts[k] for k in (name, f"{name}, before the head") if k in subject.facts]
    return all(value != fact for fact in allowed)


def _spelled(mention: Mention, subject: Subject) -> str:
    name = mention.thing.name
    more = subject.facts.get(f"{name}, before the head")
    return f"{subject.facts[name]:,}" + (f" (or {more:,} before the head)" if more else "")
