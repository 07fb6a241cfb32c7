"""A subject and a plan in; the Run of a fresh process, made once, out."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from likewise import cache
from likewise.engines._devices import versions
from likewise.engines._foreign import digests
from likewise.engines._processor import processor_fingerprint
from likewise.errors import RefusedError
from likewise.prove.subject import Subject, stored
from likewise.run.items import fingerprint
from likewise.run.process import Job, run_job
from likewise.run.store import RUN, load_run
from likewise.types import Item, Json, Plan, Run

__all__ = ["key", "run_all", "run_once"]

_PACKAGES = (
    "numpy", "tokenizers", "torch", "transformers", "timm", "onnxruntime", "openvino", "onnx",
    "onnxscript", "pillow", "torch_npu", "sentencepiece",
)  # fmt: skip
_ROOMS = ("types.py", "model", "tasks", "engines", "run", "prove/planted")
"""The rooms whose code decides what a run computes."""
_SMALL = (".json", ".txt", ".model", ".jinja")


def run_once(
    subject: Subject,
    plan: Plan,
    items: Sequence[Item],
    *,
    seed: int = 0,
    repeat: int = 0,
    company: bool = False,
) -> tuple[Run, bool]:
    """Run a plan in a fresh process, unless the same was run before.

    The same: model, everything the user states about it, items, plan, seed, versions, processor,
    and likewise's own code.

    Returns:
        The run, and whether it was made earlier.

    Raises:
        RefusedError: the plan cannot run as asked, crashed, or ran out of memory or time.
    """
    fresh: list[Path] = []

    def make(folder: Path) -> None:
        fresh.append(folder)
        _run(subject, plan, items, asked, folder)

    asked = {"seed": seed, "repeat": repeat, "company": company}
    folder = cache.build("run", key(subject, plan, items, asked), make)
    return load_run(folder), not fresh


def _run(
    subject: Subject, plan: Plan, items: Sequence[Item], asked: Mapping[str, int], folder: Path
) -> None:
    """Run outside the cache: a failure leaves its log where its message says that it lies."""
    out = Path(tempfile.mkdtemp(prefix="likewise-run-"))
    job = replace(
        _job(subject, plan, items, out),
        seed=asked["seed"],
        repeat=asked["repeat"],
        company=bool(asked["company"]),
    )
    told = False
    try:
        run_job(job, timeout=subject.settings.proof.timeout_seconds)
        for file in out.iterdir():
            shutil.move(file, folder / file.name)
    except RefusedError as error:
        told = str(out) in str(error)
        raise
    finally:
        if not told:  # then no one is sent to look there
            shutil.rmtree(out, ignore_errors=True)


def _job(subject: Subject, plan: Plan, items: Sequence[Item], out: Path) -> Job:
    return Job(
        source=str(subject.model.folder.absolute()),
        plan=str(plan),
        items=str(stored(items)),
        out=str(out),
        overrides=subject.settings.model,
        task=subject.task.name,
    )


def run_all(
    subject: Subject, plans: Sequence[Plan], items: Sequence[Item], *, company: bool = False
) -> Iterator[tuple[Plan, Run]]:
    """Yield the runs of several plans, made in one fresh process; nothing is kept.

    A plan that fails, such as one with a fault that has no place in the model, is left out.

    Raises:
        RefusedError: the first plan cannot run, or the process crashed, or ran out of memory or
            time.
    """
    out = Path(tempfile.mkdtemp(prefix="likewise-run-"))
    try:
        job = replace(
            _job(subject, plans[0], items, out),
            others=tuple(map(str, plans[1:])),
            company=company,
        )
        run_job(job, timeout=subject.settings.proof.timeout_seconds)
        places = {plan: out / plan.slug if plan != plans[0] else out for plan in plans}
        for plan, place in places.items():
            if (place / RUN).is_file():
                yield plan, load_run(place)
    finally:
        shutil.rmtree(out, ignore_errors=True)


def key(subject: Subject, plan: Plan, items: Sequence[Item], asked: Mapping[str, Json]) -> str:
    """Return everything that a run depends on, spelt out."""
    model = subject.model
    facts = {k: v for k, v in asdict(model).items() if k not in ("folder", "origin", "warnings")}
    return json.dumps(
        {
            "model": facts,
            "files": dict(_small_files(model.folder)),
            "overrides": asdict(subject.settings.model),
            "task": subject.task.name,
            "items": fingerprint(items),
            "plan": str(plan),
            "graph": digests(model, subject.task.network, plan),
            **asked,
            "versions": versions(*_PACKAGES),
            "processor": processor_fingerprint(),
            "code": cache.code(*_ROOMS),
        },
        sort_keys=True,
        default=str,
    )


def _small_files(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield tokenizer and configuration files, which the model's fingerprint may leave out."""
    for file in sorted(p for p in folder.rglob("*") if p.suffix in _SMALL and p.is_file()):
        yield file.relative_to(folder).as_posix(), hashlib.sha256(file.read_bytes()).hexdigest()
