"""A verdict that is outside, in; the module where the plan goes wrong, and a folder to see it, out.

``python -m likewise.prove.localise JOB.json`` is the process that looks.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import msgspec
import numpy as np

from likewise.engines._devices import threads
from likewise.engines._process import answer_for, run_child
from likewise.errors import LikewiseError
from likewise.model.read import read
from likewise.outcomes import Verdict
from likewise.prove.cuts import cut
from likewise.prove.limits import precision_class
from likewise.prove.shadow import Blame, apart, blame, shadow, trace
from likewise.prove.subject import Subject
from likewise.run.items import load_items, save_items
from likewise.run.opening import open_runner
from likewise.run.runner import Runner
from likewise.settings import Overrides
from likewise.types import Item, Json, Plan

__all__ = ["localise", "main", "said"]

_FOUND = "blame.json"
_LOOKED_INTO = ("torch", "onnx", "openvino")  # modules, or the operators of a graph
_STAGES = {
    "input": "it goes wrong before the network: {differences}",
    "network": "it goes wrong in {module} ({kind}), whose own error is {ratio} times an honest one"
    "{differences}",
    "session": "every module is right, and what the session gives is not what they compute",
    "output": "the network is right; what is made of its output is not",
    "company": "the item is right on its own: it goes wrong in a batch",
}


@dataclass(frozen=True)
class _Job:
    """What the process is told."""

    source: str
    plan: str
    task: str
    items: str  # the folder that save_items wrote: the one item
    out: str
    overrides: Overrides = field(default_factory=Overrides)


def localise(subject: Subject, plan: Plan, verdict: Verdict) -> Verdict:
    """Return the verdict with the place where a plan goes wrong, and how to see it again.

    Modules of torch run alone, operators of an ONNX graph are cut out. The folder that is left
    holds the smallest text that still fails.
    """
    if verdict.outcome != "outside" or plan.engine not in _LOOKED_INTO or not verdict.worst:
        return verdict
    folder = Path(tempfile.mkdtemp(prefix="likewise-repro-"))
    item = subject.items[verdict.worst[0].item]
    save_items([item], folder / "items")
    job = _Job(
        source=str(subject.model.folder.absolute()),
        plan=str(plan),
        task=subject.task.name,
        items=str(folder / "items"),
        out=str(folder),
        overrides=subject.settings.model,
    )
    file = folder / "job.json"
    file.write_bytes(msgspec.json.encode(job))
    try:
        run_child(
            "likewise.prove.localise",
            [str(file)],
            folder=folder,
            doing=f"Looking where {plan} goes wrong",
            threads=plan.threads,
            device=plan.device,
            timeout=subject.settings.proof.timeout_seconds,
        )
        found = json.loads((folder / _FOUND).read_text())
    except LikewiseError as error:
        return replace(verdict, blame={"missing": f"{error.what} {error.found}".strip()})
    command = f"{Path(sys.executable).name} -m likewise.prove.localise {file}"
    told = {**found, "item": verdict.worst[0].item, "folder": str(folder), "command": command}
    return replace(verdict, blame=told, reasons=(*verdict.reasons, said(told)))


def said(found: Mapping[str, Json]) -> str:
    """Return what was found, as a sentence."""
    between = ": " if found["stage"] == "network" and found["differences"] else ""
    ratio = "any number of" if found["ratio"] is None else f"{found['ratio']:.3g}"
    return _STAGES[found["stage"]].format(
        module=found["module"],
        kind=found["kind"],
        ratio=ratio,
        differences=between + "; ".join(found["differences"][:3]),
    )


def main() -> int:
    """Do the job that the command line names; print what was found."""
    job = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=_Job)
    return answer_for(lambda: _look(job), Path(job.out))


def _look(job: _Job) -> None:
    """Open the truth, an honest twin and the candidate, one after the other."""
    plan = Plan.parse(job.plan)
    items = _shorter(load_items(Path(job.items))[0])
    precision, count = precision_class(plan), threads()
    exact = Plan("torch", "cpu", "float64", 1, count)
    extras = () if precision == "float32" else (f"emulate={precision}",)
    twin = Plan("torch", "cpu", "float32", 1, count, extras)
    with _opened(job, exact) as runner:
        truths = [_arrays(runner, item) for item in items]
    with _opened(job, twin) as runner:
        noise = [_far(truth, _arrays(runner, i)) for truth, i in zip(truths, items, strict=True)]
    with _opened(job, plan) as runner:
        errors = [_far(truth, _arrays(runner, i)) for truth, i in zip(truths, items, strict=True)]
    limit = 30 * max(float(np.median(noise)), 1e-9)
    failing = [k for k, error in enumerate(errors) if not error <= limit]
    item = items[failing[0]] if failing else items[-1]
    found = _blame(job, (exact, twin, plan), item)
    save_items([item], Path(job.out) / "items")
    told = {**asdict(found), "smallest": item if isinstance(item, str) else None}
    (Path(job.out) / _FOUND).write_text(json.dumps(told))
    sys.stdout.write(f"{said(told)}\n")


def _blame(job: _Job, plans: tuple[Plan, Plan, Plan], item: Item) -> Blame:
    """Compare the truth, an honest twin and the candidate, module by module."""
    exact, twin, plan = plans
    with _opened(job, exact) as runner:
        reference = trace(runner, item)
    with _opened(job, twin) as runner:
        if plan.engine != "torch":
            honest = trace(runner, item)
        else:
            shadows = {call: error for call, error, _ in shadow(runner, reference)}
    with _opened(job, plan) as runner:
        if plan.engine == "torch":
            return blame(reference, shadows, runner, item)
        return cut(
            read(job.source, job.overrides), (reference, honest), runner, item, Path(job.out)
        )


def _opened(job: _Job, plan: Plan) -> Runner:
    return open_runner(job.source, overrides=job.overrides, task=job.task, plan=plan)


def _shorter(item: Item) -> list[Item]:
    """Return an item's beginnings, the shortest first, and last the item itself."""
    if not isinstance(item, str):
        return [item]
    words = item.split(" ")
    sizes = [size for size in (1, 2, 4, 8, 16, 32, 64, 128) if size < len(words)]
    return [*(" ".join(words[:size]) for size in sizes), item]


def _arrays(runner: Runner, item: Item) -> np.ndarray | None:
    """Return what a person is given, as one row of numbers; None where there is no answer."""
    rows = runner.task.encode([item])
    if rows[0].problem is not None:
        return None
    arrays = runner.compute(rows)[2]
    kinds = runner.task.kinds
    name = next((n for n, kind in kinds.items() if kind in ("logits", "vector")), next(iter(kinds)))
    return np.asarray(arrays[name], np.float64).ravel()


def _far(ours: np.ndarray | None, theirs: np.ndarray | None) -> float:
    if ours is None or theirs is None:
        return 0.0 if ours is theirs else float("inf")
    return apart([ours], [theirs])


if __name__ == "__main__":
    sys.exit(main())
