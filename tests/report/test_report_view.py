from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path

import example
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.outcomes import Report
from likewise.report import derived, facts, numbers, view
from likewise.report.words import words
from likewise.types import Measure

EXAMPLE = example.report()
EN = words("en")
ROOM = Path(view.__file__).parent


def measure(value: float | None, limit: float | None, better: str = "lower") -> Measure:
    return Measure("m", "logits", value, "", 9, limit, better, holds=True)  # type: ignore[arg-type]  # better is one of two words


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_a_spelled_figure_is_within_half_a_unit_of_its_third_digit(value: float) -> None:
    spelled = float(numbers.number(value).replace(",", ""))
    assert math.isclose(spelled, value, rel_tol=5.1e-3)


@given(st.floats(1e-12, 1e12), st.floats(1e-12, 1e12))
def test_a_figure_beyond_its_limit_never_looks_equal_to_it(value: float, limit: float) -> None:
    shown = numbers.against(value, limit)
    if not math.isclose(value, limit, rel_tol=1e-15):
        assert (shown[0] == shown[1]) == (value == limit)


@pytest.mark.parametrize(
    ("given_measure", "share"),
    [
        (measure(1.5, 3.0), 0.5),
        (measure(0.0, 0.0), 0.0),
        (measure(1.0, 0.0), math.inf),
        (measure(None, 3.0), math.inf),
        (measure(0.995, 0.99, "higher"), 0.5),
        (measure(1.0, 1.0, "higher"), 0.0),
        (measure(0.9, 1.0, "higher"), math.inf),
        (measure(256.0, 64.0, "higher"), 0.25),
    ],
    ids=str,
)
def test_the_share_of_a_limit_is_1_at_the_limit_and_more_beyond(
    given_measure: Measure, share: float
) -> None:
    assert derived.share_of_limit(given_measure) == pytest.approx(share)


def test_an_item_without_an_error_is_not_hidden_by_a_maximum() -> None:
    outside = next(e.verdict for e in EXAMPLE.entries if e.plan == example.HALF)
    equal = next(e.verdict for e in EXAMPLE.entries if e.plan == example.TORCH)
    assert outside is not None
    assert equal is not None
    holed = dataclasses.replace(outside, errors=(1e-7, None))
    assert derived.largest_error(holed) is None
    assert derived.largest_error(dataclasses.replace(equal, errors=(1e-7, None))) == 1e-7
    assert derived.largest_error(dataclasses.replace(equal, errors=())) is None


def test_the_chosen_plan_stands_first_and_refusals_last() -> None:
    assert [e.plan for e in derived.in_order(EXAMPLE)] == [
        example.OPENVINO,
        example.ONNX,
        example.TORCH,
        example.HALF,
        example.SHORT,
        example.CUDA,
    ]


def test_a_failing_measure_is_shown_before_one_that_is_merely_near() -> None:
    rows = {r.plan: r for r in view.page(EXAMPLE, EN).rows}
    assert (rows[example.HALF].closest, rows[example.HALF].limit) == ("flips", "2 > 0")
    assert rows[example.TORCH].limit == "1.10 ≤ 3"


def test_what_could_not_be_decided_is_shown_before_what_holds() -> None:
    undecided = dataclasses.replace(measure(1.5, 3.0), holds=None)
    assert max([measure(2.9, 3.0), undecided], key=derived.urgency) is undecided


def test_long_lists_and_lists_of_mappings_lose_nothing_in_silence() -> None:
    shown = facts.pairs({"labels": list(range(1000)), "files": [{"a": 1}] * 14, "none": {}}, EN)
    assert ("files 1 · a", "1") in shown
    assert ("files", "and 2 more") in shown
    assert ("none", "–") in shown
    assert dict(shown)["labels"].endswith("10, 11, and 988 more")


def test_keys_give_figures_their_unit() -> None:
    shown = dict(facts.pairs({"open_seconds": 0.5, "peak_bytes": 2**20, "seconds": 90}, EN))
    assert shown == {"open": "500 ms", "peak": "1 MiB", "seconds": "90 s"}


@pytest.mark.parametrize(
    ("answer", "lines"),
    [
        (
            {"masks": [[{"token": "Paris", "score": 0.5}, {"token": "Rome", "score": 0.25}]]},
            ("mask 1: Paris 0.5; Rome 0.25",),
        ),
        ({"error": "not a picture"}, ("error: not a picture",)),
        ({"value": 1.25}, ("value: 1.25",)),
        ({"vector": [0.5] * 384}, ("384 numbers: " + "0.5, " * 12 + "and 372 more",)),
        (None, ("–",)),
        ("x" * 500, ("x" * 400 + "… (500)",)),
    ],
    ids=["masks", "error", "value", "vector", "none", "long"],
)
def test_an_answer_of_any_kind_is_spelled(answer: object, lines: tuple[str, ...]) -> None:
    assert facts.answers(answer, answer, EN) == (lines, lines)


def test_answers_of_different_kinds_stand_side_by_side() -> None:
    assert facts.answers({"vector": [1.0]}, {"error": "x", "tokens": 3}, EN) == (
        ("1 numbers: 1",),
        ("error: x", "tokens: 3"),
    )


def test_every_phrase_is_used_and_every_used_phrase_is_there() -> None:
    code = "".join(p.read_text() for p in ROOM.glob("*.py") if p.name != "words.py")
    template = (ROOM / "page.html.j2").read_text()
    asked = set(re.findall(r"\bt\.(\w+)", template))
    asked |= set(re.findall(r"(?:words|text)\[[\"'](\w+)[\"']\]", code))
    assert asked - set(EN) == set()
    named = asked | set(re.findall(r"[\"'](\w+)[\"']", code))
    built = {k for k in EN if k.startswith(("means_", "chosen_"))}
    assert set(EN) - named - built == set()


def test_a_view_is_made_of_spelled_text_only() -> None:
    def texts(value: object) -> bool:
        if dataclasses.is_dataclass(value):
            return all(texts(getattr(value, f.name)) for f in dataclasses.fields(value))
        if isinstance(value, tuple):
            return all(map(texts, value))
        return isinstance(value, str | bool)

    assert texts(view.page(EXAMPLE, EN))


def test_a_model_without_a_folder_still_has_a_title() -> None:
    def title(**model: object) -> str:
        report: Report = dataclasses.replace(EXAMPLE, model=model)
        return view.page(report, EN).title

    assert title(folder="C:\\models\\bert") == "bert"
    assert title(folder="/models/bert/") == "bert"
    assert title(architecture="BertModel") == "BertModel"
    assert title() == "?"
