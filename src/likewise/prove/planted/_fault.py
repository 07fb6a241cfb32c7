"""What a fault is: a name, a way to spoil a Runner, and what the verdict must make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from likewise.errors import RefusedError
from likewise.run.runner import Runner
from likewise.types import Session, Task

if TYPE_CHECKING:
    from likewise.types import Arrays

__all__ = ["Fault", "Module", "Spoil", "absent", "in_module", "in_session", "in_task", "spoilt"]

Module: TypeAlias = Any
"""A torch module; torch is imported only where a fault needs it."""
Spoil: TypeAlias = Callable[[Runner], Runner]
Expected: TypeAlias = Literal["outside", "undecided", "equivalent"]

TEXT = ("classify", "embed", "fillmask")
PICTURE = ("image_classify", "image_embed")
ALL = (*TEXT, *PICTURE)
_SCALE = {"float32": 0, "hf32": 1, "tf32": 1, "float16": 1, "bfloat16": 2, "int8": 3}
"""Precisions, by how far they round."""


@dataclass(frozen=True)
class Fault:
    """One way in which a port can be wrong; or, where equivalent, in which it may differ."""

    name: str  # its id in shared/faults.md
    title: str
    spoil: Spoil
    tasks: tuple[str, ...] = ALL  # where it can be planted
    needs: str = ""  # what else has to be there for it to change any answer
    expected: Expected = "outside"
    coarsest: str = "int8"  # of _SCALE: the last whose honest rounding does not hide it

    def visible(self, precision: str) -> bool:
        """Tell whether it is larger than what rounding to a precision does to an answer.

        Measured by benchmarks/mutants.py on five models, each fault at each precision.
        """
        return _SCALE[precision] <= _SCALE[self.coarsest]


class _Spoilt:
    """Something with a few of its names replaced; the rest is the original's."""

    def __init__(self, original: object, replaced: Mapping[str, object]) -> None:
        self._original = original
        self.__dict__.update(replaced)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


def spoilt(original: object, **replaced: object) -> Any:
    """Return a stand-in for a task or session in which some names are others."""
    return _Spoilt(original, replaced)


def in_module(change: Callable[[Module], None]) -> Spoil:
    """Return a spoiler that changes the torch module in place, after it was loaded."""

    def spoil(runner: Runner) -> Runner:
        module = getattr(runner.session, "module", None)
        if module is None:
            raise RefusedError(
                "This fault is planted in a torch module, and this plan has none.",
                found=str(runner.plan),
                fix="a plan of the torch engine",
            )
        import torch

        with torch.no_grad():
            change(module)
        return runner

    return spoil


def in_session(compute: Callable[[Session, Arrays], Arrays], **facts: object) -> Spoil:
    """Return a spoiler of what a session computes, or of what it says that it is."""

    def spoil(runner: Runner) -> Runner:
        session = runner.session
        changed: Session = spoilt(
            session,
            run=lambda inputs: compute(session, inputs),
            facts=lambda: {**session.facts(), **facts},
        )
        return runner.beside(session=changed)

    return spoil


def in_task(change: Callable[[Task], Task]) -> Spoil:
    """Return a spoiler of what a task makes of items or outputs."""

    def spoil(runner: Runner) -> Runner:
        return runner.beside(task=change(runner.task))

    return spoil


def absent(what: str) -> RefusedError:
    """Return the refusal of a fault whose place is not in this model."""
    return RefusedError(
        f"This fault cannot be planted here: the model has no {what}.",
        fix="a fault that fits the model",
    )
