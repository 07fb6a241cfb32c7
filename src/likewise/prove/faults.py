"""A fault's name and an opened plan, in; the same plan with the fault in it, out.

The mutation suite of the verdict: ``likewise prove MODEL --on PLAN/fault=W11`` shows it fail.
"""

from __future__ import annotations

from functools import cache

from likewise import find
from likewise.errors import LikewiseError
from likewise.prove.planted._fault import Fault
from likewise.run.runner import Runner
from likewise.types import Model

__all__ = ["Fault", "faults", "plant"]

_ROOM = "prove/planted"


@cache
def faults() -> dict[str, Fault]:
    """Return every fault by its name, sorted."""
    every = [f for kind in find.names(_ROOM) for f in find.load(_ROOM, kind).FAULTS]
    return {fault.name: fault for fault in sorted(every, key=lambda f: str(f.name))}


def plant(name: str, runner: Runner, model: Model) -> Runner:
    """Return a runner with a fault in it.

    Raises:
        LikewiseError: there is no fault of that name; lists those there are.
        RefusedError: the fault cannot be planted in this plan, task or model.
    """
    fault = faults().get(name)
    if fault is None:
        raise LikewiseError(
            f"{name!r} is not a fault.",
            found=f"there are: {', '.join(faults())}",
            fix=f"fault={next(iter(faults()))}",
        )
    if runner.task.name not in fault.tasks:
        raise LikewiseError(
            f"The fault {name}, {fault.title}, has no place in the task {runner.task.name}.",
            found=f"{model.folder}",
            fix=f"a model of one of the tasks {', '.join(fault.tasks)}",
        )
    return fault.spoil(runner)
