"""A good folder and a seed in; a copy with one thing wrong, and what came of it, out.

    python tests/slow/mutations.py [COUNT] [SEED]     prints a table of all outcomes

One file is dropped, renamed, cut, emptied, swapped with another, or overwritten in one place with
0xFF, as a bad disk or a broken download leaves it; or a JSON value becomes one of another kind, or
a list of words loses a line. Three outcomes are right: the same answers,
to the bit; a refusal that names the thing; other answers with a note that says why. Bits of a
weight that turn into another finite number are another model: no reader can know that.
"""

from __future__ import annotations

import collections
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
import likewise
import tiny as build  # tests' own builders
from likewise.errors import LikewiseError
from likewise.model.read import read

__all__ = ["GOOD", "Outcome", "mutate", "outcomes"]

TEXTS = ["good price", "bad", "", "the price is up " * 30, "今天天气很好。", "Naïve É 🫠"]
MASKED = ["good <mask>", "<mask> price is up", "the [MASK] is <mask>"]
_SPAN = 48  # bytes that are overwritten


@dataclass(frozen=True)
class Good:
    """A folder that answers."""

    builder: str
    face: str
    items: list[Any]
    options: dict[str, Any]


GOOD = (
    Good("bert_classifier", "Classifier", TEXTS, {}),
    Good("bert_classifier", "Classifier", TEXTS, {"format": "bin"}),
    Good("roberta_classifier", "Classifier", TEXTS, {}),
    Good("xlmr_classifier", "Classifier", TEXTS, {}),
    Good("distilbert_fillmask", "FillMask", MASKED, {}),
    Good("bert_fillmask", "FillMask", MASKED, {"files": "vocabulary"}),
    Good("sentence_transformer", "Encoder", TEXTS, {"dense": ((8, "Tanh"),), "max_seq_length": 16}),
    Good("sentence_transformer", "Encoder", TEXTS, {"transformer": "0_Transformer"}),
    Good("timm_classifier", "ImageClassifier", [], {}),
)


@dataclass(frozen=True)
class Outcome:
    """What came of one mutation."""

    good: str
    change: str
    kind: str  # same | refused | noted | silent | traceback | unnamed
    said: str


def drop(file: Path, _: random.Random) -> str:
    file.unlink()
    return f"drop {file.name}"


def rename(file: Path, draw: random.Random) -> str:
    name = draw.choice([f"{file.name}.bak", file.name.upper(), f"{file.stem}(1){file.suffix}"])
    file.rename(file.with_name(name))
    return f"rename {file.name} to {name}"


def cut(file: Path, draw: random.Random) -> str:
    content = file.read_bytes()
    length = draw.randrange(1, max(2, len(content)))
    file.write_bytes(content[:length])
    return f"cut {file.name} to {length} of {len(content)} bytes"


def empty(file: Path, _: random.Random) -> str:
    file.write_bytes(b"")
    return f"empty {file.name}"


def swap(file: Path, draw: random.Random) -> str:
    others = [f for f in sorted(file.parent.iterdir()) if f.is_file() and f != file]
    if not others:
        return drop(file, draw)
    other = draw.choice(others)
    one, two = file.read_bytes(), other.read_bytes()
    file.write_bytes(two)
    other.write_bytes(one)
    return f"swap {file.name} with {other.name}"


def overwrite(file: Path, draw: random.Random) -> str:
    content = bytearray(file.read_bytes())
    place = draw.randrange(max(1, len(content) - _SPAN))
    content[place : place + _SPAN] = b"\xff" * min(_SPAN, len(content) - place)
    file.write_bytes(content)
    return f"overwrite {_SPAN} bytes of {file.name} at {place}"


def retype(file: Path, draw: random.Random) -> str:
    """Give one key of a JSON file a value of a kind that it cannot have."""
    files = [f for f in sorted(file.parent.glob("*.json")) if f.name != "tokenizer.json"]
    file = draw.choice(files) if files and file not in files else file
    try:
        content = json.loads(file.read_text())
    except ValueError:
        return overwrite(file, draw)
    rows = content if isinstance(content, list) else [content]
    row = draw.choice(rows)
    if not isinstance(row, dict) or not row:
        return drop(file, draw)
    key = draw.choice(sorted(row))
    kinds = [v for v in (None, "no such value", [], {}, -7.5) if type(v) is not type(row[key])]
    row[key] = draw.choice(kinds)
    file.write_text(json.dumps(content))
    return f"retype {file.name} : {key} becomes {row[key]!r}"


