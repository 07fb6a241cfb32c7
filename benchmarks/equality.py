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
import numpy.typing as npt
import plain
import standins
from plain import Floats

from likewise.engines._devices import threads
from likewise.run.opening import open_runner
from likewise.settings import Overrides
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

    plain: Callable[[Path, Sequence[Any]], Floats]
    items: Callable[[Path], Sequence[Any]]
    task: str
    output: str  # of the task: logits or vector
    flag: str  # of `likewise run`
    model: str = ""  # the stand-in; "" for the one of the case's own name


def _posts(_: Path) -> list[str]:
    """Return 24 texts, from none to far more tokens than the model takes."""
    ladder = [
        " ".join(_POSTS[(3 * n + k) % len(_POSTS)] for k in range(n)) for n in (2, 3, 5, 8, 12)
    ]
    words = ["market", "mood", "of", "the", "day", "is", "up", "and", "down", "again"]
    return [*_POSTS, *ladder, *(" ".join(words * n) for n in (3, 20, 50, 90))]


def _pairs(_: Path) -> list[tuple[str, str]]:
    """Return 24 pairs: short and long each way, an empty one, both over the limit."""
    posts = _posts(_)
    return [(posts[k], posts[(5 * k + 3) % len(posts)]) for k in range(len(posts))]


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
    "cryptobert": Case(plain.classify, _posts, "classify", "logits", "--text"),
    "personality": Case(plain.classify, _posts, "classify", "logits", "--text"),
    "pairs": Case(plain.classify, _pairs, "classify", "logits", "--text", "cryptobert"),
    "chinese": Case(plain.embed, _sentences, "embed", "vector", "--text"),
    "convnext": Case(plain.pictures, _pictures, "image_embed", "vector", "--image"),
    "xlmr": Case(plain.fillmask, _masked, "fillmask", "logits", "--text"),
}


def through_likewise(folder: Path, case: Case, engine: str, items: Sequence[Any]) -> Floats:
    """Return the task's output rows, in item order."""
    plan = Plan(engine, "cpu", "float32", 8, threads())
    with open_runner(folder, plan=plan, overrides=Overrides(task=case.task)) as runner:
        run = runner.run(items)
    failed = [answer["error"] for answer in run.answers if "error" in answer]
    if failed:
        raise SystemExit(f"{folder} on {plan}: {len(failed)} items have no answer: {failed[0]}")
    return run.arrays[case.output]


def by_command(folder: Path, case: Case, items: Sequence[Any], expected: Floats) -> float:
    """Return how far what ``likewise run --json`` prints is from the plain library.

    JSON holds vectors, or scores, which are held against a softmax in float64.

    Args:
        folder: the model.
        case: what it is.
        items: those with one row of the output each.
        expected: their rows.
    """
    plan = Plan("torch", "cpu", "float32", 8, threads())
    command = [sys.executable, "-m", "likewise", "run", str(folder), "--on", str(plan), "--json"]
    command += ["--task", case.task]
    for item in items:
        if isinstance(item, tuple):
            command += ["--text", item[0], "--pair", item[1]]
        else:
            command += [case.flag, str(item)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    rows = zip(answers, expected.astype(np.float64), strict=True)
    return max(float(np.abs(_numbers(answer, row)).max()) for answer, row in rows)


def _numbers(answer: dict[str, Any], row: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the printed numbers less the expected ones."""
    if "vector" in answer:
        return np.asarray(answer["vector"]) - row
    entries = answer["masks"][0] if "masks" in answer else answer["labels"]
    scores = np.exp(row - row.max())
    scores /= scores.sum()
    return np.array([entry["score"] - scores[entry["index"]] for entry in entries])


def compare(name: str, engines: Sequence[str]) -> dict[str, Any]:
    """Return one stand-in's row: the largest difference of each engine."""
    case = CASES[name]
    folder = standins.make(case.model or name)
    with tempfile.TemporaryDirectory() as place:
        items = case.items(Path(place))
        expected = case.plain(folder, items)
        gc.collect()
        row: dict[str, Any] = {
            "model": name,
            "task": case.task,
            "items": len(items),
            "shape": list(expected.shape),
            "largest": float(np.abs(expected).max()),
            "differences": {},
        }
        for engine in engines:
            values = through_likewise(folder, case, engine, items)
            row["differences"][engine] = float(np.abs(values - expected).max())
            gc.collect()
        row["command"] = by_command(folder, case, items[:5], expected[:5])
    return row


def main() -> int:
    """Compare, print the table, write the JSON; 1 where a difference is over the limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(CASES)}")
    parser.add_argument("--engine", action="append", choices=ENGINES, help="repeatable")
    parser.add_argument("--limit", type=float, default=LIMIT)
    parser.add_argument("--out", type=Path, help="a JSON file")
    asked = parser.parse_args()
    engines = asked.engine or ENGINES
    print(f"{'model':12} {'rows':>13} {'largest':>8}", *(f"{e:>9}" for e in engines), "  command")
    rows = []
    for name in asked.names or CASES:
        row = compare(name, engines)
        rows.append({**row, "limit": asked.limit})
        found = [*row["differences"].values(), row["command"]]
        print(
            f"{name:12} {row['shape']!s:>13} {row['largest']:8.3f}",
            *(f"{difference:9.1e}" for difference in found),
            "" if all(d <= asked.limit for d in found) else "  OVER",
            flush=True,
        )
    if asked.out:
        asked.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    worst = [d for row in rows for d in (*row["differences"].values(), row["command"])]
    return 0 if all(difference <= asked.limit for difference in worst) else 1


if __name__ == "__main__":
    sys.exit(main())
