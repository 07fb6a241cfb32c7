"""A reference, an honest twin and a candidate of one torch model, in turn; where they part, out.

Three models are opened one after the other, never two at once. Each module of the network runs
alone on what the reference's own module was given (its *shadow*): an error that it makes there is
its own, and not that of what came before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.run.runner import Runner
from likewise.types import Item, Json

if TYPE_CHECKING:
    from likewise.types import Arrays

__all__ = [
    "LIMIT", "TINY", "Blame", "Trace", "apart", "blame", "digest", "finite", "path", "shadow",
    "trace",
]  # fmt: skip

Module = Any
TINY = 2.0**-24  # half a unit of float32: no honest error is known to be smaller
LIMIT = 30.0  # times the honest error: limits.toml, amplification_max_outside
_ABSENT = "not there"
_WRAPPED = "inner"  # the model within the module of a session


@dataclass(frozen=True)
class Trace:
    """What one network did with one item, call by call, in the order in which calls ended."""

    calls: list[tuple[str, int]]  # module path, and which of its calls
    given: dict[tuple[str, int], tuple[Any, Any]]  # positional and keyword arguments
    made: dict[tuple[str, int], list[np.ndarray]]  # float64
    about: dict[str, dict[str, Json]]  # of each module: class, settings, digests of its tensors
    inputs: Arrays
    outputs: Arrays
    arrays: Arrays
    local: dict[tuple[str, int], float] = field(default_factory=dict)


@dataclass(frozen=True)
class Blame:
    """Where a candidate parts from its reference, JSON-ready."""

    stage: str  # input | network | session | output | company
    module: str = ""  # path within the model
    kind: str = ""  # its class
    error: float | None = None  # of the module alone, relative
    ratio: float | None = None  # that over the error of an honest twin
    differences: tuple[str, ...] = ()  # in settings and tensors
    tried: int = 0  # modules


def trace(runner: Runner, item: Item) -> Trace:
    """Run one item through a torch session, and keep what every module was given and made."""
    import torch

    module = runner.session.module  # type: ignore[attr-defined]  # torch sessions have one
    names = dict(map(reversed, module.named_modules()))
    calls: list[tuple[str, int]] = []
    counts: dict[str, int] = {}
    open_calls: dict[str, list[tuple[Any, Any]]] = {}
    given: dict[tuple[str, int], tuple[Any, Any]] = {}
    made: dict[tuple[str, int], list[np.ndarray]] = {}

    def before(part: Module, args: Any, kwargs: Any) -> None:
        open_calls.setdefault(names[part], []).append((_copied(args), _copied(kwargs)))

    def after(part: Module, args: Any, kwargs: Any, output: Any) -> None:  # noqa: ARG001 - torch's
        name = names[part]
        call = (name, counts.get(name, 0))
        counts[name] = call[1] + 1
        calls.append(call)
        given[call] = open_calls[name].pop()
        made[call] = _numbers(output)

    hooks = [h for part in names for h in (
        part.register_forward_pre_hook(before, with_kwargs=True),
        part.register_forward_hook(after, with_kwargs=True),
    )]  # fmt: skip
    rows = runner.task.encode([item])
    with torch.inference_mode():
        inputs, _, arrays = runner.compute(rows)
    for hook in hooks:
        hook.remove()
    root = calls.pop()
    outputs = dict(zip(runner.task.network.outputs, made.pop(root), strict=True))
    about = {name: _about(part) for part, name in names.items()}
    return Trace(calls, given, made, about, inputs, outputs, arrays)


def shadow(runner: Runner, reference: Trace) -> Iterator[tuple[tuple[str, int], float, Json]]:
    """Yield (call, relative error, facts) of every module, fed with the reference's own inputs.

    A module that is not there, or fails on those inputs, has an infinite error.
    """
    import torch

    module = runner.session.module  # type: ignore[attr-defined]  # torch sessions have one
    parts = dict(module.named_modules())
    narrow = next(module.parameters()).dtype
    with torch.inference_mode():
        for call in reference.calls:
            part = parts.get(call[0])
            if part is None:
                yield call, float("inf"), {"class": _ABSENT}
                continue
            args, kwargs = reference.given[call]
            try:
                made = _numbers(part(*_cast(args, narrow), **_cast(kwargs, narrow)))
            except Exception as error:  # noqa: BLE001 - whatever a foreign module raises
                yield call, float("inf"), {"class": f"{type(part).__name__}: {error}"[:200]}
                continue
            yield call, apart(reference.made[call], made), _about(part)


def blame(
    reference: Trace, honest: Mapping[tuple[str, int], float], candidate: Runner, item: Item
) -> Blame:
    """Return the first place where the candidate goes its own way.

    Args:
        reference: of the truth, over the item.
        honest: of every call, the relative error of an honest module of the candidate's precision.
        candidate: with its own task and session.
        item: the one that failed.
    """
    rows = candidate.task.encode([item])
    ours = candidate.task.collate(rows)
    strange = [
        name
        for name, array in reference.inputs.items()
        if name not in ours or not np.array_equal(array, ours[name])
    ]
    if strange:
        return Blame("input", differences=tuple(_input(reference, ours, n) for n in strange))
    tried = 0
    for call, error, facts in shadow(candidate, reference):
        tried += 1
        ratio = error / max(honest.get(call, 0.0), TINY)
        if not ratio <= LIMIT:
            known = reference.about[call[0]]
            return Blame(
                "network", path(call[0]), str(known["class"]), finite(error), finite(ratio),
                tuple(_differences(known, facts)), tried,
            )  # fmt: skip
    last = honest.get(reference.calls[-1], 0.0)
    wanted = {n: np.asarray(a, np.float32) for n, a in reference.outputs.items()}
    if not _close(reference.arrays, candidate.task.finish(reference.inputs, wanted), last):
        return Blame("output", tried=tried)
    if not _close(reference.arrays, candidate.compute(rows)[2], last):
        return Blame("session", tried=tried)
    return Blame("company", tried=tried)


def _close(ours: Arrays, theirs: Arrays, honest: float) -> bool:
    if any(name not in theirs or theirs[name].shape != a.shape for name, a in ours.items()):
        return False
    error = max(apart([_exact(a)], [_exact(theirs[n])]) for n, a in ours.items())
    return error <= LIMIT * max(honest, 4 * TINY)


def _exact(array: np.ndarray) -> np.ndarray:
    return np.asarray(array, np.float64)


def apart(ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> float:
    """Return the largest relative distance of matching tensors; infinite where they differ."""
    if [a.shape for a in ours] != [b.shape for b in theirs]:
        return float("inf")
    worst = 0.0
    for a, b in zip(ours, theirs, strict=True):
        with np.errstate(all="ignore"):
            distance = float(np.linalg.norm(a - b)) / max(float(np.linalg.norm(a)), 1e-30)
        if not np.isfinite(distance):
            return float("inf")
        worst = max(worst, distance if np.linalg.norm(a) > 0 or distance > 0 else 0.0)
    return worst


def finite(value: float) -> float | None:
    """Return a number, or None for what JSON has no word for."""
    return value if np.isfinite(value) else None


def path(name: str) -> str:
    """Return a module's path within the model."""
    return name.removeprefix(f"{_WRAPPED}.") or name


