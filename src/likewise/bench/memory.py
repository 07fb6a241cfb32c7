"""A folder and plans in; whether all of them fit into memory at once, out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from likewise.bench.machine import available_bytes
from likewise.types import Plan

__all__ = ["crowding"]

SHARE = 0.6
"""Share of the memory available that all sessions together may be expected to take."""

FIXED_BYTES = 1 << 30
"""What a process takes besides weights: torch alone maps some 0.5 GiB."""

COPIES = {"float64": 4, "float32": 2, "bfloat16": 2, "float16": 2, "int8": 2}
"""Weights as stored in float32 are read, and then laid out anew for the kernels."""

_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".onnx", ".data", ".onnx_data")


def crowding(folder: Path, plans: Sequence[Plan]) -> str:
    """Return why the plans cannot be timed in turns, as a doubt; "" where they can.

    Args:
        folder: holds the weights; of several formats the largest counts.
        plans: each will be a process that stays open.
    """
    room = available_bytes()
    if len(plans) < 2 or room is None:
        return ""
    weights = _weights_bytes(folder)
    needed = sum(FIXED_BYTES + COPIES[plan.dtype] * weights for plan in plans)
    if needed <= SHARE * room:
        return ""
    return (
        f"timed one plan after another, not in turns: {len(plans)} at once may take "
        f"{needed / 2**30:.1f} GiB of the {room / 2**30:.1f} GiB available, so a drift of the "
        "machine is not shared: end other programs, or name fewer plans"
    )


def _weights_bytes(folder: Path) -> int:
    sizes: Counter[str] = Counter()
    for file in folder.rglob("*"):
        if file.suffix in _WEIGHTS and file.is_file():
            # an ONNX graph and the file of its weights are one format
            sizes["onnx" if "onnx" in file.name else file.suffix] += file.stat().st_size
    return max(sizes.values(), default=0)
