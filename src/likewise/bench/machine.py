"""The machine at hand in; what of it a figure depends on, as a JSON dict, out."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from likewise.engines._devices import quota, threads
from likewise.engines._processor import processor, processor_fingerprint
from likewise.types import Json

__all__ = ["available_bytes", "cores", "machine"]

PACKAGES = (
    "likewise",
    "numpy",
    "onnx",
    "onnxruntime",
    "openvino",
    "timm",
    "tokenizers",
    "torch",
    "torchvision",
    "transformers",
)


def machine() -> dict[str, Json]:
    """Return the facts of this machine that a timing or a verdict depends on.

    Returns:
        processor (its name), architecture, flags (instructions that kernels are chosen by),
        fingerprint (sha256 of name and flags, 16 hex digits: figures from another fingerprint are
        not this machine's), cores (that this process may use), cores_present, quota (CPUs that the
        cgroup allows, null for all), threads (the two together), memory_bytes (what the process
        may use), system, kernel, python, packages {name: version; null where it is not here}.
    """
    name, flags = processor()
    return {
        "processor": name,
        "architecture": platform.machine(),
        "flags": flags,
        "fingerprint": processor_fingerprint(),
        "cores": cores(),
        "cores_present": os.cpu_count(),
        "quota": quota(),
        "threads": threads(),
        "memory_bytes": _memory_bytes(),
        "system": _system(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "packages": {package: _version(package) for package in PACKAGES},
    }


def cores() -> int:
    """Return how many cores the affinity lets this process use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return os.cpu_count() or 1


def available_bytes() -> int | None:
    """Return the memory that can still be taken without swapping; None where it cannot be read."""
    free = _meminfo("MemAvailable")
    room = [
        limit - used
        for limit, used in _cgroup_memory(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))
    ]
    return min((*room, free)) if free is not None else min(room, default=None)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _system() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {platform.version()}"


def _memory_bytes() -> int | None:
    total = _meminfo("MemTotal")
    limits = [
        limit for limit, _ in _cgroup_memory(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))
    ]
    return min((*limits, total)) if total is not None else min(limits, default=None)


def _meminfo(key: str) -> int | None:
    try:
        text = Path("/proc/meminfo").read_text()
    except OSError:
        return None
    found = re.search(rf"^{key}:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def _cgroup_memory(cgroup: Path, mount: Path) -> Iterator[tuple[int, int]]:
    """Yield (limit, used) bytes of each cgroup on the way up that limits memory, either version."""
    try:
        lines = cgroup.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            top, names = mount, ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            top, names = mount / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        inner = top / path.lstrip("/")
        for folder in (inner, *inner.parents):
            if folder.is_relative_to(top):
                yield from _limit(folder, *names)


def _limit(folder: Path, limit: str, used: str) -> Iterator[tuple[int, int]]:
    try:
        found = int((folder / limit).read_text()), int((folder / used).read_text())
    except (OSError, ValueError):  # absent, or "max"
        return
    if found[0] < 1 << 60:  # version 1 writes 2**63 less a page for no limit
        yield found
