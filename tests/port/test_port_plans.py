"""The settings name plans; every one of them is tried or refused, none is dropped."""

from __future__ import annotations

import pytest

from likewise.errors import DeviceError, PlanError, SettingsError
from likewise.port.plans import list_plans
from likewise.settings import Plans


def test_by_default_every_engine_gets_a_plan():
    assert [p.engine for p in list_plans(Plans(threads=(2,)))] == ["onnx", "openvino", "torch"]


def test_the_table_is_a_product():
    plans = list_plans(Plans(engines=("onnx",), batches=(1, 8), threads=(1, 2)))
    assert [str(p) for p in plans] == [
        "onnx/cpu/float32/b1/t1", "onnx/cpu/float32/b1/t2",
        "onnx/cpu/float32/b8/t1", "onnx/cpu/float32/b8/t2",
    ]  # fmt: skip


def test_plans_spelt_out_win_over_the_table_and_are_kept_once():
    plans = list_plans(Plans(engines=("torch",), only=("onnx/cpu/float32/b1/t1",) * 2))
    assert [str(p) for p in plans] == ["onnx/cpu/float32/b1/t1"]


def test_an_unknown_engine_is_refused_with_those_there_are():
    with pytest.raises(SettingsError) as caught:
        list_plans(Plans(engines=("tensorrt",)))
    assert "onnx, openvino, torch" in caught.value.found


def test_an_unknown_device_is_refused():
    with pytest.raises(DeviceError):
        list_plans(Plans(devices=("tpu",)))


def test_a_word_that_is_no_plan_is_refused():
    with pytest.raises(PlanError):
        list_plans(Plans(only=("onnx:cpu",)))


def test_an_empty_list_leaves_nothing_to_try_and_says_so():
    with pytest.raises(SettingsError, match="no plan to try"):
        list_plans(Plans(batches=()))
