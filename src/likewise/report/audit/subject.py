"""A read report and the facts of its model in; what every check is asked about, out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from likewise.report.audit.mentions import Mention
from likewise.report.audit.sheet import Sheet

__all__ = ["Subject"]


@dataclass(frozen=True)
class Subject:
    """A report to be audited."""

    sheet: Sheet
    mentions: tuple[Mention, ...]
    facts: Mapping[str, int] = field(default_factory=dict)  # by thing, from the model's config.json
