"""Every engine that ``find`` lists, over every head: the same promises.

A new engine joins by its file alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from exporting import exports_here
from likewise import find
from likewise.engines import _grid
from likewise.engines._grid import Point
from likewise.errors import RefusedError
from likewise.model.read import read
from likewise.model.weights import load
from likewise.tasks._pick import pick
from likewise.types import Engine, Model, Network, Plan, Session

if TYPE_CHECKING:
    from likewise.types import Array, Arrays

ENGINES = find.names("engines")
BUILDERS = (  # every head, and every shape of inputs
    "bert_classifier",
    "roberta_classifier",
    "sentence_transformer",
    "xlmr_fillmask",
    "timm_classifier",
    "timm_features",
)
FACTS = ("engine", "device", "dtype", "threads", "versions", "fallbacks", "artefact", "loading")


@dataclass
class Opened:
    """One engine with one model."""

    engine: Engine
    model: Model
    network: Network
    plan: Plan
    session: Session

    def compute(self, point: Point) -> tuple[Arrays, Array]:
        inputs = _grid.feed(point, self.model, self.network)
        return inputs, self.session.run(inputs)[self.network.outputs[0]]


Open = Callable[[str, str], Opened]
Truth = Callable[[str, "Arrays"], "Array"]


@pytest.fixture(scope="module")
def opened(tiny: Callable[[str], Path]) -> Iterator[Open]:
    made: dict[tuple[str, str], Opened] = {}

    def open_once(name: str, builder: str) -> Opened:
        if (name, builder) not in made:
            engine: Engine = find.load("engines", name)
            model = read(tiny(builder))
            network = pick(model).network
            made[name, builder] = Opened(
                engine, model, network, plan := ready(engine), engine.open(model, network, plan)
            )
            assert made[name, builder].engine.refuse(model, network, plan) is None
        return made[name, builder]

    with exports_here():
        yield open_once
    for one in made.values():
        one.session.close()


@pytest.fixture(scope="module")
def truth(tiny: Callable[[str], Path]) -> Truth:
    """Return what the float64 module gives for a batch."""
    import torch

    loaded: dict[str, tuple[Network, object]] = {}

    def compute(builder: str, inputs: Arrays) -> Array:
        if builder not in loaded:
            model = read(tiny(builder))
            network = pick(model).network
            loaded[builder] = network, load(model, network, "float64").module
        network, module = loaded[builder]
        tensors = [torch.from_numpy(inputs[name]) for name in network.inputs]
        with torch.inference_mode():
            (output,) = module(*[t.double() if t.is_floating_point() else t for t in tensors])
        return output.numpy()

    return compute


def ready(engine: Engine) -> Plan:
    """Return a plan that the engine itself offers; skips where it offers none."""
    for offer in engine.offers():
        if offer.reason is None and offer.device == "cpu":
            return Plan(engine.name, offer.device, "float32", 4, 1)
    return pytest.skip(f"{engine.name} is not installed: {engine.offers()[0].reason}")


def close(found: Array, expected: Array) -> bool:
    """Tell whether all is within 1e-4 of the largest number expected."""
    return bool(np.abs(found - expected).max() <= 1e-4 * max(np.abs(expected).max(), 1e-6))


every = pytest.mark.parametrize(("name", "builder"), [(e, b) for b in BUILDERS for e in ENGINES])


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_says_what_it_can_do_or_why_not(name: str) -> None:
    engine: Engine = find.load("engines", name)
    assert engine.name == name
    assert all(isinstance(package, str) for package in engine.needs)
    offers = engine.offers()
    assert offers
    for offer in offers:
        assert offer.engine == name
        if offer.reason is None:
            assert offer.dtypes
            assert offer.versions
        else:
            assert not offer.dtypes
            assert offer.fix


@every
def test_it_computes_what_the_float64_module_computes(
    opened: Open, truth: Truth, name: str, builder: str
) -> None:
    one = opened(name, builder)
    for point in _grid.points(one.model, one.network):
        inputs, output = one.compute(point)
        expected = truth(builder, inputs)
        assert output.dtype == np.float32
        assert output.shape == expected.shape
        assert close(output, expected), point


@every
def test_an_item_is_the_same_alone_and_beside_a_long_neighbour(
    opened: Open, name: str, builder: str
) -> None:
    one = opened(name, builder)
    inputs, together = one.compute(Point(3, 20, padded=True))
    rows = {"hidden": lambda i, n: together[i, :n], "tokens": lambda i, _: together[i]}
    for item in range(3):
        alone, length = cut_out(inputs, item)
        found = one.session.run(alone)[one.network.outputs[0]][0]
        of_batch = rows.get(one.network.head, lambda i, _: together[i])(item, length)
        assert close(found, of_batch), item


def cut_out(inputs: Arrays, item: int) -> tuple[Arrays, int]:
    """Return one item of a batch without its padding, and its length."""
    if "pixel_values" in inputs:
        return {"pixel_values": inputs["pixel_values"][item : item + 1]}, 0
    length = int(inputs["attention_mask"][item].sum())
    alone = {k: a[item : item + 1, :length] for k, a in inputs.items() if k != "rows"}
    if "rows" in inputs:
        width = inputs["input_ids"].shape[1]
        alone["rows"] = inputs["rows"][item : item + 1] - item * width
    return alone, length


@every
def test_a_result_is_the_callers_own_and_comes_again_to_the_bit(
    opened: Open, name: str, builder: str
) -> None:
    one = opened(name, builder)
    point = Point(2, 8, padded=False)
    _, first = one.compute(point)
    kept = first.copy()
    one.compute(Point(3, 20, padded=True))
    assert first.tobytes() == kept.tobytes()
    assert one.compute(point)[1].tobytes() == kept.tobytes()


@every
def test_the_facts_are_complete_and_say_what_runs(opened: Open, name: str, builder: str) -> None:
    one = opened(name, builder)
    facts = one.session.facts()
    assert not [key for key in FACTS if key not in facts]
    assert facts["engine"] == name
    assert facts["dtype"] == one.plan.dtype
    assert facts["device"] == one.plan.device
    assert facts["threads"] == one.plan.threads
    assert facts["fallbacks"] == []
    assert facts["versions"]
    assert facts["loading"]["missing"] == []


@pytest.mark.parametrize("name", ENGINES)
def test_b087_ids_of_another_width_are_brought_to_what_the_graph_declares(
    opened: Open, name: str
) -> None:
    one = opened(name, "bert_classifier")
    inputs, expected = one.compute(Point(2, 8, padded=True))
    narrow = {key: array.astype(np.int32) for key, array in inputs.items()}
    assert one.session.run(narrow)[one.network.outputs[0]].tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", ENGINES)
def test_b088_an_input_of_an_unknown_name_is_refused(opened: Open, name: str) -> None:
    one = opened(name, "bert_classifier")
    inputs, _ = one.compute(Point(2, 8, padded=False))
    with pytest.raises(RefusedError, match=r"input\.1"):
        one.session.run({**inputs, "input.1": inputs["input_ids"]})


@pytest.mark.parametrize("name", ENGINES)
def test_b088_absent_segments_are_zeros_and_an_absent_mask_is_refused(
    opened: Open, name: str
) -> None:
    one = opened(name, "bert_classifier")
    inputs, _ = one.compute(Point(2, 8, padded=False))
    zeros = {**inputs, "token_type_ids": np.zeros_like(inputs["token_type_ids"])}
    expected = one.session.run(zeros)[one.network.outputs[0]]
    without = {key: array for key, array in inputs.items() if key != "token_type_ids"}
    assert one.session.run(without)[one.network.outputs[0]].tobytes() == expected.tobytes()
    with pytest.raises(RefusedError, match="no attention_mask"):
        one.session.run({"input_ids": inputs["input_ids"]})


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"device": "npu:0"}, "npu"),
        ({"device": "cuda:99"}, "cuda:99"),
        ({"device": "abacus"}, "abacus"),
        ({"dtype": "int8"}, "int8"),
        ({"extras": ("turbo",)}, "turbo"),
        ({"extras": ("seed=many",)}, "seed=many"),
        ({"extras": ("fault",)}, "fault"),
    ],
)
def test_what_it_cannot_do_is_refused_with_the_reason(
    opened: Open, name: str, change: dict[str, Any], reason: str
) -> None:
    one = opened(name, "bert_classifier")
    refusal = one.engine.refuse(one.model, one.network, replace(one.plan, **change))
    assert refusal is not None
    assert reason in refusal


@pytest.mark.parametrize("name", ENGINES)
def test_seeds_and_planted_faults_are_taken_by_every_engine(opened: Open, name: str) -> None:
    one = opened(name, "bert_classifier")
    plan = replace(one.plan, extras=("fault=W11", "seed=7"))
    assert one.engine.refuse(one.model, one.network, plan) is None


@pytest.mark.parametrize("name", ENGINES)
def test_a_closed_session_refuses(opened: Open, name: str) -> None:
    one = opened(name, "bert_classifier")
    inputs, _ = one.compute(Point(2, 8, padded=False))
    session = one.engine.open(one.model, one.network, one.plan)
    session.run(inputs)
    session.close()
    session.close()
    with pytest.raises(RefusedError, match="closed"):
        session.run(inputs)


@pytest.mark.parametrize("name", ENGINES)
def test_b113_it_starts_on_one_core_of_many(opened: Open, name: str) -> None:
    one = opened(name, "bert_classifier")
    inputs, expected = one.compute(Point(2, 8, padded=False))
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {max(before)})
        session = one.engine.open(one.model, one.network, replace(one.plan, threads=1))
        found = session.run(inputs)[one.network.outputs[0]]
        session.close()
    finally:
        os.sched_setaffinity(0, before)
    assert close(found, expected)
