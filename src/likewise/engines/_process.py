"""A module to run in a fresh process, in; its success, or why it did not succeed, out."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from likewise import errors
from likewise.errors import LikewiseError, RefusedError

__all__ = [
    "answer_for",
    "child_environment",
    "end",
    "last_words",
    "peak_bytes",
    "reason",
    "run_child",
]

ERROR = "error.json"
LOG = "log.txt"
_POOLS = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "RAYON_NUM_THREADS",  # the tokenizers' own pool
)


def run_child(
    module: str,
    arguments: Sequence[str],
    *,
    folder: Path,
    doing: str,
    threads: int,
    device: str = "cpu",
    timeout: float | None = None,
) -> None:
    """Run ``python -m module arguments`` to its end; its words go to ``folder/log.txt``.

    A child that ends early, for whatever reason, ends alone: with all its own children.

    Args:
        module: calls ``answer_for``.
        arguments: passed on.
        folder: exists; holds the log, and ``error.json`` if the child has something to say.
        doing: what the child is there for, as in "Exporting the model to ONNX".
        threads: the size of every thread pool.
        device: on ``cpu`` no accelerator's package is loaded by itself.
        timeout: seconds.

    Raises:
        RefusedError: the child did not succeed; says why, with the end of its log.
    """
    (folder / ERROR).unlink(missing_ok=True)
    with (folder / LOG).open("wb") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=child_environment(threads, device),
            start_new_session=True,
        )
        try:
            code = child.wait(timeout)
        except subprocess.TimeoutExpired:
            raise RefusedError(
                f"{doing} took longer than it may.",
                found=f"still running after {timeout:.0f} s; {last_words(folder)}",
                fix="give it more time: timeout_seconds in likewise.toml",
            ) from None
        finally:
            end(child)  # also on Ctrl-C
    if code != 0:
        raise reason(folder, doing, code)


def child_environment(threads: int, device: str = "cpu") -> Mapping[str, str]:
    """Return the environment of a child: thread pools sized, no hub, nothing loaded by itself."""
    fixed = dict.fromkeys(_POOLS, str(threads))
    fixed |= {"HF_HUB_OFFLINE": "1", "PYTHONFAULTHANDLER": "1", "PYTHONSAFEPATH": "1"}
    if device == "cpu":
        fixed["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    return {**os.environ, **fixed}


def answer_for(act: Callable[[], None], folder: Path) -> int:
    """Run the work of a child; return its exit code, with the reason of a failure in ``folder``.

    Anything but a LikewiseError or a lack of memory leaves its trace in the log and is passed on.
    """
    _end_with_parent()
    try:
        act()
    except LikewiseError as error:
        record = {
            "kind": type(error).__name__,
            "what": error.what,
            "found": error.found,
            "fix": error.fix,
        }
        (folder / ERROR).write_text(json.dumps(record))
        return error.exit_code
    except MemoryError:
        record = {"kind": "RefusedError", "what": "There is not enough memory.", **_MORE}
        (folder / ERROR).write_text(json.dumps(record))
        return RefusedError.exit_code
    return 0


_MORE = {"found": "an allocation failed", "fix": "a smaller batch, or a machine with more memory"}


def _end_with_parent() -> None:
    """Ask Linux to end this process when the one that waits for it is killed."""
    if sys.platform != "linux":
        return
    import ctypes

    set_parent_death_signal = 1  # PR_SET_PDEATHSIG of <linux/prctl.h>
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def end(child: subprocess.Popen[bytes]) -> None:
    """Kill the child, with its own children, if it still runs."""
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def peak_bytes() -> int:
    """Return the most memory that this process ever held at once.

    Not ``ru_maxrss`` where Linux offers better: that starts at the size of the parent.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(n for n in status.read_text().splitlines() if n.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def reason(folder: Path, doing: str, code: int) -> RefusedError:
    """Return why a child ended with this exit code: its own error, else what its log shows."""
    try:
        told = json.loads((folder / ERROR).read_text())
    except (OSError, ValueError):
        return _unexplained(folder, doing, code)
    kind = getattr(errors, told["kind"], RefusedError)
    chosen = kind if issubclass(kind, RefusedError) else RefusedError
    return chosen(told["what"], found=told["found"], fix=told["fix"])


def _unexplained(folder: Path, doing: str, code: int) -> RefusedError:
    if code >= 0:
        return RefusedError(
            f"{doing} failed.",
            found=f"exit {code}; {last_words(folder)}",
            fix=f"the whole log: {folder / LOG}",
        )
    name = signal.Signals(-code).name
    if -code == signal.SIGKILL:
        return RefusedError(
            f"{doing} was ended from outside.",
            found=f"{name}: most likely out of memory",
            fix="a smaller batch, fewer programs at once, or a machine with more memory",
        )
    return RefusedError(
        f"{doing} crashed.",
        found=f"{name}; {last_words(folder)}",
        fix=f"the whole log: {folder / LOG}",
    )


def last_words(folder: Path, count: int = 3) -> str:
    """Return the last lines of the log, joined."""
    try:
        text = (folder / LOG).read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "its last words: " + " | ".join(lines[-count:]) if lines else "it said nothing"
