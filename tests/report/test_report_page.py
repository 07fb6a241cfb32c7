from __future__ import annotations

import dataclasses
import itertools
import re
from typing import Any

import accept
import example
import msgspec
import pytest
from reading import Page, figure, markdown_tables

from likewise.errors import SettingsError
from likewise.outcomes import Choice, Report
from likewise.report import html, markdown, record

EXAMPLE = example.report()


@pytest.fixture(scope="module")
def source() -> str:
    return html.render(EXAMPLE)


@pytest.fixture(scope="module")
def page(source: str) -> Page:
    return Page(source)


def attacked(report: Report) -> Report:
    """Return the report with the attack at the end of every text in it."""

    def spoil(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {k: spoil(v, k) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [spoil(v, key) for v in value]
        free = isinstance(value, str) and key not in ("outcome", "better")
        return f'{value}{example.ATTACK}</style>" onload="x|`**' if free else value

    return msgspec.convert(spoil(msgspec.to_builtins(record.settled(report))), Report)


def test_the_page_is_the_accepted_one() -> None:
    accepted = accept.HTML.read_text(encoding="utf-8")
    assert accept.page() == accepted, "python tests/report/accept.py, and read the diff"


def test_the_markdown_is_the_accepted_one() -> None:
    accepted = accept.MARKDOWN.read_text(encoding="utf-8")
    assert accept.text() == accepted, "python tests/report/accept.py, and read the diff"


def test_the_same_record_gives_the_same_page_from_memory_and_from_disk(
    source: str, tmp_path: Any
) -> None:
    record.save(EXAMPLE, tmp_path / "report.json")
    again = record.load(tmp_path)
    assert html.render(again) == source
    assert markdown.render(again) == markdown.render(EXAMPLE)


def test_the_page_has_one_title_a_language_and_steps_down_its_headings_one_by_one(
    page: Page,
) -> None:
    assert page.headings.count("h1") == 1
    assert ("html", {"lang": "en"}) in page.elements
    levels = [int(h[1]) for h in page.headings]
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))
    tags = [tag for tag, _ in page.elements]
    assert all(tags.count(landmark) == 1 for landmark in ("header", "main", "nav", "footer"))
    assert page.open == []


def test_every_reference_inside_the_page_has_one_target(page: Page) -> None:
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    inside = [v for a in ("aria-labelledby", "aria-describedby") for v in page.values(a)]
    links = [v for a in ("href", "xlink:href") for v in page.values(a) if v != "data:,"]
    assert all(link.startswith("#") for link in links)
    clips = re.findall(r"url\(#([^)]+)\)", " ".join(page.values("clip-path")))
    assert set(inside) | {link[1:] for link in links} | set(clips) <= set(ids)