def lose_line(file: Path, draw: random.Random) -> str:
    """Take one line out of a file of words or merges."""
    lists = sorted(file.parent.glob("*.txt"))
    if not lists:
        return retype(file, draw)
    lines = lists[0].read_text(encoding="utf-8").split("\n")
    gone = lines.pop(draw.choice([0, 1, draw.randrange(len(lines) - 1)]))
    lists[0].write_text("\n".join(lines), encoding="utf-8")
    return f"lose line {gone!r} of {lists[0].name}"


CHANGES: tuple[Callable[[Path, random.Random], str], ...] = (
    drop, rename, cut, empty, swap, overwrite, retype, lose_line,
)  # fmt: skip


def mutate(folder: Path, draw: random.Random) -> str:
    """Change one thing; return what was done, with the names of the files."""
    file = draw.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    change = draw.choice(CHANGES)
    return change(file, draw)


def outcomes(count: int, seed: int) -> Iterator[Outcome]:
    """Yield what comes of so many mutations, over all good folders in turn."""
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as home:
        made = [_build(good, Path(home) / f"good{i}") for i, good in enumerate(GOOD)]
        expected = [
            (answers(good, folder), said(good, folder))
            for good, folder in zip(GOOD, made, strict=True)
        ]
        for number in range(count):
            which = number % len(GOOD)
            folder = Path(shutil.copytree(made[which], Path(home) / f"bad{number}"))
            change = mutate(folder, draw)
            yield _judge(GOOD[which], folder, change, *expected[which])
            shutil.rmtree(folder)


def _build(good: Good, folder: Path) -> Path:
    made: Path = getattr(build, good.builder)(folder, **good.options)
    return made


def answers(good: Good, folder: Path) -> list[Any]:
    """Return the answers of a folder, through torch."""
    with getattr(likewise, good.face)(folder, plan="torch/cpu/float32/b4/t1") as predictor:
        return list(predictor.answers(good.items or _pictures()))


def said(good: Good, folder: Path) -> set[str]:
    """Return what a folder's reader is told aloud."""
    with getattr(likewise, good.face)(folder, plan="torch/cpu/float32/b4/t1") as predictor:
        return {*read(folder).warnings, *predictor.open().task.assumptions}


def _pictures() -> list[Any]:
    import numpy as np
    from PIL import Image

    draw = np.random.default_rng(3)
    return [Image.fromarray(draw.integers(0, 256, (30, 40, 3), np.uint8)) for _ in range(3)]


def _judge(good: Good, folder: Path, change: str, expected: list[Any], usual: set[str]) -> Outcome:
    try:
        found = answers(good, folder)
    except LikewiseError as error:
        words = f"{type(error).__name__}: {error}"
        files = [Path(word) for word in change.split() if "." in word]
        named = any(f.name in words or f.stem in words for f in files) or "tensor" in words
        return Outcome(good.builder, change, "refused" if named else "unnamed", words)
    except Exception as error:  # noqa: BLE001 - this is what must never come
        return Outcome(good.builder, change, "traceback", f"{type(error).__name__}: {error}")
    if found == expected:
        return Outcome(good.builder, change, "same", "")
    errors = [answer["error"] for answer in found if "error" in answer]
    notes = errors or sorted(said(good, folder) - usual)
    return Outcome(good.builder, change, "noted" if notes else "silent", "; ".join(notes))


def main() -> int:
    """Print every outcome that is not the same, and the sums."""
    count, seed = (int(word) for word in (*sys.argv[1:3], "200", "7")[:2])
    sums: collections.Counter[str] = collections.Counter()
    for outcome in outcomes(count, seed):
        sums[outcome.kind] += 1
        if outcome.kind != "same":
            said = " ".join(outcome.said.split())
            sys.stdout.write(f"{outcome.kind:9} {outcome.good:20} {outcome.change}: {said[:150]}\n")
    sys.stdout.write(f"{dict(sums)}\n")
    return 1 if sums["silent"] + sums["traceback"] + sums["unnamed"] else 0


if __name__ == "__main__":
    sys.exit(main())
