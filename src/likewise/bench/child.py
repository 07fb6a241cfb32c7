"""A job file and commands on stdin, in; one JSON line of raw seconds per command on stdout, out.

``python -m likewise.bench.child JOB.json`` opens one plan in this fresh process, says what opening
and the first answer took, then obeys one command a line, each over the first N items:

    look N      one pass, with phases, tokens, facts     offline N   one pass
    single N    N calls of one item each                 end         or the end of stdin

Stdout carries the protocol and nothing else: whatever a library prints there goes to stderr.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from likewise.errors import LikewiseError
from likewise.types import Json

__all__ = ["main", "peak_bytes"]


def main(job_file: str) -> int:
    """Serve one job; return the exit code: 0, or that of the error that was told."""
    with _take_stdout() as protocol:
        try:
            for reply in _replies(json.loads(Path(job_file).read_text())):
                _tell(protocol, {**reply, "peak_bytes": peak_bytes()})
        except LikewiseError as error:
            _tell(protocol, {"error": [type(error).__name__, error.what, error.found, error.fix]})
            return error.exit_code
    return 0


def peak_bytes() -> int:
    """Return the most memory this process has held so far (resident set)."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            # ru_maxrss would be at least what the *parent* held when it started this process:
            # Linux carries it over exec (tests/bench: a heavy parent does not weigh on its child)
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # not Linux
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _replies(job: dict[str, Json]) -> Iterator[dict[str, Json]]:
    import msgspec

    from likewise.bench import clock
    from likewise.run.items import load_items
    from likewise.run.opening import open_runner
    from likewise.settings import Overrides
    from likewise.types import Plan

    with open_runner(
        job["source"],
        overrides=msgspec.convert(job["overrides"], Overrides),
        task=job["task"],
        plan=Plan.parse(job["plan"]),
    ) as runner:
        # the monotonic clock counts from boot, so parent and child read the same one
        open_seconds = time.monotonic() - job["started_at"]
        items = load_items(Path(job["items"]))
        first = clock.offline(runner, items[:1])["seconds"]
        yield {"open_seconds": open_seconds, "first_result_seconds": open_seconds + first}
        acts = {"look": clock.look, "offline": clock.offline, "single": clock.single}
        for line in sys.stdin:
            word, _, count = line.strip().partition(" ")
            if word == "end":
                return
            yield acts[word](runner, items[: int(count)])


def _take_stdout() -> TextIO:
    """Keep stdout for the protocol; what native code writes there from now on goes to stderr."""
    protocol = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return protocol


def _tell(protocol: TextIO, reply: dict[str, Json]) -> None:
    protocol.write(json.dumps(reply, allow_nan=False) + "\n")
    protocol.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
