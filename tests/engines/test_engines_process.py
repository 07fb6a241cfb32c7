"""A child's end, of every kind, becomes one reason."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from likewise.engines._process import answer_for, child_environment, peak_bytes, run_child
from likewise.errors import DeviceError, FolderError, RefusedError

Child = Callable[..., None]


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Child:
    """Return run(source, **options): runs a module of that source as a child."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def run(source: str, **options: Any) -> None:
        (tmp_path / "some_child.py").write_text(source)
        options = {"folder": tmp_path, "doing": "Counting sheep", "threads": 1, **options}
        run_child("some_child", ["argument"], **options)

    return run


WORK = """
import sys
from pathlib import Path
from likewise import errors
from likewise.engines._process import answer_for
def work() -> None:
    {work}
sys.exit(answer_for(work, Path(__file__).parent))
"""


def test_a_child_that_succeeds_says_nothing(child: Child, tmp_path: Path) -> None:
    child("import sys; print('counted', sys.argv[1])")
    assert (tmp_path / "log.txt").read_text() == "counted argument\n"


@pytest.mark.parametrize(
    ("kind", "becomes"),
    [("RefusedError", RefusedError), ("DeviceError", DeviceError), ("FolderError", RefusedError)],
)
def test_a_childs_own_reason_comes_through_whole(child: Child, kind: str, becomes: type) -> None:
    work = f"raise errors.{kind}('No sheep.', found='an empty field', fix='buy some')"
    with pytest.raises(becomes) as caught:
        child(WORK.format(work=work))
    error = caught.value
    assert (error.what, error.found, error.fix) == ("No sheep.", "an empty field", "buy some")
    assert type(error) is becomes


def test_a_lack_of_memory_is_named(child: Child) -> None:
    with pytest.raises(RefusedError, match="not enough memory"):
        child(WORK.format(work="raise MemoryError"))


def test_an_unexpected_error_shows_the_end_of_the_log(child: Child) -> None:
    with pytest.raises(RefusedError, match="ZeroDivisionError: division by zero") as caught:
        child(WORK.format(work="print('one sheep'); 1 / 0"))
    assert "exit 1" in caught.value.found
    assert "log.txt" in caught.value.fix


@pytest.mark.parametrize(
    ("name", "words"),
    [("SIGKILL", "most likely out of memory"), ("SIGSEGV", "SIGSEGV"), ("SIGABRT", "SIGABRT")],
)
def test_a_signal_is_named(child: Child, name: str, words: str) -> None:
    source = f"import os, signal; os.kill(os.getpid(), signal.{name})"
    with pytest.raises(RefusedError, match=words):
        child(source)


def test_a_timeout_ends_the_child_and_its_own_children(child: Child, tmp_path: Path) -> None:
    source = """
import os, subprocess, sys, time
nap = "import os, time; open({!r}, 'w').write(str(os.getpid())); time.sleep(60)"
subprocess.Popen([sys.executable, "-c", nap.format(sys.argv[0] + ".pid")])
time.sleep(60)
"""
    with pytest.raises(RefusedError, match="longer than it may"):
        child(source, timeout=1.5)
    grandchild = int((tmp_path / "some_child.py.pid").read_text())
    deadline = time.monotonic() + 5
    while alive(grandchild) and time.monotonic() < deadline:
        os.sched_yield()
    assert not alive(grandchild)


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_an_interrupt_here_ends_the_child_there(
    child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []
    wait = subprocess.Popen.wait

    def interrupted(process: Any, timeout: float | None = None) -> int:
        if not started:
            started.append(process)
            raise KeyboardInterrupt
        return wait(process, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        child("import time; time.sleep(60)")
    assert started[0].poll() == -signal.SIGKILL


def test_an_old_reason_is_not_mistaken_for_a_new_one(child: Child, tmp_path: Path) -> None:
    (tmp_path / "error.json").write_text('{"kind": "RefusedError", "what": "old"}')
    with pytest.raises(RefusedError, match="exit 3"):
        child("import sys; sys.exit(3)")


def test_the_environment_sizes_every_pool_and_loads_nothing_by_itself() -> None:
    environment = child_environment(3)
    assert {environment[f"{pool}_NUM_THREADS"] for pool in ("OMP", "MKL", "RAYON")} == {"3"}
    assert environment["TORCH_DEVICE_BACKEND_AUTOLOAD"] == "0"
    assert environment["HF_HUB_OFFLINE"] == "1"
    assert "TORCH_DEVICE_BACKEND_AUTOLOAD" not in set(child_environment(3, "npu:0")) - set(
        os.environ
    )


def test_the_exit_code_is_the_errors_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "elsewhere")  # do not bind this process to its parent

    def fail() -> None:
        raise FolderError("gone")

    assert answer_for(fail, tmp_path) == 2
    assert answer_for(lambda: None, tmp_path) == 0


def test_the_peak_is_this_process_own_and_not_its_parents(child: Child, tmp_path: Path) -> None:
    ballast = bytearray(300_000_000)
    child("from likewise.engines._process import peak_bytes; print(peak_bytes())")
    assert len(ballast) < peak_bytes()
    assert int((tmp_path / "log.txt").read_text()) < 150_000_000