def _input(reference: Trace, ours: Arrays, name: str) -> str:
    wanted, found = reference.inputs[name], ours.get(name)
    if found is None:
        return f"{name} is not sent"
    if found.shape != wanted.shape:
        return f"{name} has shape {found.shape} where the reference has {wanted.shape}"
    return f"{name} differs in {int((found != wanted).sum())} of {wanted.size} numbers"


def _differences(known: Mapping[str, Json], facts: Mapping[str, Json]) -> Iterator[str]:
    if facts.get("class") == _ABSENT:
        yield "the plan's network has no such module"
        return
    for key in sorted({*known, *facts}):
        if known.get(key) == facts.get(key):
            continue
        if key.startswith("tensor "):
            lost = "" if key in facts else ", which is not there"
            yield f"{key.removeprefix('tensor ')} holds other numbers than the file{lost}"
        else:
            yield f"{key} is {facts.get(key)} where the reference has {known.get(key)}"


def _about(part: Module) -> dict[str, Json]:
    """Return a module's class, its plain settings, and a digest of each of its own tensors."""
    plain = {
        name: value
        for name, value in vars(part).items()
        if isinstance(value, bool | int | float | str | tuple) and not name.startswith("_")
    }
    tensors = {
        f"tensor {name}": digest(tensor.detach().float().cpu().numpy())
        for own in (part.named_parameters, part.named_buffers)
        for name, tensor in own(recurse=False)
        if tensor.is_floating_point()
    }
    return {"class": type(part).__name__, **plain, **tensors}


def digest(array: np.ndarray) -> str:
    """Return a digest of a tensor as float32: what a file of float32 and its copies share."""
    return hashlib.sha256(np.ascontiguousarray(array, np.float32).tobytes()).hexdigest()[:16]


def _numbers(output: Any) -> list[np.ndarray]:
    """Return every floating tensor of an output, in order, as float64."""
    return [t.detach().double().cpu().numpy().copy() for t in _tensors(output)]


def _tensors(value: Any) -> Iterator[Any]:
    if hasattr(value, "is_floating_point"):
        if value.is_floating_point():
            yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _tensors(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _tensors(inner)


def _copied(value: Any) -> Any:
    return _each(value, lambda tensor: tensor.detach().clone())


def _cast(value: Any, dtype: Any) -> Any:
    return _each(value, lambda t: t.to(dtype) if t.is_floating_point() else t.clone())


def _each(value: Any, act: Callable[[Any], Any]) -> Any:
    if hasattr(value, "is_floating_point"):
        return act(value)
    if isinstance(value, dict):
        return {name: _each(inner, act) for name, inner in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_each(inner, act) for inner in value)
    return value
