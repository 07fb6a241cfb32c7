from __future__ import annotations

import dataclasses
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import TypeAlias

import example
import pytest

from likewise.outcomes import Entry, Report
from likewise.report import plots, strips

EXAMPLE = example.report()
Draw: TypeAlias = Callable[[Report], plots.Plot]
DRAWN = [plots.pareto, plots.latency, plots.errors]


def changed(plan: str, **fields: object) -> Report:
    """Return the example with fields of one plan's verdict replaced."""

    def change(entry: Entry) -> Entry:
        if entry.plan != plan or entry.verdict is None:
            return entry
        return dataclasses.replace(entry, verdict=dataclasses.replace(entry.verdict, **fields))

    return dataclasses.replace(EXAMPLE, entries=tuple(map(change, EXAMPLE.entries)))


def texts(svg: str) -> str:
    return " | ".join("".join(e.itertext()) for e in ET.fromstring(svg).iter() if "text" in e.tag)


@pytest.mark.parametrize("draw", DRAWN)
def test_a_plot_is_the_same_each_time_and_holds_no_date(draw: Draw) -> None:
    one, other = draw(EXAMPLE), draw(EXAMPLE)
    assert one == other
    assert not re.search("metadata|date", one.svg)


@pytest.mark.parametrize("draw", DRAWN)
def test_a_plot_says_in_words_what_it_shows(draw: Draw) -> None:
    plot = draw(EXAMPLE)
    root = ET.fromstring(plot.svg)
    title, description = root[0], root[1]
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == title.get("id") == f"{plot.name}-title"
    assert root.get("aria-describedby") == description.get("id")
    assert title.text == plot.title
    assert example.OPENVINO in (description.text or "")


@pytest.mark.parametrize("draw", DRAWN)
def test_a_plot_takes_its_colours_and_font_from_the_page(draw: Draw) -> None:
    svg = draw(EXAMPLE).svg
    assert set(re.findall(r"#[0-9a-f]{3,6}\b", re.sub(r"var\([^)]*\)", "", svg))) == set()
    assert "font-family" not in svg
    assert "currentColor" in svg


def test_plots_on_one_page_share_no_id() -> None:
    ids = [re.findall(r' id="([^"]+)"', draw(EXAMPLE).svg) for draw in DRAWN]
    flat = [i for each in ids for i in each]
    assert len(flat) == len(set(flat))
    assert all(
        i.startswith(f"{draw.__name__}-")
        for draw, each in zip(DRAWN, ids, strict=True)
        for i in each
    )


def test_a_plan_without_a_figure_is_named_not_drawn_as_zero() -> None:
    missing = dict(plots.pareto(EXAMPLE).missing)
    assert set(missing) == {example.HALF, example.CUDA}
    assert missing[example.CUDA] == "refused"
    assert dict(plots.latency(EXAMPLE).missing)[example.HALF] == "not timed"
    assert example.HALF not in plots.latency(EXAMPLE).svg
    assert "onnx/float16" not in texts(plots.pareto(EXAMPLE).svg)


def test_items_without_an_error_are_counted_in_words() -> None:
    missing = dict(plots.errors(EXAMPLE).missing)
    assert missing[example.HALF].endswith("6 of 256 are not finite numbers: nan")


def test_an_error_of_exactly_zero_is_said_where_no_logarithm_can_show_it() -> None:
    report = changed(example.TORCH, errors=(0.0,) * 256)
    assert "error exactly 0" in dict(plots.pareto(report).missing)[example.TORCH]
    assert "torch" in texts(plots.pareto(report).svg)
    assert "256 of 256" in dict(plots.errors(report).missing)[example.TORCH]
    assert "torch/" not in texts(plots.errors(report).svg)


def test_many_items_are_thinned_and_it_says_so() -> None:
    report = changed(example.TORCH, errors=tuple(1e-7 * (n + 1) for n in range(5_000)))
    plot = plots.errors(report)
    assert f"{strips.MOST_TICKS} quantiles of 5,000" in dict(plot.missing)[example.TORCH]
    assert len(plot.svg) < 120_000
    assert "5.00e-4" in texts(plot.svg)


@pytest.mark.parametrize("draw", DRAWN)
def test_a_report_with_nothing_to_draw_gives_no_picture(draw: Draw) -> None:
    report = dataclasses.replace(
        EXAMPLE, entries=(Entry(example.TORCH), Entry(example.CUDA, refusal="no CUDA"))
    )
    plot = draw(report)
    assert plot.svg == ""
    assert dict(plot.missing)[example.CUDA] == "refused"


def test_one_plan_alone_can_be_drawn() -> None:
    report = dataclasses.replace(EXAMPLE, entries=EXAMPLE.entries[:1])
    assert all(draw(report).svg for draw in DRAWN)
    assert example.TORCH in texts(plots.pareto(report).svg)


def test_the_captions_are_the_records_figures() -> None:
    timing = next(e.timing for e in EXAMPLE.entries if e.plan == example.OPENVINO)
    assert timing is not None
    shown = texts(plots.latency(EXAMPLE).svg)
    assert f"median {timing.single.median * 1e3:.1f} ms, p90 {timing.single.p90 * 1e3:.1f}" in shown


def test_labels_do_not_cover_each_other_or_leave_the_plot() -> None:
    entry = EXAMPLE.entries[0]
    assert entry.timing is not None
    crowd = tuple(
        dataclasses.replace(
            entry,
            plan=f"torch/cpu/float32/b{n}/t2",
            timing=dataclasses.replace(entry.timing, items_per_second=40.0 + n / 3),
        )
        for n in range(1, 9)
    )
    svg = plots.pareto(dataclasses.replace(EXAMPLE, entries=crowd)).svg
    places = re.findall(r'x="([\d.]+)" y="([\d.]+)"[^>]*>b\d', svg)
    assert len(places) == len(crowd)
    rows = sorted(float(y) for _, y in places)
    assert rows[0] > 0
    assert rows[-1] < 288
