"""The facts of a machine, and what else it was doing."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from likewise.bench.machine import _cgroup_memory, available_bytes, machine
from likewise.bench.memory import crowding
from likewise.bench.watch import Reading, read_machine, troubles
from likewise.engines._processor import processor
from likewise.types import Plan

X86 = (
    "processor\t: 0\nmodel name\t: A CPU @ 2.1GHz\nflags\t\t: fpu sse2 avx2 avx512f amx_bf16 ibrs\n"
)
ARM = "Features\t: fp asimd asimddp i8mm bf16\nCPU implementer\t: 0x48\nCPU part\t: 0xd02\n"


def test_the_machine_is_json_and_names_what_a_figure_depends_on() -> None:
    facts = json.loads(json.dumps(machine(), allow_nan=False))
    assert facts["processor"]
    assert 1 <= facts["threads"] <= facts["cores"] <= facts["cores_present"]
    assert facts["memory_bytes"] > 1 << 28
    assert facts["packages"]["numpy"] == pytest.importorskip("numpy").__version__
    assert len(facts["fingerprint"]) == 16


def test_the_machine_is_described_without_importing_a_runtime() -> None:
    code = (
        "import sys; from likewise.bench.machine import machine; machine(); "
        "heavy = {'torch', 'onnxruntime', 'openvino', 'transformers'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_flags_are_those_that_kernels_are_chosen_by(tmp_path: Path) -> None:
    (tmp_path / "x86").write_text(X86)
    (tmp_path / "arm").write_text(ARM)
    assert processor(tmp_path / "x86") == ("A CPU @ 2.1GHz", ["amx_bf16", "avx2", "avx512f"])
    name, flags = processor(tmp_path / "arm")
    assert name.endswith("0x48:0xd02")
    assert flags == ["asimd", "asimddp", "bf16", "i8mm"]


def test_a_machine_without_cpuinfo_still_has_a_name(tmp_path: Path) -> None:
    name, flags = processor(tmp_path / "absent")
    assert name
    assert flags == []


def test_memory_limits_of_both_cgroup_versions_are_found_on_the_way_up(tmp_path: Path) -> None:
    for folder, limit, used in (
        ("unified/a/b", "memory.max", "memory.current"),
        ("memory/c", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / limit).write_text("4096\n")
        (tmp_path / folder / used).write_text("1024\n")
    (tmp_path / "unified/a/memory.max").write_text("max\n")
    (tmp_path / "v2").write_text("0::/a/b\n")
    (tmp_path / "v1").write_text("9:cpu:/c\n4:memory:/c\n")
    assert list(_cgroup_memory(tmp_path / "v2", tmp_path / "unified")) == [(4096, 1024)]
    assert list(_cgroup_memory(tmp_path / "v1", tmp_path)) == [(4096, 1024)]


def test_plans_that_do_not_fit_together_are_not_timed_together(tmp_path: Path) -> None:
    plans = [Plan(engine, "cpu", "float32", 16, 2) for engine in ("onnx", "torch")]
    assert crowding(tmp_path, plans) == ""
    assert available_bytes()
    with (tmp_path / "model.safetensors").open("wb") as file:
        file.truncate(1 << 40)  # sparse: takes no room on the disk
    assert "timed one plan after another" in crowding(tmp_path, plans)
    assert crowding(tmp_path, plans[:1]) == ""


QUIET = Reading(at=0.0, load=0.1, busy=100.0, stolen=1.0, own=10.0, throttled=3, cores=2)
LATER = Reading(at=10.0, load=2.0, busy=115.0, stolen=1.1, own=25.0, throttled=3, cores=2)


def test_a_quiet_machine_makes_no_trouble() -> None:
    assert troubles(QUIET, QUIET, LATER) == []


@pytest.mark.parametrize(
    ("before", "end", "words"),
    [
        (replace(QUIET, load=1.9), LATER, "the load was 1.9 on 2 core(s)"),
        (QUIET, replace(LATER, busy=120.0), "other processes took 25% of the cores"),
        (QUIET, replace(LATER, stolen=2.0), "the host kept 5.0% of the cores"),
        (QUIET, replace(LATER, throttled=4), "heat slowed the processor"),
    ],
)
def test_what_the_machine_did_besides_is_said(before: Reading, end: Reading, words: str) -> None:
    [trouble] = troubles(before, QUIET, end)
    assert words in trouble


def test_a_machine_without_counters_makes_no_claim() -> None:
    blind = Reading(at=0.0, load=None, busy=None, stolen=None, own=0.0, throttled=None, cores=2)
    assert troubles(blind, blind, replace(blind, at=9.0)) == []


def test_our_own_work_is_not_that_of_others() -> None:
    before = read_machine()
    sum(range(3_000_000))
    after = read_machine()
    assert after.own > before.own
    assert after.at > before.at
