"""What every metric that `find` lists must do."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from likewise import find
from likewise.errors import ShapeError

NAMES = find.names("metrics")
KINDS = ("logits", "scores", "distribution", "vector")


@pytest.fixture(params=NAMES)
def metric(request: pytest.FixtureRequest) -> ModuleType:
    return find.load("metrics", request.param)


def rows(kind: str, seed: int = 1) -> np.ndarray:
    drawn = np.random.default_rng(seed).standard_normal((40, 6))
    if kind != "distribution":
        return drawn
    raised = np.exp(drawn)
    return raised / raised.sum(axis=1, keepdims=True)


def test_it_declares_what_it_is(metric: ModuleType) -> None:
    assert metric.kinds
    assert set(metric.kinds) <= set(KINDS)
    assert metric.better in ("lower", "higher")
    assert isinstance(metric.unit, str)


def test_every_kind_has_metrics() -> None:
    served = {kind for name in NAMES for kind in find.load("metrics", name).kinds}
    assert served == set(KINDS)


def test_the_same_is_perfect(metric: ModuleType) -> None:
    for kind in metric.kinds:
        measure = metric.measure(rows(kind), rows(kind))
        perfect = 0.0 if metric.better == "lower" else 1.0
        assert measure.value == pytest.approx(perfect, abs=1e-12)


def test_other_items_are_worse(metric: ModuleType) -> None:
    for kind in metric.kinds:
        same = metric.measure(rows(kind), rows(kind)).value
        other = metric.measure(rows(kind), rows(kind, seed=2)).value
        assert other < same if metric.better == "higher" else other > same


def test_it_returns_a_shown_measure_under_its_own_name(metric: ModuleType) -> None:
    measure = metric.measure(rows(metric.kinds[0]), rows(metric.kinds[0], seed=2))
    assert measure.metric == metric.__name__.rpartition(".")[2]
    assert (measure.better, measure.unit) == (metric.better, metric.unit)
    assert measure.n == 40
    assert measure.limit is None
    assert measure.holds is None
    assert 0 <= measure.worst_item < 40


@pytest.mark.parametrize("sides", ["both", "reference", "candidate"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_never_compares_well(metric: ModuleType, bad: float, sides: str) -> None:
    for kind in metric.kinds:
        ours, theirs = rows(kind), rows(kind)
        spoilt = {"both": (ours, theirs), "reference": (ours,), "candidate": (theirs,)}[sides]
        for side in spoilt:
            side[11, 2] = bad
        measure = metric.measure(ours, theirs)
        if metric.__name__.endswith(("top1_agreement", "top5_agreement")):
            assert measure.value < 1.0
        else:
            assert measure.value is None
            assert measure.reason
        assert measure.worst_item == 11


def test_all_rows_not_finite_is_no_agreement(metric: ModuleType) -> None:
    nothing = np.full((40, 6), np.nan)
    measure = metric.measure(nothing, nothing)
    assert measure.value is None or measure.value == 0.0


@pytest.mark.parametrize("shape", [(39, 6), (40, 5), (40,), (40, 6, 1)])
def test_other_shapes_are_refused(metric: ModuleType, shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match="same items"):
        metric.measure(rows(metric.kinds[0]), np.zeros(shape))


def test_no_items_are_refused(metric: ModuleType) -> None:
    with pytest.raises(ShapeError):
        metric.measure(np.zeros((0, 6)), np.zeros((0, 6)))


def test_float32_is_measured_in_float64(metric: ModuleType) -> None:
    """A difference below float32's own spacing at the sum's size must not vanish or grow."""
    for kind in metric.kinds:
        ours = rows(kind)
        near = ours.astype(np.float32)
        measure = metric.measure(ours, near)
        assert abs(measure.value - metric.measure(ours, ours).value) < 1e-6
