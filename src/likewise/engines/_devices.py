"""The word for a device, in; the device, or why it cannot be used here, out. Also: threads."""

from __future__ import annotations

import importlib.util
import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from likewise.errors import DeviceError

__all__ = ["KINDS", "device_reason", "parse_device", "quota", "threads", "versions"]

KINDS = ("cpu", "cuda", "npu")

Reason: TypeAlias = "tuple[str | None, str]"
"""What is wrong, or None; and what to type to mend it."""


def threads() -> int:
    """Return how many threads may compute at once: affinity and cgroup quota, at least 1.

    A pool sized by the host's cores inside a limited container ruins the throughput
    (case B112 of ``tests/engines/test_engines_devices.py``).
    """
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        cores = os.cpu_count() or 1
    allowed = quota()
    return max(1, min(cores, math.floor(allowed) if allowed else cores))


def quota(
    cgroup: Path = Path("/proc/self/cgroup"), mount: Path = Path("/sys/fs/cgroup")
) -> float | None:
    """Return how many CPUs the cgroup lets this process use; None where it sets no limit.

    The lowest limit on the way up from the process's own group counts.

    Args:
        cgroup: the kernel's list: ``0::/path`` (version 2) or ``4:cpu,cpuacct:/path`` (version 1).
        mount: where the cgroups are mounted.
    """
    try:
        lines = cgroup.read_text().splitlines()
    except OSError:
        return None
    limits: list[float] = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            limits += _limits(mount, path, _limit_v2)
        elif "cpu" in controllers.split(","):
            for name in (controllers, "cpu"):
                limits += _limits(mount / name, path, _limit_v1)
    return min(limits, default=None)


def parse_device(text: str) -> str:
    """Return a device's name if it is one: ``cpu``, ``cuda``, ``cuda:1``, ``npu:0``.

    Raises:
        DeviceError: the text names no device; says what was meant where it can tell.
    """
    if not re.fullmatch(r"cpu|(cuda|npu)(:\d{1,3})?", text):
        raise DeviceError(
            f"{text!r} is not a device.", found=_hint(text), fix="one of cpu, cuda:0, npu:0"
        )
    return text


def device_reason(device: str) -> Reason:
    """Return (None, "") where torch can use the device here, else what is wrong and the remedy.

    It never raises: a broken driver is a reason too.
    """
    try:
        kind, _, index = parse_device(device).partition(":")
    except DeviceError as error:
        return error.found, error.fix
    if kind == "cpu":
        return None, ""
    try:
        return _cuda_reason(int(index or 0)) if kind == "cuda" else _npu_reason()
    except Exception as error:  # noqa: BLE001 - drivers raise anything; here it is the answer
        return f"looking for it failed: {error!r}", "likewise doctor"


def versions(*packages: str) -> dict[str, str]:
    """Return {package: version} of those that are installed, without importing one."""
    from importlib import metadata

    here = {p: list(metadata.distributions(name=p)) for p in packages}
    return {package: found[0].version for package, found in here.items() if found}


def _hint(text: str) -> str:
    if text != text.lower():
        return f"capitals; write {text.lower()}"
    if text.startswith("cpu:"):
        return "the CPU has no number; write cpu"
    if text.startswith("gpu"):
        return f"write {text.replace('gpu', 'cuda')}"
    return f"likewise knows {', '.join(KINDS)}"


def _cuda_reason(index: int) -> Reason:
    if importlib.util.find_spec("torch") is None:
        return "torch is not installed", "pip install 'likewise[port]'"
    if not any(Path(p).exists() for p in ("/dev/nvidiactl", "/dev/dxg")):
        return "no NVIDIA device is visible: there is no /dev/nvidiactl", "use --device cpu"
    import torch

    if not torch.cuda.is_available():
        return (
            f"torch {torch.__version__}, built for CUDA {torch.version.cuda}, sees no device",
            "install the torch that matches the driver: https://pytorch.org/get-started",
        )
    count = torch.cuda.device_count()
    if index >= count:
        return f"the last one here is cuda:{count - 1}", "name one that is here"
    return None, ""


def _npu_reason() -> Reason:
    if importlib.util.find_spec("torch_npu") is None:
        return (
            "torch_npu is not installed",
            "pip install torch-npu, in the version that matches torch and CANN",
        )
    if not list(Path("/dev").glob("davinci[0-9]*")):
        return "no Ascend device is visible: there is no /dev/davinci0", "use --device cpu"
    return "likewise has no engine for it yet", "use --device cpu"


def _limits(mount: Path, path: str, read: Callable[[Path], float | None]) -> list[float]:
    inner = mount / path.lstrip("/")
    found = [read(folder) for folder in (inner, *inner.parents) if folder.is_relative_to(mount)]
    return [limit for limit in found if limit is not None]


def _limit_v2(folder: Path) -> float | None:
    try:
        quota, period = (folder / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        return None


def _limit_v1(folder: Path) -> float | None:
    try:
        quota = int((folder / "cpu.cfs_quota_us").read_text())
        period = int((folder / "cpu.cfs_period_us").read_text())
    except (OSError, ValueError):
        return None
    return quota / period if quota > 0 and period > 0 else None
