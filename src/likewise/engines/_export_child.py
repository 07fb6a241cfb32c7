"""A job file in; an ONNX graph, compared with the torch module it was traced from, out.

``python -m likewise.engines._export_child JOB.json``: a process of its own, since torch's exporter
may leave the module in training mode (case B082): nothing is computed with it afterwards.
"""

from __future__ import annotations

import gc
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from likewise.cache import file_facts
from likewise.engines import _graph, _grid
from likewise.engines._devices import versions
from likewise.engines._export import (
    GRAPH,
    MANIFEST,
    OPSET,
    PACKAGES,
    Export,
    FileFacts,
    Job,
)
from likewise.engines._process import answer_for, peak_bytes
from likewise.errors import RefusedError
from likewise.model.weights import load
from likewise.types import Json, Network

if TYPE_CHECKING:
    from likewise.types import Array, Arrays

__all__ = ["export", "main"]

_LIMIT = 1e-4
"""Largest difference from the torch module, as a share of the largest output. Honest float32
graphs of all families stay under 5e-6; a frozen axis or a lost mask gives more than 1e-2."""


def main() -> int:
    """Do the export that the command line names."""
    job = msgspec.json.decode(
        Path(sys.argv[1]).read_bytes(), type=Job, dec_hook=lambda kind, text: kind(text)
    )
    return answer_for(lambda: export(job), Path(job.scratch))


def export(job: Job) -> None:
    """Do an export in this process, which is to compute nothing with the model afterwards.

    Raises:
        RefusedError: the graph does not compute what the module does.
    """
    began = time.perf_counter()
    folder = Path(job.folder)
    tried = [
        (p, _grid.feed(p, job.model, job.network)) for p in _grid.points(job.model, job.network)
    ]
    references, census, loading = _trace(job, [inputs for _, inputs in tried], folder)
    _graph.inspect(folder / GRAPH, job.network)
    grid = _compare(folder / GRAPH, job, tried, references)
    made = Export(
        schema=1,
        fingerprint=job.model.fingerprint,
        head=job.network.head,
        inputs=job.network.inputs,
        outputs=job.network.outputs,
        opset=OPSET,
        exporter="torch.onnx, by tracing",
        versions=versions(*PACKAGES),
        weights=census,
        grid=grid,
        loading=loading,
        peak_bytes=peak_bytes(),
        seconds=time.perf_counter() - began,
        files={n: FileFacts(**file_facts(folder / n)) for n in (GRAPH, _graph.WEIGHTS)},
    )
    body = msgspec.json.format(msgspec.json.encode(made), indent=1)
    (folder / MANIFEST).write_bytes(body)


def _trace(
    job: Job, feeds: list[Arrays], folder: Path
) -> tuple[list[list[Array]], dict[str, int], dict[str, Json]]:
    """Write the graph of a module; return what the module gave for every feed before that.

    Also the elements of its weights by dtype, and the facts of its loading. The module is gone.
    """
    import torch

    torch.set_num_threads(job.threads)
    loaded = load(job.model, job.network, "float32")
    module, names = loaded.module, job.network.inputs
    with torch.inference_mode():
        references = [
            [output.numpy().copy() for output in module(*_tensors(inputs, names))]
            for inputs in feeds
        ]
    raw = folder / "raw.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what tracing warns of, the grid finds out
        torch.onnx.export(
            module,
            _tensors(_grid.example(job.model, job.network), names),
            str(raw),
            dynamo=False,
            opset_version=OPSET,
            do_constant_folding=False,  # with the weights apart there is nothing to fold
            export_params=False,
            input_names=list(names),
            output_names=list(job.network.outputs),
            dynamic_axes=_axes(job.network),
        )
    weights = {name: tensor.numpy() for name, tensor in module.state_dict().items()}
    census = _graph.pack(raw, weights, folder)
    raw.unlink()
    facts = dict(loaded.facts)
    del loaded, module, weights
    gc.collect()
    return references, census, facts


def _tensors(inputs: Arrays, names: tuple[str, ...]) -> tuple[Any, ...]:
    import torch

    return tuple(torch.from_numpy(inputs[name]) for name in names)


def _axes(network: Network) -> dict[str, dict[int, str]]:
    batch, rows = {0: "items"}, {0: "rows"}
    tokens = {0: "items", 1: "tokens"}
    inputs = {
        name: rows if name == "rows" else batch if name == "pixel_values" else tokens
        for name in network.inputs
    }
    output = {"hidden": tokens, "tokens": rows}.get(network.head, batch)
    return inputs | dict.fromkeys(network.outputs, output)


def _open(file: Path, job: Job) -> Callable[[Arrays], list[Array]]:
    """Return a function that computes the graph's outputs, in the network's order."""
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # likewise never phones home
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = job.threads
    session = onnxruntime.InferenceSession(str(file), options, ["CPUExecutionProvider"])
    wanted = {node.name for node in session.get_inputs()}

    def compute(inputs: Arrays) -> list[Array]:
        feeds = {name: array for name, array in inputs.items() if name in wanted}
        return list(session.run(list(job.network.outputs), feeds))

    return compute


def _compare(
    file: Path,
    job: Job,
    tried: list[tuple[_grid.Point, Arrays]],
    references: list[list[Array]],
) -> dict[str, Json]:
    """Compute every batch with the graph; return the grid's record.

    Raises:
        RefusedError: a batch differs by more than the limit; names the worst.
    """
    compute = _open(file, job)
    measured = [
        [p.items, p.length, p.padded, _error(compute(inputs), reference)]
        for (p, inputs), reference in zip(tried, references, strict=True)
    ]
    wrong = [point for point in measured if not point[3] <= _LIMIT]
    if wrong:
        items, length, padded, error = max(wrong, key=lambda point: point[3])
        shape = f"{items} item(s) of {length} tokens{', padded' if padded else ''}"
        raise RefusedError(
            "The exported graph does not compute what the torch module does.",
            found=f"{len(wrong)} of {len(measured)} batches differ; the worst, {shape}, by "
            f"{error:.1e} of the largest output",
            fix="use the torch engine, and report this model's architecture",
        )
    worst = max(point[3] for point in measured)
    return {"limit": _LIMIT, "worst": worst, "points": measured}


def _error(outputs: list[Array], references: list[Array]) -> float:
    """Return the largest difference as a share of the largest output.

    Infinite if shapes differ, or if numbers are not finite elsewhere than in the references.
    """
    worst = 0.0
    for output, reference in zip(outputs, references, strict=True):
        finite = np.isfinite(reference)
        if output.shape != reference.shape or (np.isfinite(output) != finite).any():
            return float("inf")
        expected, found = reference[finite], output[finite]
        scale = float(np.abs(expected).max(initial=1e-6))
        worst = max(worst, float(np.abs(found - expected).max(initial=0.0)) / scale)
    return worst


if __name__ == "__main__":
    sys.exit(main())
