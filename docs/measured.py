"""Raw rows of the benchmarks in; what was caught and what passed, as a page, out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

__all__ = ["page"]

HERE = Path(__file__).parent
DATA = HERE.parent / "benchmarks/data"
_WRONG = ("caught", "missed", "below rounding")
_OUTCOMES = ("equal", "within", "undecided", "outside")

Row = dict[str, Any]
Rows = Sequence[Row]


def page() -> str:
    """Return the page; its words stand in ``measured.md.j2``."""
    mutants, honest, verdicts, proving = map(_rows, ("mutants", "honest", "verdicts", "proving"))
    exact = [r for r in mutants if r["precision"] == "float32" and r["fault"] != "none"]
    models = list(dict.fromkeys(row["model"] for row in exact))
    plain = [row for row in honest if row["class"] == "float32"]
    caught = [
        row for row in exact if row["caught_by"] == "G1 faithful" and row.get("amplification_max")
    ]
    # The words are Markdown, not HTML.
    room = Environment(
        loader=FileSystemLoader(HERE), undefined=StrictUndefined, keep_trailing_newline=True
    )
    return room.get_template("measured.md.j2").render(
        sums=list(_sums(mutants)),
        models=models,
        faults=list(_faults(exact, models)),
        honest=list(_honest(honest)),
        doubted=[row for row in honest if row["outcome"] in ("undecided", "outside")],
        worst=max(plain, key=lambda row: float(row.get("amplification_max") or 0)),
        weakest=min(caught, key=lambda row: float(row["amplification_max"]), default=None),
        verdicts=list(map(_verdict, verdicts)),
        proving=proving,
    )


def _rows(name: str) -> Rows:
    """Return raw rows; none where that was not measured yet: the page then leaves it out."""
    file = DATA / f"{name}.json"
    found: Rows = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    return found


def _sums(rows: Rows) -> Iterator[tuple[Any, ...]]:
    for key in dict.fromkeys((row["model"], row["task"], row["precision"]) for row in rows):
        some = [r for r in rows if (r["model"], r["task"], r["precision"]) == key]
        counts = Counter(row["verdict"] for row in some)
        wrong = [row for row in some if row["verdict"] in _WRONG]
        fooled = sum(row["usual_rule"] == "passes" for row in wrong)
        names = (*_WRONG, "equivalent", "not reached")
        yield (*key, *(counts[name] for name in names), f"{fooled} of {len(wrong)}")


def _faults(rows: Rows, models: Sequence[str]) -> Iterator[tuple[str, ...]]:
    cells = {(row["fault"], row["model"]): _cell(row) for row in rows}
    for fault, title in sorted({row["fault"]: row["title"] for row in rows}.items()):
        yield (fault, title, *(cells.get((fault, model), "·") for model in models))


def _cell(row: Row) -> str:
    usual = " ⚠" if row["usual_rule"] == "passes" else ""
    return f"{row['caught_by']}{usual}" if row["verdict"] == "caught" else str(row["verdict"])


def _honest(rows: Rows) -> Iterator[tuple[Any, ...]]:
    for kind in (*dict.fromkeys(row["class"] for row in rows), "all"):
        counts = Counter(row["outcome"] for row in rows if kind in (row["class"], "all"))
        yield (kind, sum(counts.values()), *(counts[name] for name in _OUTCOMES))


def _verdict(row: Row) -> tuple[Any, ...]:
    task = row.get("task") or {}
    figures = [
        f"{name.replace('_', ' ')} {'—' if value is None else f'{value:.4g}'}"
        for name, (value, _, _) in task.items()
    ]
    count = next((n for _, n, _ in task.values()), "")
    why = "" if row["outcome"] in ("equal", "within") else row["reason"]
    said = "; ".join(figures)
    return (row["model"], f"`{row['plan']}`", row["outcome"], row.get("n", ""), said, count, why)
