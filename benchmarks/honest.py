"""Models, in; how often the verdict cries wolf over honest ways to run them, out.

    python benchmarks/honest.py [bert_classifier minilm …] [--out honest.json]

Every model runs on torch (threads, batches, two kinds of attention, float64 itself, real bfloat16
and float16, and emulations of each precision), on ONNX Runtime (float32, and int8 as its own tool
makes it of a trained model) and on OpenVINO, all judged at the standard budget. Prints the
outcomes, and per class the largest figures that honest runs reach: the limits in prove/limits.toml
are set from those. Exit 1 where one is outside.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mutants import evidence, folder_of
from raw import write
from verdicts import CASES, GRAPH, quantised

from likewise.engines._devices import threads
from likewise.prove.limits import precision_class
from likewise.prove.proof import Context, prepare
from likewise.prove.references import emulated
from likewise.prove.runs import run_all
from likewise.prove.subject import open_subject
from likewise.prove.verdict import judge
from likewise.settings import Settings
from likewise.types import Plan

MODELS = (
    "bert_classifier", "roberta_classifier", "xlmr_fillmask", "distilbert_classifier",
    "electra_classifier", "bert_fillmask", "sentence_transformer", "timm_classifier", "timm_tower",
    "minilm", "sentiment", "sapiens", "antiberty", "efficientnet",
)  # fmt: skip
FIGURES = (
    "amplification_median", "amplification_p99", "amplification_max", "spread_error",
    "divergence_p99.9", "divergence_max", "top1_flips", "top5_flips", "label_flips",
    "score_difference", "similarity_drift", "neighbour_overlap", "separation",
)  # fmt: skip
_BATCHES = (2, 3, 7, 16, 32, 33)


def plans(picture: bool, int8: bool) -> Iterator[Plan]:
    """Yield honest plans; the first is the plain one."""
    most = threads()
    counts = sorted({1, most}, reverse=True)
    batches = (16, *(b for b in _BATCHES if b != 16))
    yield from (Plan("torch", "cpu", "float32", b, t) for t in counts for b in batches)
    if not picture:  # timm chooses its attention by itself
        sdpa = ("sdpa",)
        yield from (Plan("torch", "cpu", "float32", b, t, sdpa) for t in counts for b in (1, 8, 32))
    for engine in ("onnx", "openvino"):
        yield from (Plan(engine, "cpu", "float32", b, t) for t in counts for b in (1, *_BATCHES))
    yield Plan("torch", "cpu", "float64", 16, most)
    for dtype in ("bfloat16", "float16"):
        yield from (Plan("torch", "cpu", dtype, b, most) for b in (1, 16, 32))
    for precision in ("tf32", "hf32", "float16", "bfloat16", "int8"):
        extras = (f"emulate={precision}",)
        yield from (Plan("torch", "cpu", "float32", b, most, extras) for b in (7, 16))
    if int8:
        graph = (f"graph={GRAPH}",)
        yield from (Plan("onnx", "cpu", "int8", b, most, graph) for b in (1, 7, 16, 32))


def judged(
    name: str, context: Context, classes: Sequence[str] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield a row per honest run, of some precision classes only if they are named."""
    int8 = (context.model.folder / GRAPH).is_file()
    whole = plans(context.task.takes == "picture", int8)
    chosen = [plan for plan in whole if classes is None or precision_class(plan) in classes]
    rounded: dict[str, Any] = {"float32": ()}
    for plan, run in run_all(context.subject, chosen, context.subject.items, company=True):
        precision = precision_class(plan)
        if precision not in rounded:
            rounded[precision] = emulated(context.subject, precision)
        verdict = judge(evidence(context, precision, run, rounded[precision]))
        known = [m for m in verdict.measures if m.value is not None]
        figures = {m.metric: m.value for m in known if m.metric in FIGURES}
        moved = [m.value for m in known if m.gate == "G3"]
        yield {
            "model": name,
            "plan": str(plan),
            "class": precision,
            "outcome": verdict.outcome,
            "reason": "" if verdict.passes else verdict.reasons[0],
            "moved_max": max(moved, default=None),
            **figures,
        }


def main() -> int:
    """Print what did not pass, the sums, and the largest figures of each class."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="*", default=list(MODELS), metavar="MODEL")
    parser.add_argument("--precision", nargs="+", help="only runs of these classes")
    parser.add_argument("--out", type=Path, help="a JSON file")
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place:
        for name in asked.models:
            folder = folder_of(name, Path(place))
            if name in CASES:
                folder = quantised(folder, Path(place) / name)
            context = prepare(open_subject(folder, items=None, settings=Settings()))
            made = list(judged(name, context, asked.precision))
            rows += made
            print(f"{name:22} {len(made):4} runs {dict(Counter(r['outcome'] for r in made))}")
            for row in made:
                if row["outcome"] not in ("equal", "within"):
                    print(f"    {row['plan']}: {row['outcome']}: {row['reason'][:160]}")
            sys.stdout.flush()
            write(rows, asked.out)  # of what is done: a long run may be stopped
    _sums(rows)
    return 1 if any(row["outcome"] == "outside" for row in rows) else 0


def _sums(rows: list[dict[str, Any]]) -> None:
    total = Counter(row["outcome"] for row in rows)
    print(f"{len(rows)} honest runs: {dict(total)}")
    for precision in sorted({row["class"] for row in rows}):
        chosen = [row for row in rows if row["class"] == precision]
        print(f"{precision}, {len(chosen)} runs: the most that was reached")
        for figure in (*FIGURES, "moved_max"):
            values = [row[figure] for row in chosen if row.get(figure) is not None]
            if values:
                worst = min if figure in ("neighbour_overlap", "separation") else max
                print(f"    {figure:22} {worst(values):10.3g}")


if __name__ == "__main__":
    sys.exit(main())
