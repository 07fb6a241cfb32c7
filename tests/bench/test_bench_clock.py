"""What is timed, and when the clock stops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from likewise.bench import clock
from likewise.run.runner import Runner
from likewise.types import Answer, Item, Json, Kind, Network, Plan, Row

if TYPE_CHECKING:
    from likewise.types import Arrays, Ints

PLAN = Plan("lazy", "cpu", "float32", 4, 1)


class Lengths:
    """The smallest task there is: the answer to a text is its length."""

    name = "lengths"
    network = Network("classes", ("input_ids",), ("logits",))
    takes = "text"
    kinds: Mapping[str, Kind] = {"logits": "logits"}
    window = 64
    assumptions = ()

    def facts(self) -> Mapping[str, Json]:
        return {}

    def hints(self) -> Mapping[str, Json]:
        return {}

    def encode(self, items: Sequence[Item]) -> list[Row]:
        return [
            Row({"input_ids": np.asarray([len(i)])}, tokens=len(i), problem=None if i else "empty")
            for i in items
        ]

    def collate(self, rows: Sequence[Row]) -> Arrays:
        return {"input_ids": np.stack([row.arrays["input_ids"] for row in rows])}

    def owners(self, inputs: Arrays) -> Ints:
        return np.arange(len(inputs["input_ids"]))

    def finish(self, inputs: Arrays, outputs: Arrays) -> Arrays:
        del inputs
        return {"logits": np.asarray(outputs["logits"])}

    def answers(self, inputs: Arrays, arrays: Arrays, *, top: int | None) -> list[Answer]:
        del inputs, top
        return [{"value": float(value)} for (value,) in arrays["logits"]]


class Late:
    """An array that is promised at once and computed when it is read."""

    def __init__(self, values: Any, read: Any) -> None:
        self.values = values
        self.read = read
        self.shape = values.shape

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.read(len(self.values))
        return self.values


class Session:
    def __init__(self, read: Any) -> None:
        self.read = read
        self.batches: list[int] = []

    def run(self, inputs: Arrays) -> Any:
        self.batches.append(len(inputs["input_ids"]))
        return {"logits": Late(inputs["input_ids"].astype(np.float32), self.read)}

    def facts(self) -> Mapping[str, Json]:
        return {"engine": "lazy"}

    def close(self) -> None:
        pass


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Return a runner whose work takes three seconds an item, on a clock of its own."""
    now = [0.0]

    def work(items: int) -> None:
        now[0] += 3.0 * items

    monkeypatch.setattr(clock, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    return Runner(Lengths(), Session(work), PLAN)


TEXTS = ["a", "bb", "ccc", "dddd", "eeeee", "ffffff"]


def test_the_clock_stops_when_a_late_engine_has_really_answered(runner: Runner) -> None:
    assert clock.offline(runner, TEXTS) == {"seconds": 18.0}
    assert clock.single(runner, TEXTS[:2]) == {"wake": 3.0, "seconds": [3.0, 3.0]}
    assert clock.look(runner, TEXTS)["seconds"] == 18.0


def test_offline_takes_the_batches_of_the_plan_and_single_takes_one_item(runner: Runner) -> None:
    clock.offline(runner, TEXTS)
    clock.single(runner, TEXTS[:2])
    assert runner.session.batches == [4, 2, 1, 1, 1]  # type: ignore[attr-defined]  # a Session of this file


def test_a_look_tells_tokens_problems_and_phases(runner: Runner) -> None:
    seen = clock.look(runner, ["", *TEXTS])
    assert seen["tokens"] == {"median": 3.5, "p90": 5.5, "max": 6}
    assert seen["problems"] == 1
    assert set(seen["phases"]) == {"encode", "compute", "finish"}
    assert seen["facts"]["engine"] == "lazy"


def test_a_look_at_items_without_tokens_still_gives_numbers(runner: Runner) -> None:
    assert clock.look(runner, [""])["tokens"] == {"median": 0.0, "p90": 0.0, "max": 0}
