"""Two readings of the machine in; what else it was doing between them, in words, out."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Reading", "read_machine", "troubles"]

BUSY = 0.25
"""Runnable processes a core, before timing begins, above which the machine counts as busy."""

OTHERS = 0.05
"""Share of all cores taken by other processes during timing that is worth a word."""

STOLEN = 0.01
"""Share of all cores' time that the host kept for other guests that is worth a word."""

_CPU = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class Reading:
    """What the machine's counters said at one moment; None where there is no such counter."""

    at: float  # seconds, monotonic
    load: float | None  # runnable processes, mean over one minute
    busy: float | None  # core seconds spent by all processes since boot
    stolen: float | None  # core seconds that the host kept for other guests
    own: float  # core seconds spent by this process and its children, ended ones too
    throttled: int | None  # times that heat slowed a core down
    cores: int  # that the counters are over


def read_machine(children: Sequence[int] = ()) -> Reading:
    """Read the counters now.

    Args:
        children: process ids of the children that still run.
    """
    ticks = _ticks()
    own = sum(os.times()[:4])  # user and system, ours and of children that ended
    return Reading(
        at=time.monotonic(),
        load=_load(),
        busy=None if ticks is None else ticks[0],
        stolen=None if ticks is None else ticks[1],
        own=own + sum(_child_seconds(process) for process in children),
        throttled=_throttled(),
        cores=os.cpu_count() or 1,
    )


def troubles(before: Reading, start: Reading, end: Reading) -> list[str]:
    """Return what the machine did besides, in words, each with what to do about it.

    Args:
        before: read before anything of ours ran: only its load is used.
        start: read when timing began.
        end: read when timing ended.
    """
    found = []
    if before.load is not None and before.load > BUSY * before.cores:
        found.append(
            f"before timing began the load was {before.load:.1f} on {before.cores} core(s): end "
            "other work and repeat"
        )
    span = max(end.at - start.at, 1e-9) * end.cores
    if start.busy is not None and end.busy is not None:
        others = ((end.busy - start.busy) - (end.own - start.own)) / span
        if others > OTHERS:
            found.append(
                f"other processes took {others:.0%} of the cores while timing: end them and repeat"
            )
    if start.stolen is not None and end.stolen is not None:
        share = (end.stolen - start.stolen) / span
        if share > STOLEN:
            found.append(
                f"the host kept {share:.1%} of the cores for other guests while timing: repeat at "
                "another hour, or on a machine of its own"
            )
    if (start.throttled or 0) < (end.throttled or 0):
        found.append("heat slowed the processor down while timing: let it cool and repeat")
    return found


def _load() -> float | None:
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None


def _ticks() -> tuple[float, float] | None:
    """Return (busy, stolen) core seconds since boot."""
    try:
        line = Path("/proc/stat").read_text().split("\n", 1)[0]
    except OSError:
        return None
    # user nice system idle iowait irq softirq steal: man 5 proc_stat
    counts = [int(field) / os.sysconf("SC_CLK_TCK") for field in line.split()[1:9]]
    user, nice, system, _idle, _iowait, irq, softirq, steal = counts
    return user + nice + system + irq + softirq, steal


def _child_seconds(process: int) -> float:
    """Return the core seconds of a child and of its own ended children; 0 once it was reaped."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return 0.0
    # the name in parentheses may hold spaces; fields 14 to 17, from 1, are utime … cstime
    fields = text.rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / float(os.sysconf("SC_CLK_TCK"))


def _throttled() -> int | None:
    counts = list(_CPU.glob("cpu[0-9]*/thermal_throttle/core_throttle_count"))
    try:
        return sum(int(c.read_text()) for c in counts) if counts else None
    except (OSError, ValueError):
        return None
