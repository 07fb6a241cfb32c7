"""The trained models and their plans, in; each verdict with the task's own figure beside it, out.

    python benchmarks/verdicts.py [sentiment efficientnet …] [--out verdicts.json]

Every model is proven in float32 (ONNX Runtime), in bfloat16 (torch) and in int8 (the model's own
graph, its weights quantised by ONNX Runtime, run by name), with labelled items beside the probes.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import sentiment
import trained
from accuracy import HEAVY, LIGHT
from raw import write

import likewise
from likewise.engines._devices import threads
from likewise.engines._export import ensure
from likewise.errors import LikewiseError
from likewise.model.read import read
from likewise.settings import Proof, Settings
from likewise.tasks._pick import pick

GRAPH = "model_int8.onnx"

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """A trained model, and rows as a labelled file has them."""

    folder: Callable[[], Path]
    rows: Callable[[], Rows]


def _sentences() -> Rows:
    return [{"text": text, "label": label} for text, label in sentiment.held_out()]


def _pictures() -> Rows:
    return [{"image": str(file), "label": index} for file, index in trained.pictures()]


def _masked(mask: str, gap: str, *chains: str) -> Rows:
    return [
        {"text": gap.join([*chain[:at], mask, *chain[at + 1 :]]), "label": chain[at]}
        for chain in chains
        for at in range(len(chain))
    ]


def _pairs() -> Rows:
    texts, scores = trained.lee()
    places = np.transpose(np.triu_indices(len(texts), 1))
    return [
        {"sentence1": texts[a], "sentence2": texts[b], "score": float(scores[a, b])}
        for a, b in places
    ]


CASES = {
    "sentiment": Case(sentiment.sentiment, _sentences),
    "efficientnet": Case(trained.efficientnet, _pictures),
    "antiberty": Case(trained.antiberty, lambda: _masked("[MASK]", " ", HEAVY, LIGHT)),
    "sapiens": Case(trained.sapiens, lambda: _masked("<mask>", "", HEAVY)),
    "minilm": Case(trained.minilm, _pairs),
}


def quantised(folder: Path, place: Path) -> Path:
    """Return a copy of a folder with ``GRAPH`` in it, quantised by ONNX Runtime."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    copy = Path(shutil.copytree(folder, place))
    model = read(copy)
    graph = ensure(model, pick(model).network)
    kinds = ["MatMul", "Gemm"] if model.library == "transformers" else ["MatMul", "Gemm", "Conv"]
    quantize_dynamic(
        graph, copy / GRAPH, weight_type=QuantType.QInt8, per_channel=True,
        op_types_to_quantize=kinds,
    )  # fmt: skip
    return copy


def proofs(name: str, place: Path) -> Iterator[dict[str, Any]]:
    """Yield one row a plan: the verdict, its first reason, and the task's figure on both sides."""
    case, count = CASES[name], threads()
    file = place / "labelled.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in case.rows()), encoding="utf-8")
    labelled = Settings(proof=replace(Proof(), labelled=str(file)))
    folder = quantised(case.folder(), place / "model")
    for plan in (
        f"onnx/cpu/float32/b16/t{count}",
        f"torch/cpu/bfloat16/b16/t{count}",
        f"onnx/cpu/int8/b16/t{count}/graph={GRAPH}",
    ):
        began = time.monotonic()
        try:
            verdict = likewise.prove(folder, plan)
            seconds = round(time.monotonic() - began, 1)
        except LikewiseError as error:
            yield {"model": name, "plan": plan, "outcome": "refused", "reason": f"{error}"}
            continue
        # Few labelled items leave gate 4 in doubt; what the probes say stands on its own.
        told = likewise.prove(folder, plan, settings=labelled)
        task = {m.metric: (m.value, m.n, m.holds) for m in told.measures if m.check == "labelled"}
        yield {
            "model": name,
            "plan": plan,
            "outcome": verdict.outcome,
            "n": verdict.n,
            "seconds": seconds,
            "reason": verdict.reasons[0] if verdict.reasons else "",
            "task": task,
        }


def main() -> int:
    """Print one line a proof; write them as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="*", default=list(CASES), metavar="MODEL")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    rows = []
    for name in asked.models:
        with tempfile.TemporaryDirectory() as place:
            for row in proofs(name, Path(place)):
                rows.append(row)
                print(json.dumps(row), flush=True)
    write(rows, asked.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
