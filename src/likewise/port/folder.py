"""A model, its task and the plans that passed, in; ``DIR/model`` with all that they need, out."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import msgspec
import numpy as np
from safetensors.numpy import save_file

from likewise.engines import _export
from likewise.engines._foreign import APART, asked
from likewise.errors import FolderError
from likewise.model.read import configuration, read
from likewise.model.tokenizer import open_tokenizer
from likewise.outcomes import Entry, Report
from likewise.port.plans import needs
from likewise.run.ported import SCHEMA, Ported, Proven, is_ported, write_ported
from likewise.settings import Overrides
from likewise.tasks._dense import open_layer
from likewise.types import Model, Plan, Task

__all__ = ["stem_of", "write_model"]

_LEGAL = ("LICENSE", "LICENSE.txt", "LICENSE.md", "NOTICE")


def stem_of(report: Report, out: Path) -> str:
    """Return how the files of a report are called.

    Where nothing was chosen and the folder has a model from an earlier port, that model keeps the
    report that proves it, and this one is called otherwise.
    """
    stays = report.choice.plan is None and is_ported(out)
    return "report-failed" if stays else "report"


def write_model(
    model: Model, task: Task, report: Report, *, overrides: Overrides, out: Path
) -> Path | None:
    """Write ``out/model`` anew, whole or not at all; None, and nothing touched, where none passed.

    Every plan in the ranking can run from it: the export serves onnx and openvino; the weights
    come along only if the chosen plan is a torch plan.
    """
    ranking = report.choice.ranking
    if not ranking:
        return None
    part = Path(tempfile.mkdtemp(prefix=".model-", dir=out))
    try:
        body = part / "model"
        body.mkdir()
        _copy_small(model, body)
        plans = [Plan.parse(p) for p in ranking]
        _copy_graphs(model, task, plans, body)
        if plans[0].engine == "torch":
            _copy_weights(model, body)
        _copy_tokenizer(model, overrides, body)
        write_ported(_manifest(model, task, report, overrides), part)
        shutil.rmtree(out / "model", ignore_errors=True)
        body.replace(out / "model")
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return out / "model"


def _copy_graphs(model: Model, task: Task, plans: Sequence[Plan], body: Path) -> None:
    """Copy the export that onnx and openvino share, and the files that plans ask for by name."""
    engines = {plan.engine for plan in plans}
    if engines & {"onnx", "openvino"}:
        for file in sorted(_export.ensure(model, task.network).parent.iterdir()):
            if file.name.startswith("model.onnx"):
                _copy(file, body / file.name)
            elif file.name == _export.MANIFEST:
                (body / file.name).write_bytes(_own_manifest(file, model))
    for plan in plans:
        foreign = asked(model, task.network, plan)
        for file in () if foreign is None else foreign.files:
            place = file.relative_to(model.folder)
            _copy(file, body / (place if len(place.parts) > 1 else Path(APART) / place))


def _manifest(model: Model, task: Task, report: Report, overrides: Overrides) -> Ported:
    chosen = report.choice.plan
    assert chosen is not None
    weights = Plan.parse(chosen).engine == "torch"
    entries = {e.plan: e for e in report.entries}
    proven = [
        _proven(entries[p])
        for p in report.choice.ranking
        if weights or Plan.parse(p).engine != "torch"
    ]
    judged = tuple(e.plan for e in report.entries if e.verdict is not None and not e.verdict.passes)
    return Ported(
        schema=SCHEMA,
        likewise=version("likewise"),
        task=task.name,
        fingerprint=model.fingerprint,
        overrides=overrides,
        proven=tuple(proven),
        judged=judged,
    )


def _proven(entry: Entry) -> Proven:
    assert entry.verdict is not None
    speed = entry.timing.items_per_second if entry.timing else None
    return Proven(entry.plan, entry.verdict.outcome, needs(entry.plan), speed)


def _copy_small(model: Model, body: Path) -> None:
    """Copy what says what the model is, and the layers that the task itself computes."""
    here = [name for name in _LEGAL if (model.folder / name).is_file()]
    for name in (*configuration(model.folder), *here):
        _copy(model.folder / name, body / name)
    for dense in model.dense:
        layer = open_layer(model.folder, dense)
        tensors = {"linear.weight": layer.weight, "linear.bias": layer.bias}
        save_file(
            {k: np.ascontiguousarray(v) for k, v in tensors.items() if v is not None},
            body / dense.folder / "model.safetensors",
        )


def _copy_tokenizer(model: Model, overrides: Overrides, body: Path) -> None:
    """Save the very tokenizer that was proven, so that no other package is needed to build it.

    Raises:
        FolderError: the saved one does not read back as the one that was proven.
    """
    if not model.tokenizer:
        return
    proven = open_tokenizer(model).tokenizer
    proven.save(str((body / model.tokenizer).parent / "tokenizer.json"))
    again = open_tokenizer(read(body, overrides)).tokenizer
    if again.to_str() != proven.to_str():
        raise FolderError(
            "The tokenizer does not survive being saved.",
            found=f"tokenizer.json made from {model.tokenizer} reads back otherwise",
            fix="write one with transformers: AutoTokenizer.from_pretrained(…).save_pretrained(…)",
        )


def _own_manifest(file: Path, model: Model) -> bytes:
    """Return an export's manifest with this model's fingerprint: others may share the graph."""
    told = msgspec.json.decode(file.read_bytes())
    body = msgspec.json.encode({**told, "fingerprint": model.fingerprint})
    return msgspec.json.format(body, indent=1)


def _copy_weights(model: Model, body: Path) -> None:
    for file in model.weight_files:
        if file.used:
            _copy(model.folder / file.path, body / file.path)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
