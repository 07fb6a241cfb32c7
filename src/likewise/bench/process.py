"""A job in; a fresh process that does timed work on command, or the reason why it cannot, out."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import msgspec

from likewise.bench.child import Job
from likewise.engines._process import child_environment, end, last_words, reason
from likewise.errors import RefusedError
from likewise.types import Json, Plan

__all__ = ["Process", "start"]

_GRACE_SECONDS = 10.0
"""How long a child may take to close and leave."""


@dataclass
class Process:
    """A started child; ``ask`` is the only way to make it work."""

    child: subprocess.Popen[bytes]
    replies: queue.Queue[bytes]  # its lines; one that is not whole is the end of them
    pump: threading.Thread  # fills ``replies``
    folder: Path  # holds its log
    plan: str
    seconds_left: float  # that it may still take to answer, all questions together
    peak_bytes: int = 0  # as it last said

    def ask(self, command: str) -> tuple[dict[str, Json], float]:
        """Return the answer to a command, and the seconds until it was here.

        Raises:
            RefusedError: the child crashed, or its time is up; it has ended then.
        """
        asked_at = time.monotonic()
        assert self.child.stdin is not None
        with suppress(OSError):  # it is gone: the wait below finds out why
            self.child.stdin.write(command.encode() + b"\n")
            self.child.stdin.flush()
        reply = self.wait()
        return reply, time.monotonic() - asked_at

    def wait(self) -> dict[str, Json]:
        """Return the next answer.

        Raises:
            RefusedError: as ``ask``.
        """
        began = time.monotonic()
        try:
            line = self.replies.get(timeout=max(self.seconds_left, 0.0))
        except queue.Empty:
            self.kill()
            raise self._overdue() from None
        self.seconds_left -= time.monotonic() - began
        if not line.endswith(b"\n"):
            raise self._ended()
        reply: dict[str, Json] = json.loads(line)
        self.peak_bytes = max(self.peak_bytes, reply.pop("peak_bytes"))
        return reply

    def leave(self) -> str:
        """Let the child close and end; return what went wrong in that, or "".

        What it measured stands: a crash on closing is worth a word, not a refusal.
        """
        assert self.child.stdin is not None
        try:
            self.child.stdin.close()
            code = self.child.wait(_GRACE_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            code = None
        self.kill()
        if code == 0:
            return ""
        how = "hung" if code is None else f"ended with {code}"
        return f"the process {how} when closing; {last_words(self.folder)}"

    def kill(self) -> None:
        """End the child now, with its own children."""
        end(self.child)
        assert self.child.stdin is not None
        with suppress(OSError):  # what is still in the pipe has no reader
            self.child.stdin.close()
        self.pump.join(_GRACE_SECONDS)

    def _overdue(self) -> RefusedError:
        return RefusedError(
            f"Timing {self.plan} took longer than it may.",
            found=f"no answer within its time; {last_words(self.folder)}",
            fix="give it more time: bench.timeout_seconds in likewise.toml",
        )

    def _ended(self) -> RefusedError:
        with suppress(subprocess.TimeoutExpired):  # it closed stdout, and then hung
            self.child.wait(_GRACE_SECONDS)
        self.kill()
        code = self.child.wait()
        error = reason(self.folder, f"Timing {self.plan}", code)
        if "log" not in error.fix:
            return error
        # the log goes with the folder; its last words are in the message
        return RefusedError(
            error.what,
            found=error.found,
            fix=f"see all it says: likewise run MODEL --on {self.plan}",
        )


def start(job: Job, *, timeout: float) -> Process:
    """Start a child for the job; ``wait`` then returns what opening took.

    Args:
        job: ``out`` exists; ``started_at`` is set here.
        timeout: seconds that it may take to answer, all questions together.
    """
    folder, plan = Path(job.out), Plan.parse(job.plan)
    file = folder / "job.json"
    file.write_bytes(msgspec.json.encode(replace(job, started_at=time.monotonic())))
    with (folder / "log.txt").open("wb") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "likewise.bench.child", str(file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=child_environment(plan.threads, plan.device),
            start_new_session=True,  # Ctrl-C is for the parent, which then ends its children
        )
    replies: queue.Queue[bytes] = queue.Queue()
    assert child.stdout is not None
    pump = threading.Thread(target=_pump, args=(child.stdout, replies), daemon=True)
    pump.start()
    return Process(child, replies, pump, folder, job.plan, timeout)


def _pump(lines: IO[bytes], replies: queue.Queue[bytes]) -> None:
    """Move lines from the pipe to the queue: a pipe cannot be waited for with a limit."""
    with lines:
        for line in lines:
            replies.put(line)
    replies.put(b"")