def test_nothing_leaves_the_page_and_nothing_runs_in_it(page: Page, source: str) -> None:
    tags = {tag for tag, _ in page.elements}
    assert not tags & {
        "script",
        "iframe",
        "img",
        "object",
        "embed",
        "form",
        "base",
        "foreignobject",
    }
    assert page.values("src") == []
    assert not re.search(r"@import|url\(\s*['\"]?(?!#)", source)
    policy = next(a["content"] for t, a in page.elements if t == "meta" and "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_every_table_names_itself_and_its_columns(page: Page, source: str) -> None:
    for table in re.findall(r"<table.*?</table>", source, re.DOTALL):
        assert "<caption>" in table or "aria-labelledby" in table
        head = table[: table.index("</thead>")]
        assert len(re.findall(r"<th\b", head)) == head.count('scope="col"')
        assert table.count("<tr") - 1 == table.count('scope="row"')


def test_an_outcome_is_a_word_and_a_shape_never_a_colour_alone(page: Page) -> None:
    cells = {row[0].split()[0]: row[1].split() for row in page.tables[0][1:]}
    assert cells[example.OPENVINO] == ["●", "equal"]
    assert cells[example.HALF] == ["✕", "outside"]
    assert cells[example.SHORT] == ["?", "undecided"]
    assert cells[example.CUDA] == ["⊘", "refused"]


def test_the_first_sentence_says_what_was_chosen_and_why(page: Page) -> None:
    text = " ".join(page.text.split())
    outcome = text.index(f"{example.OPENVINO} was chosen: equal to the CPU reference on 256 items")
    assert outcome < text.index("most items a second of the 3 plan(s) that passed")
    assert outcome < text.index("Every plan that was asked for")


def rounded(value: float | None) -> Any:
    """Return what a figure of three digits may be; an absent one has none."""
    return None if value is None else pytest.approx(value, rel=5e-3)


def raw_entries() -> dict[str, Any]:
    return {e["plan"]: e for e in msgspec.to_builtins(record.settled(EXAMPLE))["entries"]}


def shown_tables(which: str) -> list[list[list[str]]]:
    if which == "markdown":
        return markdown_tables(markdown.render(EXAMPLE))
    return Page(html.render(EXAMPLE)).tables


@pytest.mark.parametrize("rendering", ["markdown", "html"])
def test_every_figure_of_the_plans_is_the_records(rendering: str) -> None:
    entries = raw_entries()
    rows = {r[0].strip("` ").split()[0].strip("`"): r for r in shown_tables(rendering)[0][1:]}
    assert set(rows) == set(entries)
    for plan, entry in entries.items():
        timing, verdict = entry["timing"], entry["verdict"]
        errors = verdict["errors"] if verdict else []
        complete = bool(errors) and None not in errors
        expected = [max(errors) if complete else None] + (
            [
                timing["offline"]["items"] / timing["offline"]["median"],
                timing["single"]["p90"] * 1000,
                timing["peak_bytes"] / 2**20,
                timing["first_result_seconds"],
            ]
            if timing
            else [None] * 4
        )
        cells = rows[plan]
        if entry["refusal"]:
            assert rendering == "markdown" or cells[2] == entry["refusal"]
            continue
        for column, value in zip((2, 4, 5, 6, 7), expected, strict=True):
            assert figure(cells[column]) == rounded(value)


@pytest.mark.parametrize("rendering", ["markdown", "html"])
def test_every_figure_of_the_measures_is_the_records(rendering: str) -> None:
    entries = raw_entries()
    order = [example.OPENVINO, example.ONNX, example.TORCH, example.HALF, example.SHORT]
    tables = [t for t in shown_tables(rendering) if t[0][0] == "Measure"]
    assert len(tables) == len(order)
    for plan, table in zip(order, tables, strict=True):
        for cells, measure in zip(table[1:], entries[plan]["verdict"]["measures"], strict=True):
            assert figure(cells[1]) == rounded(measure["value"])
            assert figure(cells[2]) == rounded(measure["limit"])
            assert figure(cells[4]) == measure["n"]
            assert figure(cells[5]) == measure["worst_item"]
            assert (cells[3].endswith("yes")) == (measure["holds"] is True)


def test_the_worst_item_stands_there_with_both_answers_told_apart(page: Page) -> None:
    table = next(t for t in page.tables if t[0][0] == "Item")
    item, shown, error, reference, candidate = table[1]
    assert shown == 'HODL!! 🚀🚀 <b>to the moon</b> & back "now"'
    assert figure(error) == rounded(raw_error(example.OPENVINO, int(item)))
    assert "Bullish 0.912" in reference
    assert "Bullish 0.9120003" in candidate
    assert table[2][1] == "比特币今天大涨 20%，市场情绪高涨。"


def raw_error(plan: str, item: int) -> float:
    return float(raw_entries()[plan]["verdict"]["errors"][item])


def test_what_was_not_run_or_not_measured_is_listed(page: Page) -> None:
    text = " ".join(page.text[page.text.rindex("What was not run") :].split())
    assert f"{example.CUDA} : refused: onnxruntime has no" in text.replace(": ref", " : ref")
    assert "judged, not timed" in text
    assert "spread error (logits): not a finite number: nan" in text


def test_a_verdict_shows_its_scope_floor_references_and_doubts(page: Page) -> None:
    text = " ".join(page.text.split())
    for said in (
        "computes the same function as the checkpoint",
        "Noise floor (median) 2.43e-7",
        f"Reference {example.REFERENCE}",
        "Decisive items 251",
        example.DOUBT,
        "onnxruntime 1.32.0",
        "9f2c4b7a" * 8,
        "likewise port ./cryptobert -o cryptobert-cpu",
    ):
        assert said in text


def test_no_text_of_the_record_becomes_markup(source: str) -> None:
    spoilt = Page(html.render(attacked(EXAMPLE)))
    allowed = {tag for tag, _ in Page(source).elements}
    assert {tag for tag, _ in spoilt.elements} <= allowed
    assert not [k for _, attrs in spoilt.elements for k in attrs if k.startswith("on")]
    assert spoilt.open == []
    assert spoilt.values("src") == []
    assert example.ATTACK in spoilt.text


def test_no_text_of_the_record_becomes_markup_in_markdown() -> None:
    text = markdown.render(attacked(EXAMPLE))
    outside_code = re.sub(r"`[^`\n]*`", "", text).replace("\\`", "")
    assert re.findall(r"<[^>]*>?", outside_code.replace("<br>", "")) == []
    assert [len(t[0]) for t in markdown_tables(text)] == [
        len(row) for t in markdown_tables(text) for row in t[:1]
    ]
    for table in markdown_tables(text):
        assert len({len(row) for row in table}) == 1


def test_what_cannot_be_seen_is_made_visible() -> None:
    report = dataclasses.replace(
        EXAMPLE, warnings=("a\x00b\nc\u202ed", "javascript: https://example.org *x* #y")
    )
    page, text = html.render(report), markdown.render(report)
    for shown in (page, text):
        assert "a␀b␊c" in shown
        assert "\x00" not in shown
        assert "\u202e" not in shown
    assert "https://" not in text
    assert "\\*x\\*" in text


def test_nothing_chosen_is_said_with_the_counts() -> None:
    entries = tuple(e for e in EXAMPLE.entries if e.plan in (example.HALF, example.CUDA))
    report = dataclasses.replace(
        EXAMPLE, entries=entries, choice=Choice(None, "no plan can be chosen", (), ())
    )
    for text in (" ".join(Page(html.render(report)).text.split()), markdown.render(report)):
        assert "No plan was chosen: 1 outside, 1 refused." in text
        assert "no plan can be chosen" in text


def test_an_empty_and_interrupted_report_is_still_a_report() -> None:
    report = dataclasses.replace(
        EXAMPLE,
        entries=(),
        choice=Choice(None, "", (), ()),
        interrupted=True,
        model={},
        machine={},
        task={},
        probes={},
        references={},
        settings={},
        warnings=(),
    )
    for text in (Page(html.render(report)).text, markdown.render(report)):
        assert "No plan was chosen: there was none to try." in " ".join(text.split())
        assert text.count("Interrupted: this report holds what was finished") == 2


def test_an_unknown_language_is_refused_by_name() -> None:
    for render in (html.render, markdown.render):
        with pytest.raises(SettingsError, match="'xx'"):
            render(EXAMPLE, language="xx")
