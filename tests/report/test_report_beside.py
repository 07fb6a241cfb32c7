"""What stands beside a verdict: canaries, rows by label and length, the usual rules."""

from __future__ import annotations

import dataclasses
from typing import Any

import example
import msgspec
import pytest
from reading import Page, figure, markdown_tables

from likewise.outcomes import Verdict
from likewise.report import html, markdown, record
from likewise.report.beside import canaries, flip_bound
from likewise.report.words import words
from likewise.types import Measure

EXAMPLE = example.report()
EN = words("en")


def verdict(*changed: Measure) -> Verdict:
    """Return the example's verdict with some measures in the place of its own."""
    first = EXAMPLE.entries[0].verdict
    assert first is not None
    names = {m.metric for m in changed}
    kept = tuple(m for m in first.measures if m.metric not in names)
    return dataclasses.replace(first, measures=(*kept, *changed))


def counted(metric: str, value: float | None, n: int, unit: str = "", reason: str = "") -> Measure:
    return Measure(metric, "run", value, unit, n, 0.0, reason=reason)


def test_the_line_of_canaries_counts_what_was_caught_and_what_passed() -> None:
    assert canaries(verdict(), EN) == "8/8 planted faults caught, 3/3 honest ways pass"
    some = verdict(counted("canaries_missed", 1, 8), counted("false_alarms", 2, 3))
    assert canaries(some, EN) == "7/8 planted faults caught, 1/3 honest ways pass"


def test_canaries_that_were_not_planted_are_not_said_to_be_caught() -> None:
    unknown = verdict(counted("canaries_missed", None, 0, reason="too few items"))
    assert canaries(unknown, EN) == "not known: too few items"
    bare = dataclasses.replace(verdict(), measures=())
    assert (canaries(bare, EN), flip_bound(bare, EN)) == ("–", "–")


def test_a_bound_is_shown_whichever_of_bound_and_count_is_held() -> None:
    exact = "0 of 256; with 95 % confidence fewer than 1.16 % of such items"
    assert flip_bound(verdict(), EN) == exact
    lossy = verdict(
        counted("top1_flips", 0.0184, 256, "rate, 95 % bound"),
        counted("top1_flips_counted", 1, 256),
        counted("top1_flips_bound", None, 0),
    )
    measures = tuple(m for m in lossy.measures if m.metric != "top1_flips_bound")
    shown = flip_bound(dataclasses.replace(lossy, measures=measures), EN)
    assert shown == "1 of 256; with 95 % confidence fewer than 1.84 % of such items"


@pytest.mark.parametrize("rendering", ["markdown", "html"])
def test_every_figure_beside_the_verdict_is_the_records(rendering: str) -> None:
    raw = msgspec.to_builtins(record.settled(EXAMPLE))["entries"]
    entry = next(e for e in raw if e["plan"] == example.OPENVINO)["verdict"]
    tables = (
        markdown_tables(markdown.render(EXAMPLE))
        if rendering == "markdown"
        else Page(html.render(EXAMPLE)).tables
    )
    strata = next(t for t in tables if t[0][0] == "By")[1:]
    for cells, stratum in zip(strata, entry["strata"], strict=True):
        assert cells[:2] == [stratum["by"], stratum["name"]]
        assert figure(cells[2]) == stratum["n"]
        assert figure(cells[3]) == stratum["n"] - stratum["differ"]
        assert figure(cells[4]) == stratum["flips"]
        assert figure(cells[5]) == near(stratum["error"])
        assert figure(cells[6]) == stratum["worst_item"]
    rules = next(t for t in tables if t[0][0] == "Usual rule")[1:]
    for cells, rule in zip(rules, entry["rules"], strict=True):
        assert figure(cells[1].partition("(")[0].partition("3 classes")[0]) == near(rule["value"])
        assert figure(cells[2]) == near(rule["threshold"])
        assert cells[3] == {True: "yes", False: "no", None: "–"}[rule["passes"]]


def near(value: float | None) -> Any:
    return None if value is None else pytest.approx(value, rel=5e-3)


def test_the_usual_rules_are_said_to_be_no_part_of_the_verdict() -> None:
    for text in (markdown.render(EXAMPLE), Page(html.render(EXAMPLE)).text):
        said = " ".join(text.split())
        assert said.index("no part of the verdict") < said.index("mean cosine")


def test_scope_bound_counts_and_both_answers_are_in_both_renderings() -> None:
    for text in (markdown.render(EXAMPLE), Page(html.render(EXAMPLE)).text):
        said = " ".join(text.replace("<br>", " ").split())
        for part in (
            "computes the same function as the checkpoint",
            "8/8 planted faults caught, 3/3 honest ways pass",
            "0 of 256; with 95 % confidence fewer than 1.16 %",
            "Bullish 0.9120003",
        ):
            assert part in said
