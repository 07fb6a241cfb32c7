"""The runner: order restored, limits kept, nothing lost, nothing invented."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys import Codes, Letters

from likewise.errors import RefusedError
from likewise.run.items import fingerprint
from likewise.run.runner import Runner
from likewise.types import Plan

if TYPE_CHECKING:
    from likewise.types import Arrays

PLAN = Plan.parse("toy/cpu/float32/b4/t1")
texts = st.lists(st.text("abCD", max_size=12), max_size=40)


def expected(text: str) -> dict[str, Any]:
    codes = [float(ord(c)) for c in text if c.isupper()]
    answer = {"codes": codes} if codes else {"error": "no capital"}
    return {**answer, "tokens": len(text)}


@given(texts, st.integers(1, 9), st.integers(1, 60))
def test_every_item_gets_its_own_answer_in_order(
    items: list[str], batch: int, batch_tokens: int
) -> None:
    plan = Plan("toy", "cpu", "float32", batch, 1)
    run = Runner(Letters(), Codes(), plan, batch_tokens=batch_tokens).run(items)
    assert run.answers == [expected(text) for text in items]
    assert run.count == len(items)
    assert run.items_fingerprint == fingerprint(items)


@given(texts)
def test_the_rows_are_those_of_the_items_in_item_order(items: list[str]) -> None:
    run = Runner(Letters(), Codes(), PLAN).run(items)
    pairs = [(i, float(ord(c))) for i, text in enumerate(items) for c in text if c.isupper()]
    if not pairs:
        assert run.arrays == {}
        assert run.owners.tolist() == []
        return
    assert list(zip(run.owners.tolist(), run.arrays["logits"][:, 0].tolist(), strict=True)) == pairs


@given(texts)
def test_the_stream_gives_what_the_run_gives(items: list[str]) -> None:
    runner = Runner(Letters(), Codes(), PLAN)
    windows = list(runner.stream(items, top=1))
    assert [answer for window in windows for answer in window] == runner.run(items, top=1).answers
    assert all(len(window) <= Letters.window for window in windows)


def test_batches_are_sorted_and_keep_both_limits() -> None:
    session = Codes()
    runner = Runner(Letters(window=100), session, PLAN, batch_tokens=30)
    runner.run(["A" * n for n in (3, 20, 1, 9, 8, 7, 2, 2, 31)])
    assert session.shapes == [(1, 31), (1, 20), (3, 9), (4, 3)]


def test_without_keeping_no_array_is_held() -> None:
    run = Runner(Letters(), Codes(), PLAN).run(["A", "bC"], keep=False)
    assert run.arrays == {}
    assert [answer["codes"] for answer in run.answers] == [[65.0], [67.0]]


def test_an_item_that_cannot_be_read_stands_alone() -> None:
    run = Runner(Letters(), Codes(), PLAN).run(["A", None, "b", 3, "D"])
    errors = [answer.get("error") for answer in run.answers]
    assert errors == [None, "not a text: NoneType", "no capital", "not a text: int", None]
    assert run.tokens.tolist() == [1, 0, 0, 0, 1]
    assert run.owners.tolist() == [0, 4]


def test_numbers_that_are_not_finite_are_an_error_of_their_item_only() -> None:
    def spoil(outputs: Arrays) -> Arrays:
        rows = outputs["logits"]
        return {"logits": np.where(rows == ord("C"), np.nan, rows).astype(np.float32)}

    run = Runner(Letters(), Codes(spoil=spoil), PLAN).run(["A", "CD", "D"])
    assert run.answers[1]["error"] == "not finite: logits holds NaN or infinity"
    assert [run.answers[i]["codes"] for i in (0, 2)] == [[65.0], [68.0]]
    assert np.isnan(run.arrays["logits"][run.owners == 1]).any()


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda _: {}, "nothing, but no logits"),
        (lambda o: {"last_hidden_state": o["logits"]}, "last_hidden_state, but no logits"),
        (lambda o: {"logits": o["logits"][:-1]}, r"logits \(1, 2\) where 2 row"),
        (lambda _: {"logits": np.float32(1.0)}, r"logits \(\) where 2 row"),
    ],
)
def test_a_session_that_gives_something_else_is_refused(spoil: Any, reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        Runner(Letters(), Codes(spoil=spoil), PLAN).run(["A", "B"])


def test_a_task_that_drops_an_item_is_refused() -> None:
    class Short(Letters):
        def encode(self, items: list[str]) -> None:
            return super().encode(items)[:-1]

    with pytest.raises(RefusedError, match="1 for 2"):
        Runner(Short(), Codes(), PLAN).run(["A", "B"])


def test_seconds_are_raw_and_the_batching_is_told() -> None:
    run = Runner(Letters(window=4), Codes(), PLAN).run(["A", "BB", "CCC", "DDDD", "EEEEE"])
    assert {name: len(values) for name, values in run.seconds.items()} == {
        "encode": 2,
        "compute": 2,
        "finish": 2,
    }
    assert all(second >= 0 for values in run.seconds.values() for second in values)
    assert run.facts["engine"] == "codes"
    assert run.facts["task"] == {"name": "letters", "limit": 100}
    assert run.facts["batching"]["padding_share"] == pytest.approx(1 - 15 / 21)


def test_no_items_no_answers() -> None:
    run = Runner(Letters(), Codes(), PLAN).run([])
    assert (run.count, run.answers, run.arrays) == (0, [], {})


def test_closing_the_runner_closes_the_session() -> None:
    session = Codes()
    with Runner(Letters(), session, PLAN) as runner:
        assert runner.first_at is None
        runner.run(["A"])
        assert runner.first_at is not None
    assert session.closed
