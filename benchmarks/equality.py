"""The five reports' stand-ins, in; the largest difference from the plain library, per engine, out.

    python benchmarks/equality.py [cryptobert …] [--engine onnx] [--limit 1e-4] [--out results.json]

Each model answers the same items through likewise (torch, onnx, openvino; and once by the command
line, ``likewise run FOLDER --on PLAN --json``) and through the library that people use today, one
item at a time. Exit 1 where logits or vectors differ by more than the limit.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import plain
import standins
from plain import Floats

from likewise.engines._devices import threads
from likewise.run.opening import open_runner
from likewise.types import Plan

ENGINES = ("torch", "onnx", "openvino")
LIMIT = 1e-4  # issue 2: logits or vectors

_POSTS = (
    "Bitcoin is going to the moon!",
    "Bitcoin price surges 20% today.",
    "",
    "a",
    "HODL 🚀🚀🚀 $BTC https://example.org/?q=1#x @someone",
    "I sold everything; the chart looks terrible and I expect another leg down before Christmas.",
    "ETH merge soon™ — naïve café übermäßig",
    "  leading, trailing   and    doubled spaces  ",
    "Ich habe heute Bitcoin gekauft, obwohl der Kurs fällt.",
    "今天天气很好。",
    "The quick brown fox jumps over the lazy dog.",
    "IT'S NOT A BUG, IT'S A FEATURE!!!",
    "0123456789 3.14159 1,000,000 -5e-7",
    "line one\nline two\tand a tab",
    "مرحبا بالعالم и привет мир",
)
_CHINESE = (
    "今天天气很好。",
    "你好",
    "我",
    "机器学习模型在小型设备上运行得越来越快。",
    "北京是中华人民共和国的首都，人口超过两千万。",
    "这部电影的结局出人意料，但是演员的表演非常出色！",
    "GPU 与 NPU 的差别是什么？",
    "价格：￥128.50，打八折。",
)
_MASKED = (
    "Hello I'm a <mask> model.",
    "Paris is the <mask> of France.",
    "La capitale de la France est <mask>.",
    "北京是中国的<mask>。",
    "Die Hauptstadt von Deutschland ist <mask>.",
    "<mask>",
    "I went to the <mask> to buy some <mask>.",
    "Столица России — <mask>.",
)


@dataclass(frozen=True)
class Case:
    """A stand-in, its items, and the plain library's way to compute them."""

    name: str
    plain: Callable[[Path, Sequence[Any]], Floats]
    items: Callable[[Path], Sequence[Any]]
    output: str  # of likewise's task


def _posts(_: Path) -> list[str]:
    """Return 24 texts, from none to far more tokens than the model takes."""
    ladder = [
        " ".join(_POSTS[(3 * n + k) % len(_POSTS)] for k in range(n)) for n in (2, 3, 5, 8, 12)
    ]
    words = "market mood of the day is up and down again ".split()
    return [*_POSTS, *ladder, *(" ".join(words * n) for n in (3, 20, 50, 90))]


def _sentences(_: Path) -> list[str]:
    ladder = ["".join(_CHINESE[(n + k) % 8] for k in range(n)) for n in range(2, 16)]
    return [*_CHINESE, *ladder, _CHINESE[4] * 20, _CHINESE[5] * 40]


def _masked(_: Path) -> list[str]:
    """Return 24 texts with masks, none beyond the limit."""
    texts = list(_MASKED)
    for length in range(1, 15):
        rest = " ".join(_POSTS[(length + k) % len(_POSTS)] for k in range(length))
        texts.append(f"{_MASKED[length % 8]} {rest}")
    return [*texts, f"{'so it goes on ' * 30}<mask>.", f"{'day after day ' * 100}<mask> again"]


def _pictures(folder: Path) -> list[Path]:
    """Return 24 drawn pictures: odd sizes and modes, and every frequency."""
    from PIL import Image

    random = np.random.default_rng(7)
    files = []
    for index in range(24):
        high, wide = (int(n) for n in random.integers(40, 700, 2))
        coarse = random.integers(0, 256, (int(random.integers(2, 60)),) * 2 + (3,), dtype=np.uint8)
        picture = Image.fromarray(coarse).resize((wide, high), Image.Resampling.BICUBIC)
        picture = picture.convert(("RGB", "L", "RGB", "P")[index % 4])
        files.append(folder / f"{index:02}.png")
        picture.save(files[-1])
    return files


CASES = {
    "cryptobert": Case("classify", plain.classify, _posts, "logits"),
    "personality": Case("classify", plain.classify, _posts, "logits"),
    "chinese": Case("embed", plain.embed, _sentences, "vector"),
    "convnext": Case("image_embed", plain.pictures, _pictures, "vector"),
    "xlmr": Case("fillmask", plain.fillmask, _masked, "logits"),
}
