"""A model and a network in; the path of a checked ``model.onnx``, out.

Beside it lie ``model.onnx.data`` with the weights and ``export.json``, which says what was exported
and how it was checked. Reading an export needs neither torch nor onnx.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from likewise import cache
from likewise.engines._devices import threads, versions
from likewise.engines._foreign import Foreign, ForeignSession, asked
from likewise.engines._process import run_child
from likewise.errors import RefusedError
from likewise.model.files import read_object
from likewise.model.modules import core_of
from likewise.types import Json, Model, Network, Plan, Session

__all__ = ["MANIFEST", "OPSET", "Export", "Job", "ensure", "facts", "open_graph", "reason_against"]

GRAPH = "model.onnx"
MANIFEST = "export.json"
OPSET = 17  # the newest that torch's exporter by tracing writes without conversion
PACKAGES = ("torch", "transformers", "timm", "onnx", "onnxruntime", "numpy")
_NAMING = ("id2label", "label2id", "problem_type", "_name_or_path", "transformers_version")
"""Keys of a config that no number depends on."""
_CODE = (
    "engines/_export_child.py",
    "engines/_grid.py",
    "engines/_graph.py",
    "model",
)


@dataclass(frozen=True)
class FileFacts:
    """One file of an export."""

    size: int  # bytes
    sha256: str


@dataclass(frozen=True)
class Export:
    """What ``export.json`` says."""

    schema: int
    fingerprint: str  # of the model it was made for; in a ported folder, of the one that was proven
    head: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    opset: int
    exporter: str
    versions: Mapping[str, str]
    weights: Mapping[str, int]  # {dtype: elements}
    grid: Mapping[str, Json]  # limit, worst, points [[items, length, padded, error], …]
    loading: Mapping[str, Json]  # facts of the load that it was traced from
    peak_bytes: int  # of the exporting process
    seconds: float
    files: Mapping[str, FileFacts]


@dataclass(frozen=True)
class Job:
    """What the exporting process is to do; a Model passes through JSON whole."""

    model: Model
    network: Network
    folder: str  # where the files go
    scratch: str  # where the process leaves what it has to say
    threads: int


def ensure(model: Model, network: Network, *, contents: bool = False) -> Path:
    """Return the graph of a model: from its own folder, from the cache, or exported now.

    An export takes a fresh process, which compares the graph with the torch module over a grid
    of batch and length; a graph that differs anywhere is not kept.

    Args:
        model: its folder may hold an export of its own: a ported folder does.
        network: what the graph computes.
        contents: compute the sha256 of a ported folder's files anew too; the cache does so for
            its own.

    Raises:
        RefusedError: there is no export and none can be made, or a file is not whole.
    """
    own = _own(model, network)
    if own is not None:
        return _checked(model.folder, own, contents=contents)
    reason = _reason_not_to_make(model, network)
    if reason is not None:
        raise RefusedError("There is no ONNX graph of this model.", found=reason)
    folder = cache.build("export", _key(model, network), lambda f: _make(model, network, f))
    return _checked(folder, _read(folder), contents=contents)


def open_graph(
    model: Model,
    network: Network,
    plan: Plan,
    opener: Callable[[Path, Network, Plan, Foreign | None], Session],
) -> Session:
    """Open the file that a plan asks for by name, or else the export, made now if it is not there.

    Args:
        model: the facts of a folder.
        network: what the task wants.
        plan: how to run it.
        opener: opens a graph in a runtime.

    Raises:
        RefusedError: as ``asked`` and ``ensure``, and what the opener raises.
    """
    foreign = asked(model, network, plan)
    if foreign is None:
        return opener(ensure(model, network), network, plan, None)
    return ForeignSession(opener(foreign.file, foreign.network, plan, foreign), foreign, network)


def facts(file: Path) -> dict[str, Json]:
    """Return what is told of the graph that ``ensure`` returned, and of the load it came from."""
    told = msgspec.json.decode((file.parent / MANIFEST).read_bytes())
    graph = {k: told[k] for k in ("opset", "exporter", "versions", "weights", "grid")}
    return {"graph": graph, "loading": told["loading"]}


def reason_against(model: Model, network: Network, plan: Plan) -> str | None:
    """Return why there would be no graph for a plan, or None; cheap."""
    try:
        if asked(model, network, plan) is not None:
            return None
        own = _own(model, network)
    except RefusedError as error:
        return " ".join(part for part in (error.what, error.found, error.fix) if part)
    return None if own is not None else _reason_not_to_make(model, network)


def _own(model: Model, network: Network) -> Export | None:
    """Return the export in the model's folder, if it is one of this network."""
    if not (model.folder / MANIFEST).is_file():
        return None
    export = _read(model.folder)
    return export if (export.head, export.outputs) == (network.head, network.outputs) else None


def _reason_not_to_make(model: Model, network: Network) -> str | None:
    if not any(
        file.used and file.format in ("safetensors", "torch") for file in model.weight_files
    ):
        there = (model.folder / MANIFEST).is_file()
        other = f", and its export is not one of the head {network.head!r}" if there else ""
        return f"{model.folder} holds no weights to export from{other}"
    needed = ("torch", "onnx", model.library)
    missing = [name for name in needed if name not in versions(*needed)]
    if missing:
        return (
            f"exporting it takes {', '.join(missing)}, not installed: pip install 'likewise[port]'"
        )
    return None


def _read(folder: Path) -> Export:
    try:
        return msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Export)
    except (OSError, msgspec.DecodeError) as error:
        raise RefusedError(f"{folder / MANIFEST} cannot be read.", found=str(error)) from None


def _checked(folder: Path, export: Export, *, contents: bool) -> Path:
    for name, told in export.files.items():
        file = folder / name
        size = file.stat().st_size if file.is_file() else None
        if size is None:
            found = f"{name} is missing"
        elif size != told.size:
            found = f"{name} has {size} bytes where {told.size} were written"
        elif contents and cache.file_facts(file)["sha256"] != told.sha256:
            found = f"{name} does not hold what was written"
        else:
            continue
        raise RefusedError(
            f"The ONNX graph in {folder} is not whole.",
            found=found,
            fix="copy model.onnx, model.onnx.data and export.json together, or port again",
        )
    return folder / GRAPH


def _key(model: Model, network: Network) -> str:
    """Spell what the graph depends on; neither names of labels nor the tokenizer are among it."""
    dense = tuple(f"{layer.folder}/" for layer in model.dense)
    config = read_object(core_of(model.folder) / "config.json")
    parts = {
        "weights": {
            f.path: f.sha256 for f in model.weight_files if f.used and not f.path.startswith(dense)
        },
        "config": {k: v for k, v in config.items() if k not in _NAMING},
        "limit": model.max_tokens,
        "network": asdict(network),
        "versions": versions(*PACKAGES),
        "opset": OPSET,
        "code": cache.code(*_CODE),
    }
    return json.dumps(parts, sort_keys=True)


def _make(model: Model, network: Network, folder: Path) -> None:
    scratch = Path(tempfile.mkdtemp(prefix="likewise-export-"))  # stays, with its log, on failure
    job = Job(model, network, str(folder), str(scratch), threads())
    file = scratch / "job.json"
    file.write_bytes(msgspec.json.encode(job, enc_hook=str))
    run_child(
        "likewise.engines._export_child",
        [str(file)],
        folder=scratch,
        doing="Exporting the model to ONNX",
        threads=job.threads,
    )
    shutil.rmtree(scratch)
