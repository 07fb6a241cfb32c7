"""A plan's ONNX graph and the truth's trace, in; the module where the graph leaves it, out.

Every tensor within the graph is made an output, and is matched with what the modules of the truth
made, by its numbers. At the first module that nothing matches, the operators are cut out and run
alone on the truth's own tensors: what still fails there is their own error, and what does not is
the runtime's, which joins operators where nobody looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.engines._insides import FLOATS, Insides, compute_alone, open_insides
from likewise.prove.shadow import LIMIT, TINY, Blame, Trace, apart, digest, finite, path
from likewise.run.runner import Runner
from likewise.types import Item, Json, Model, Plan

if TYPE_CHECKING:
    pass

__all__ = ["cut"]

_MOST_NAMED = 6  # operators in a message
_MOVING = ("Reshape", "Transpose", "Cast", "Where", "Unsqueeze", "Squeeze", "Expand")
_JOINED = (
    "alone, on the truth's own tensors, its operators are right: the runtime joins them with others"
)
Call = tuple[str, int]


def cut(
    model: Model, traces: tuple[Trace, Trace], runner: Runner, item: Item, folder: Path
) -> Blame:
    """Return the first module that the graph does not compute, with its operators in a file.

    Args:
        model: what the graph is of.
        traces: of the truth over the item, and of an honest twin at the plan's precision: how far
            its modules may be off.
        runner: the plan's own, with its task.
        item: the one that failed; it is run alone.
        folder: ``cut.onnx`` is left there.
    """
    reference, honest = traces
    rows = runner.task.encode([item])
    ours = runner.task.collate(rows)
    if any(n not in ours or not np.array_equal(a, ours[n]) for n, a in reference.inputs.items()):
        return Blame("input", differences=("token ids, mask or pixels are others",))
    graph = open_insides(model, runner.task.network, runner.plan, ours, folder)
    names = _matches(reference, honest, graph.seen)
    suspect = _first_unmatched(reference, names)
    if suspect is None:
        return Blame("output", tried=len(reference.calls))
    return _blame(graph, reference, honest, (suspect, names), (runner.plan, folder))


def _first_unmatched(reference: Trace, names: Mapping[Call, str]) -> Call | None:
    """Return the first call that no tensor matches, nor any that matches a module around it.

    An exporter may fold a small module away; what is around it is then still there.
    """
    matched = {name for name, _ in names}
    for call in reference.calls:
        parts = call[0].split(".")
        around = {".".join(parts[:size]) for size in range(1, len(parts))}
        if reference.made[call] and call not in names and not around & matched:
            return call
    return None


def _blame(
    graph: Insides,
    reference: Trace,
    honest: Trace,
    found: tuple[Call, Mapping[Call, str]],
    place: tuple[Plan, Path],
) -> Blame:
    """Cut out what makes the nearest tensor to a module's output, and run it alone."""
    call, names = found
    wanted = reference.made[call][0]
    allowed = _allowed(reference, honest, call)
    kind = str(reference.about[call[0]]["class"])
    blame = Blame("network", path(call[0]), kind, tried=len(reference.calls))
    name = _nearest(graph, call, wanted, set(names.values()))
    if name is None:
        return replace(blame, differences=("the graph has no tensor of its shape there",))
    error = apart([wanted], [_like(graph.seen[name], wanted)])
    known = {names[c]: reference.made[c][0] for c in names}
    nodes, alone = compute_alone(graph, name, known, place)
    said = [
        *_operators(n for n in nodes if n.output[0] in graph.seen),
        *_strange(graph.proto, nodes, reference.about[call[0]]),
    ]
    if apart([wanted], [_like(alone, wanted)]) <= allowed:
        said.insert(0, _JOINED)
    ratio = finite(error / max(allowed / LIMIT, TINY))
    return replace(blame, error=finite(error), ratio=ratio, differences=tuple(said))


def _nearest(graph: Insides, call: Call, wanted: np.ndarray, taken: set[str]) -> str | None:
    """Return the tensor that stands for a module's output: the last of its name, or the nearest."""
    pool = [n for n, a in graph.seen.items() if a.size == wanted.size and n not in taken]
    named = [n for n in pool if f"/{call[0].replace('.', '/')}/" in n.replace(".", "/")]
    shaped = [n for n in named or pool if graph.seen[n].shape == wanted.shape]
    if named:
        return (shaped or named)[-1]
    far = {n: apart([wanted], [_like(graph.seen[n], wanted)]) for n in shaped or pool}
    ties = [name for name in far if far[name] <= 1.001 * min(far.values())]
    return ties[-1] if ties else None


def _matches(reference: Trace, honest: Trace, seen: Mapping[str, np.ndarray]) -> dict[Call, str]:
    """Return the tensor of the graph that is what a module made, for each that has one."""
    sizes: dict[int, list[str]] = {}
    for name, array in seen.items():
        sizes.setdefault(array.size, []).append(name)
    found: dict[Call, str] = {}
    for call in reference.calls:
        if not reference.made[call]:
            continue
        wanted, allowed = reference.made[call][0], _allowed(reference, honest, call)
        for name in sizes.get(wanted.size, ()):
            if apart([wanted], [_like(seen[name], wanted)]) <= allowed:
                found[call] = name
                break
    return found


def _allowed(reference: Trace, honest: Trace, call: Call) -> float:
    noise = apart(reference.made[call], honest.made.get(call, []))
    return LIMIT * max(noise if np.isfinite(noise) else 0.0, 4 * TINY)


def _like(array: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    return array.reshape(wanted.shape)


def _operators(nodes: Iterable[Any]) -> list[str]:
    named = [f"{node.op_type} {node.name}".strip() for node in nodes if node.op_type not in _MOVING]
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    return [f"operators: {', '.join(named[:_MOST_NAMED])}{more}"] if named else []


def _strange(proto: Any, nodes: Iterable[Any], about: Mapping[str, Json]) -> list[str]:
    """Name the module's own tensors that the operators do not use, as they are or transposed."""
    import onnx

    used = {name for node in nodes for name in node.input}
    found = set()
    for stored in proto.graph.initializer:
        if stored.name in used and stored.data_type in FLOATS:
            array = onnx.numpy_helper.to_array(stored).astype(np.float32)
            found |= {digest(array), digest(array.T)}
    own = {k.removeprefix("tensor "): v for k, v in about.items() if k.startswith("tensor ")}
    return [f"{name} holds other numbers than the file" for name in own if own[name] not in found]
