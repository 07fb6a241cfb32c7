"""The kernel's list of processors in; the name, the flags that matter, and their digest, out."""

from __future__ import annotations

import hashlib
import platform
import re
from functools import cache
from pathlib import Path

__all__ = ["processor", "processor_fingerprint"]

_FLAGS = re.compile(
    r"sse4_[12]|f16c|fma|avx.*|amx.*|.*vnni|.*bf16|.*fp16|asimd.*|neon|sve.*|sme.*|i8mm|fphp"
)
"""Instructions that decide which kernel a runtime picks: on x86, then on ARM."""


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> tuple[str, list[str]]:
    """Return the processor's name and its flags that matter, sorted."""
    fields: dict[str, str] = {}
    try:
        for line in cpuinfo.read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
    except OSError:
        pass  # not Linux: the platform's own word is all there is
    name = fields.get("model name") or platform.processor() or platform.machine()
    if "CPU part" in fields and "model name" not in fields:  # ARM names no model, but numbers it
        name = f"{name} {fields.get('CPU implementer', '')}:{fields['CPU part']}"
    words = (fields.get("flags") or fields.get("Features") or "").split()
    return name, sorted({w for w in words if _FLAGS.fullmatch(w)})


@cache
def processor_fingerprint() -> str:
    """Return a sha256 of name and flags, 16 hex digits: evidence holds where it was taken."""
    name, flags = processor()
    return hashlib.sha256("\n".join((name, *flags)).encode()).hexdigest()[:16]
