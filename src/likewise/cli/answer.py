"""MODEL, items and a plan, in; answers on stdout as they come, and how many items had none, out."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import msgspec

from likewise.cli.screen import answer_lines, say
from likewise.errors import ItemError
from likewise.run.items import taken
from likewise.run.opening import open_runner
from likewise.run.source import resolve
from likewise.settings import Overrides
from likewise.types import Answer, Item, Plan, Task

__all__ = ["answer"]


def answer(
    model: str,
    items: Sequence[Item],
    *,
    plan: str | None,
    device: str,
    unproven: bool,
    overrides: Overrides,
    top: int | None,
    as_json: bool,
) -> int:
    """Print one answer per item, in order; return how many items have none.

    Raises:
        LikewiseError: the folder, plan or device cannot be used.
    """
    source = resolve(
        model,
        plan=Plan.parse(plan) if plan else None,
        device=device,
        unproven=unproven,
        overrides=overrides,
    )
    for line in source.said:
        say(line)
    runner = open_runner(source.folder, overrides=source.overrides, plan=source.plan)
    items = _fitting(items, runner.task, top)
    for line in dict.fromkeys(runner.notes):
        say(f"note: {line}")
    for line in runner.task.assumptions:
        say(f"assumed: {line}")
    failed = cut = index = 0
    try:
        for window in runner.stream(items, top=top):
            for one in window:
                failed += "error" in one
                cut += bool(one.get("truncated")) and "error" not in one
                sys.stdout.write(_line(index, items[index], one, as_json=as_json))
                index += 1
            sys.stdout.flush()  # a reader down the pipe need not wait for the next window
    except BrokenPipeError:  # the reader of stdout went away: `likewise run … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    finally:
        runner.session.close()
    if cut:
        how = "answered from a window" if source.overrides.overflow == "window" else "cut"
        limit = _limit(runner.task.hints())
        say(f"{cut} of {len(items)} items were longer than {limit} and {how}")
    return failed


def _fitting(items: Sequence[Item], task: Task, top: int | None) -> list[Item]:
    """Return the items; refuse a kind that this task does not take at all."""
    if top is not None and "vector" in task.kinds:
        raise ItemError("A vector has no best labels.", found=f"--top {top}", fix="leave it out")
    if task.takes == "picture" and any(isinstance(item, str) for item in items):
        raise ItemError("This model answers pictures.", found="texts", fix="--image PICTURE")
    if task.name != "classify" and any(isinstance(item, tuple) for item in items):
        raise ItemError(
            "Pairs are for a classifier of two texts.",
            found=f"task {task.name}",
            fix="--text alone",
        )
    return taken(items, task.takes)


def _line(index: int, item: Item, one: Answer, *, as_json: bool) -> str:
    shown = " | ".join(item) if isinstance(item, tuple) else str(item)
    shown = shown.encode("utf-8", "backslashreplace").decode()  # an argument may hold any byte
    if as_json:
        return msgspec.json.encode({"index": index, "item": shown, **one}).decode() + "\n"
    return "\n".join(answer_lines(shown, one)) + "\n"


def _limit(hints: object) -> str:
    return f"{hints['max_tokens']} tokens" if isinstance(hints, dict) else "the limit"
