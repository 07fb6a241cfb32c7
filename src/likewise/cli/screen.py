"""What a person sees in a terminal: errors and progress on stderr, results on stdout."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from likewise.errors import LikewiseError
    from likewise.types import Answer

__all__ = [
    "Talk", "answer_lines", "draw_error", "print_json", "print_pairs", "say", "stderr", "stdout",
    "talking",
]  # fmt: skip


def stdout() -> Console:
    """Return the console for results; 80 columns where there is no screen."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=False, width=None if sys.stdout.isatty() else 100)


def stderr() -> Console:
    """Return the console for talk."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def say(text: str) -> None:
    """Say something beside the results."""
    sys.stderr.write(text + "\n")


def draw_error(error: LikewiseError) -> None:
    """Draw what, found, try."""
    lines = str(error).splitlines() or [""]
    sys.stderr.write(f"{type(error).__name__}: {lines[0]}\n")
    for line in lines[1:]:
        sys.stderr.write(line + "\n")


class Talk:
    """Progress: what is running, how far, and how long it has taken; plain lines off a screen."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.began = time.monotonic()
        self.status: Any = None
        self.last: tuple[str, float] = ("", 0.0)  # what the last line began with, and when

    def __call__(self, phase: str, detail: str = "") -> None:
        """Say that a phase has begun."""
        elapsed = time.monotonic() - self.began
        if self.quiet or self._too_soon(phase, detail, elapsed):
            return
        line = f"[{elapsed:6.1f} s] {phase:<10} {detail}".rstrip()
        if self.status is not None:
            from rich.markup import escape

            self.status.update(escape(line))
        else:
            say(line)

    def _too_soon(self, phase: str, detail: str, elapsed: float) -> bool:
        """Off a screen, hold back more of the same kind of line for five seconds."""
        kind = f"{phase} {detail.partition(' ')[0]}"
        if self.status is None and self.last[0] == kind and elapsed < self.last[1] + 5:
            return True
        self.last = (kind, elapsed)
        return False


@contextmanager
def talking(*, quiet: bool = False) -> Iterator[Talk]:
    """Give a progress display for as long as the block runs."""
    talk = Talk(quiet=quiet)
    if quiet or not sys.stderr.isatty():
        yield talk
        return
    with stderr().status("starting") as status:
        talk.status = status
        yield talk


def answer_lines(shown: str, answer: Answer) -> list[str]:
    """Return the lines that show one answer to a person."""
    head = shown if len(shown) <= 72 else shown[:71] + "…"
    how = "a window around the mask" if answer.get("window") else "cut"
    told = answer.get("truncated") and "error" not in answer
    cut = f"   ({how}: {answer['tokens']} tokens used)" if told else ""
    return [head + cut, *_body(answer)]


def _body(answer: Answer) -> list[str]:
    if "error" in answer:
        return [f"  no answer: {answer['error']}"]
    if "labels" in answer:
        return [f"  {e['score']:.6f}  {e['label']}" for e in answer["labels"]]
    if "masks" in answer:
        return [
            f"  mask {place + 1}  {_score(e['score'])}  {e['token']}{_reason(e)}"
            for place, mask in enumerate(answer["masks"])
            for e in mask
        ]
    if "vector" in answer:
        vector = answer["vector"]
        few = ", ".join(f"{x:.6f}" for x in vector[:4])
        return [f"  [{few}{', …' if len(vector) > 4 else ''}]  ({len(vector)} numbers)"]
    return [f"  {key}  {value}" for key, value in answer.items()]


def print_pairs(facts: Any) -> None:
    """Print labels and values in two columns."""
    console = stdout()
    for name, value in facts:
        console.print(f"  {name:<22} {value}", markup=False)


def print_json(value: Any) -> None:
    """Print a value as JSON, for other programs to read."""
    import msgspec

    body = msgspec.json.encode(value, enc_hook=str)
    sys.stdout.write(msgspec.json.format(body, indent=2).decode() + "\n")


def _score(score: float | None) -> str:
    return "no score" if score is None else f"{score:.6f}"


def _reason(entry: Answer) -> str:
    return f"  ({entry['reason']})" if "reason" in entry else ""
