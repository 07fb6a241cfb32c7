"""A model, its task and the plans that passed, in; ``DIR/model`` with all that they need, out."""

from __future__ import annotations

import os
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

from likewise.engines import _export
from likewise.model.tokenizer import open_tokenizer
from likewise.port.plans import needs
from likewise.run.ported import SCHEMA, Ported, Proven, write_ported
from likewise.settings import Overrides
from likewise.types import Entry, Model, Plan, Report, Task

__all__ = ["write_model"]

_SMALL = (
    "config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
    "added_tokens.json", "vocab.txt", "vocab.json", "merges.txt", "modules.json",
    "sentence_bert_config.json", "config_sentence_transformers.json", "preprocessor_config.json",
    "likewise.json", "LICENSE", "LICENSE.txt", "NOTICE",
)  # fmt: skip
"""Files that say what the model is; weights come by the plans that need them."""

_MODULE_FILES = ("config.json", "model.safetensors", "pytorch_model.bin")


def write_model(
    model: Model, task: Task, report: Report, *, overrides: Overrides, out: Path
) -> Path | None:
    """Write ``out/model`` anew, whole or not at all; None where no plan passed.

    Every plan in the ranking can run from it: the export serves onnx and openvino; the weights
    come along only if the chosen plan is a torch plan.
    """
    ranking = report.choice.ranking
    if not ranking:
        shutil.rmtree(out / "model", ignore_errors=True)
        return None
    part = Path(tempfile.mkdtemp(prefix=".model-", dir=out))
    try:
        body = part / "model"
        body.mkdir()
        _copy_small(model, body)
        engines = {Plan.parse(p).engine for p in ranking}
        if engines & {"onnx", "openvino"}:
            for file in sorted(_export.ensure(model, task.network).parent.iterdir()):
                if file.name.startswith("model.onnx") or file.name == "export.json":
                    _link(file, body / file.name)
        if Plan.parse(ranking[0]).engine == "torch":
            _copy_weights(model, body)
        write_ported(_manifest(model, task, report, overrides), part)
        shutil.rmtree(out / "model", ignore_errors=True)
        body.replace(out / "model")
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return out / "model"


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
    for name in _SMALL:
        if (model.folder / name).is_file():
            shutil.copyfile(model.folder / name, body / name)
    for folder in _module_folders(model):
        (body / folder).mkdir(parents=True, exist_ok=True)
        for name in _MODULE_FILES:
            if (model.folder / folder / name).is_file():
                shutil.copyfile(model.folder / folder / name, body / folder / name)
    if model.tokenizer:
        # Saved from the one tokenizer that was proven, so that no other package is needed to
        # rebuild it from sentencepiece or a vocabulary.
        open_tokenizer(model).tokenizer.save(str(body / "tokenizer.json"))


def _module_folders(model: Model) -> list[str]:
    """Return the folders of pooling, dense and normalise modules, as modules.json names them."""
    import msgspec

    file = model.folder / "modules.json"
    if not file.is_file():
        return []
    modules = msgspec.json.decode(file.read_bytes())
    return [m["path"] for m in modules if m.get("path") and not m["type"].endswith("Transformer")]


def _copy_weights(model: Model, body: Path) -> None:
    for file in model.weight_files:
        if file.used:
            (body / file.path).parent.mkdir(parents=True, exist_ok=True)
            _link(model.folder / file.path, body / file.path)


def _link(source: Path, target: Path) -> None:
    """Link a large file where the file system can, else copy it."""
    try:
        os.link(source.resolve(), target)
    except OSError:
        shutil.copyfile(source, target)
