"""A Report in; the same in Markdown, readable as plain text too, out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from likewise.outcomes import Report
from likewise.report.beside import RuleRow, StratumRow
from likewise.report.cards import Card, MeasureRow, PlanRow, WorstRow
from likewise.report.facts import Pairs, visible
from likewise.report.view import Page, page
from likewise.report.words import Words, words

__all__ = ["render"]

_PLANS = ("plan", "verdict", "error", "limit", "speed", "p90", "memory", "first")
_MEASURES = ("measure", "value", "limit_value", "holds", "n", "worst_item", "gate", "source")
_WORST = ("item", "text", "item_error", "on_reference", "on_candidate")
_STRATA = ("by", "stratum", "n", "same", "flips", "item_error", "worst_item")
_RULES = ("rule", "value", "threshold", "rule_passes", "n")
_WEIGHTS = ("file", "format", "size", "used", "hash")
_SPECIAL = re.compile(r"([\\`*_\[\]|~$])")
_STARTS_A_BLOCK = re.compile(r"[-+=#]|\d+[.)]")


def render(report: Report, *, language: str = "en") -> str:
    """Return the report as Markdown (GitHub's tables); every text in it is taken literally.

    Raises:
        SettingsError: likewise does not speak the language.
        LikewiseError: the report cannot be recorded, and so cannot be shown.
    """
    text = words(language)
    view = page(report, text)
    blocks = [
        *_top(view),
        *_plans(view, text),
        *_cautions(view, text),
        *_verdicts(view, text),
        *_rest(view, text),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _top(view: Page) -> Iterator[str]:
    head = view.headline
    yield f"# {_safe(view.title)}"
    yield _line(view.subtitle)
    plan = _code(head.plan) if head.plan else ""
    yield f"{head.shape} **{_safe(head.before)}{plan}{_safe(head.after)}**"
    yield _line(head.why)
    if view.interrupted:
        yield f"> **{_safe(view.interrupted)}**"
    yield _bullets(
        f"{_safe(t.label)}: **{_safe(t.value)}**" + (f" ({_safe(t.note)})" if t.note else "")
        for t in view.tiles
    )


def _plans(view: Page, text: Words) -> Iterator[str]:
    yield f"## {text['plans']}"
    yield _line(text["plans_caption"])
    yield _table(
        [text[name] for name in _PLANS], [_plan_cells(r, text) for r in view.rows], right=4
    )
    if any(row.shaky for row in view.rows):
        yield f"† {_safe(text['shaky_note'])}"
    yield _line(view.front)
    others = [r for r in view.rows if r.outcome not in ("equal", "within")]
    if others:
        yield f"{_safe(text['others'])}:"
        yield _by_plan([(r.plan, f"{r.word}: {r.reason}") for r in others])


def _plan_cells(row: PlanRow, text: Words) -> list[str]:
    tags = [text[t] for t in ("chosen", "reused") if getattr(row, t)]
    tag = f" ({', '.join(tags)})" if tags else ""
    return [
        _code(row.plan) + tag,
        f"{row.shape} {row.word}",
        row.error,
        _safe(f"{row.closest} {row.limit}".strip()),
        row.speed + ("†" if row.shaky else ""),
        row.p90,
        row.memory,
        row.first,
    ]


def _cautions(view: Page, text: Words) -> Iterator[str]:
    yield f"## {text['cautions']}"
    yield _by_plan(view.cautions) or _safe(text["no_cautions"])


def _verdicts(view: Page, text: Words) -> Iterator[str]:
    yield f"## {text['verdicts']}"
    for card in view.cards:
        yield from _card(card, text)


def _card(card: Card, text: Words) -> Iterator[str]:
    yield f"### {card.row.shape} {_code(card.row.plan)}: {card.row.word}"
    yield _line(card.scope)
    if card.reasons:
        yield f"**{text['why']}**"
        yield _bullets(map(_line, card.reasons))
    if card.evidence:
        yield f"**{text['evidence']}**"
        yield _bullets((*_lines(card.evidence), *map(_line, card.absent)))
    if card.measures:
        measures = [_measure_cells(m) for m in card.measures]
        yield f"**{text['measures']}**"
        yield _table([text[name] for name in _MEASURES], measures)
    if card.worst:
        yield f"**{text['worst']}**"
        yield _table([text[name] for name in _WORST], [_worst_cells(w) for w in card.worst])
    yield from _beside(card, text)
    for title, facts in (("timing", card.timing), ("what_ran", card.ran)):
        if facts:
            yield f"**{text[title]}**"
            yield _facts(facts)
    if card.doubts:
        yield f"**{text['doubts']}**"
        yield _bullets(map(_line, card.doubts))


def _beside(card: Card, text: Words) -> Iterator[str]:
    if card.strata:
        yield f"**{text['strata']}**"
        strata = [_safe_cells(_stratum_cells(s)) for s in card.strata]
        yield _table([text[name] for name in _STRATA], strata)
    if card.rules:
        yield f"**{text['rules']}**"
        yield _line(text["rules_note"])
        rules = [_safe_cells(_rule_cells(r)) for r in card.rules]
        yield _table([text[name] for name in _RULES], rules)


def _stratum_cells(row: StratumRow) -> tuple[str, ...]:
    error = f"{row.error} ({row.reason})" if row.reason else row.error
    return (row.by, row.name, row.n, row.same, row.flips, error, row.worst)


def _rule_cells(row: RuleRow) -> tuple[str, ...]:
    value = f"{row.value} ({row.reason})" if row.reason else row.value
    return (row.name, value, row.threshold, row.passes, row.n)


def _safe_cells(cells: Sequence[str]) -> list[str]:
    return [_safe(cell) for cell in cells]


def _measure_cells(row: MeasureRow) -> list[str]:
    value = f"{row.value} ({row.reason})" if row.reason else row.value
    cells = (row.measure, value, row.limit, f"{row.shape} {row.holds}".strip(), row.n, row.worst)
    return _safe_cells((*cells, row.gate, row.source))


def _worst_cells(row: WorstRow) -> list[str]:
    error = f"{row.error} ({row.reason})" if row.reason else row.error
    answers = ("<br>".join(map(_safe, lines)) for lines in (row.reference, row.candidate))
    return [row.item, _safe(row.shown), _safe(error), *answers]


def _rest(view: Page, text: Words) -> Iterator[str]:
    for section in view.sections:
        if section.facts:
            yield f"## {_safe(section.title)}"
            yield _facts(section.facts)
    yield f"## {text['files']}"
    if view.weights:
        rows = [
            [_safe(c) for c in (w.path, w.format, w.size, w.used, w.sha256)] for w in view.weights
        ]
        yield _table([text[name] for name in _WEIGHTS], rows)
    yield _facts(view.fingerprints)
    yield f"## {text['not_run']}"
    yield _by_plan(view.not_run) or _safe(text["all_run"])
    yield "---"
    yield f"{_safe(view.made)}. {_code(view.command)}"
    yield _line(text["only_door"])


def _by_plan(lines: Sequence[tuple[str, str]]) -> str:
    return _bullets(
        f"{_code(plan)}: {_safe(said)}" if plan else _line(said) for plan, said in lines
    )


def _facts(facts: Pairs) -> str:
    return _bullets(_lines(facts))


def _lines(facts: Pairs) -> Iterator[str]:
    return (f"{_line(label)}: {_safe(value)}" for label, value in facts)


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: int = 0) -> str:
    """Return a table whose source lines up too; the last ``right`` columns to the right."""
    widths = [max(3, *(_width(row[n]) for row in (head, *rows))) for n in range(len(head))]
    first_right = len(head) - right

    def line(cells: Sequence[str]) -> str:
        padded = [
            " " * (w - _width(c)) + c if n >= first_right else c + " " * (w - _width(c))
            for n, (c, w) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = ["-" * (w - 1) + ":" if n >= first_right else "-" * w for n, w in enumerate(widths)]
    return "\n".join((line(head), f"| {' | '.join(rule)} |", *map(line, rows)))


def _width(text: str) -> int:
    """Return how many columns a text takes in a terminal."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def _safe(text: str) -> str:
    """Return the text so that Markdown shows it as it is: no markup, no HTML, no link, one line."""
    text = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _SPECIAL.sub(r"\\\1", text)
    return re.sub(r"(?i)(https?|ftp):", r"\1&#58;", text).replace("@", "&#64;")


def _line(text: str) -> str:
    """Return the text as a line of its own, which starts no list, heading or rule."""
    safe = _safe(text)
    start = _STARTS_A_BLOCK.match(safe)
    return f"{safe[: start.end() - 1]}\\{safe[start.end() - 1 :]}" if start else safe


def _code(text: str) -> str:
    """Return the text as a code span, where nothing in it can end the span or the table's cell."""
    shown = visible(text)
    return f"`{shown}`" if re.fullmatch(r"[^`|]+", shown) else _safe(text)
