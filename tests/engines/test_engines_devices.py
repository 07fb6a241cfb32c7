"""Words for devices, and how many threads may compute."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from likewise.engines import _devices
from likewise.engines._devices import device_reason, parse_device, quota, threads, versions
from likewise.errors import DeviceError


def write_groups(folder: Path, files: dict[str, str]) -> tuple[Path, Path]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / "cgroup", folder / "mount"


@pytest.mark.parametrize("word", ["cpu", "cuda", "cuda:1", "npu", "npu:0"])
def test_a_device_keeps_its_spelling(word: str) -> None:
    assert parse_device(word) == word


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("NPU", "write npu"),
        ("cpu:0", "write cpu"),
        ("gpu:1", "write cuda:1"),
        ("mps", "cpu, cuda, npu"),
        ("", "cpu, cuda, npu"),
        ("npu:", "cpu, cuda, npu"),
        ("cuda:-1", "cpu, cuda, npu"),
    ],
)
def test_b095_a_word_that_is_no_device_is_refused_with_a_hint(word: str, hint: str) -> None:
    with pytest.raises(DeviceError, match=hint):
        parse_device(word)
    reason, fix = device_reason(word)
    assert hint in reason
    assert "cuda:0" in fix


def test_the_cpu_is_always_usable() -> None:
    assert device_reason("cpu") == (None, "")


def test_b094_a_driver_that_raises_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise OSError("libascendcl.so: cannot open shared object file")

    monkeypatch.setattr(importlib.util, "find_spec", broken)
    for word in ("npu", "cuda:0"):
        reason, _ = device_reason(word)
        assert "libascendcl.so" in reason


def test_a_package_that_is_absent_is_the_reason_and_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert device_reason("npu:0") == (
        "torch_npu is not installed",
        "pip install torch-npu, in the version that matches torch and CANN",
    )
    assert device_reason("cuda")[0] == "torch is not installed"


def test_b112_threads_follow_the_affinity() -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {max(before)})
        assert threads() == 1
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.parametrize(("limit", "count"), [(0.5, 1), (1.9, 1), (None, 6), (64.0, 6)])
def test_b112_threads_follow_the_quota(
    monkeypatch: pytest.MonkeyPatch, limit: float | None, count: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)))
    monkeypatch.setattr(_devices, "quota", lambda: limit)
    assert threads() == count


def test_the_lowest_quota_on_the_way_up_counts(tmp_path: Path) -> None:
    groups = {
        "cgroup": "0::/slice/unit\n",
        "mount/slice/unit/cpu.max": "300000 100000\n",
        "mount/slice/cpu.max": "150000 100000\n",
        "mount/cpu.max": "max 100000\n",
    }
    assert quota(*write_groups(tmp_path, groups)) == 1.5


def test_version_1_quotas_are_read(tmp_path: Path) -> None:
    groups = {
        "cgroup": "5:memory:/box\n4:cpu,cpuacct:/box\n",
        "mount/cpu,cpuacct/box/cpu.cfs_quota_us": "200000\n",
        "mount/cpu,cpuacct/box/cpu.cfs_period_us": "100000\n",
        "mount/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
        "mount/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
    }
    assert quota(*write_groups(tmp_path, groups)) == 2.0


def test_no_groups_no_quota(tmp_path: Path) -> None:
    assert quota(tmp_path / "absent", tmp_path) is None
    assert quota(*write_groups(tmp_path, {"cgroup": "0::/\n", "mount/cpu.max": "junk"})) is None


def test_versions_tell_only_what_is_installed() -> None:
    found = versions("numpy", "no-such-package-at-all")
    assert list(found) == ["numpy"]
