"""A small network in numpy; evidence about it, honest or spoilt, without any engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from likewise.prove.evidence import Evidence
from likewise.prove.limits import limits_of, precision_class
from likewise.types import Kind, Model, Plan, Probe, Run

WIDTH = 16
LOADING = {"missing": [], "unexpected": [], "tensors": 2, "checked": 2, "sha256": "same"}
KINDS: dict[str, dict[str, Kind]] = {
    "softmax": {"logits": "logits", "scores": "distribution"},
    "sigmoid": {"logits": "logits", "scores": "scores"},
    "none": {"logits": "logits", "scores": "scores"},
    "vector": {"vector": "vector"},
}
Spoil = Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]


def model() -> Model:
    return Model(
        folder=Path("fabricated"),
        fingerprint="f" * 64,
        library="transformers",
        architecture="Fabricated",
        family="fabricated",
        parameters=1,
        layers=1,
        width=WIDTH,
        vocabulary=0,
        max_tokens=64,
        stored_dtype="float32",
        tokenizer="",
        trained_heads=("classes",),
        sentence_transformer=False,
    )


@cache
def compute(items: int, outputs: int, dtype: Any, *, order: int = 1, seed: int = 7) -> np.ndarray:
    """Two layers; ``order`` -1 sums backwards, as another honest engine would."""
    random = np.random.default_rng(seed)
    x = random.standard_normal((items, WIDTH))
    first = random.standard_normal((WIDTH, 64)) * 0.5
    second = random.standard_normal((64, outputs)) * 0.5
    x, first, second = (a.astype(np.float32).astype(dtype) for a in (x, first, second))
    return summed(np.tanh(summed(x, first, order)), second, order)


def summed(x: np.ndarray, w: np.ndarray, order: int) -> np.ndarray:
    """A matrix product with a fixed order of summation."""
    total = np.zeros((len(x), w.shape[1]), x.dtype)
    for k in range(w.shape[0])[::order]:
        total += x[:, k, None] * w[k]
    return total


def coarse(rows: np.ndarray, precision: str, seed: int = 3) -> np.ndarray:
    """Rows that are off by about the unit roundoff of a precision."""
    roundoff = {"float16": 5e-4, "bfloat16": 4e-3, "int8": 2e-2}.get(precision, 5e-4)
    drawn = np.random.default_rng(seed).standard_normal(rows.shape)
    return (rows * (1 + roundoff * drawn)).astype(np.float32)


def finish(activation: str, raw: np.ndarray) -> dict[str, np.ndarray]:
    if activation == "vector":
        return {"vector": raw / np.linalg.norm(raw, axis=1, keepdims=True)}
    if activation == "softmax":
        shifted = np.exp(raw - raw.max(axis=1, keepdims=True))
        return {"logits": raw, "scores": shifted / shifted.sum(axis=1, keepdims=True)}
    return {"logits": raw, "scores": raw if activation == "none" else 1 / (1 + np.exp(-raw))}


def answers(arrays: dict[str, np.ndarray], activation: str) -> list[dict[str, Any]]:
    """What the runner would answer; a row that is not finite has no answer."""
    rows = next(arrays[name] for name in ("vector", "scores", "logits") if name in arrays)
    finite = [all(np.isfinite(a[i]).all() for a in arrays.values()) for i in range(len(rows))]
    return [
        _answer(row, activation) if good else {"error": "not finite"}
        for row, good in zip(rows, finite, strict=True)
    ]


def _answer(row: np.ndarray, activation: str) -> dict[str, Any]:
    if activation == "vector":
        return {"vector": row.tolist()}
    if activation == "none":
        return {"values": row.tolist()}
    best = np.argsort(-row, kind="stable")[:5].tolist()
    return {"labels": [{"label": f"L{i}", "index": i, "score": float(row[i])} for i in best]}


def with_arrays(made: Run, arrays: dict[str, np.ndarray]) -> Run:
    """The run with other arrays, and the answers that follow from them."""
    return replace(made, arrays=arrays, answers=answers(arrays, made.facts["task"]["activation"]))


def run(plan: str, arrays: dict[str, np.ndarray], activation: str = "softmax") -> Run:
    parsed = Plan.parse(plan)
    count = len(next(iter(arrays.values())))
    facts = {
        "engine": parsed.engine,
        "device": parsed.device,
        "dtype": parsed.dtype,
        "fallbacks": [],
        "task": {"name": "fabricated", "activation": activation},
    }
    if parsed.engine == "torch":
        facts |= {"loading": LOADING, "repeat_equal": True}
    return Run(
        plan=parsed,
        facts=facts,
        items_fingerprint=f"{count} items",
        count=count,
        arrays=arrays,
        owners=np.arange(count),
        tokens=np.full(count, 7),
        answers=answers(arrays, activation),
        seconds={},
    )


def evidence(
    activation: str = "softmax",
    *,
    items: int = 256,
    outputs: int = 3,
    truth_items: int = 64,
    plan: str = "onnx/cpu/float32/b16/t2",
    spoil: Spoil | None = None,
    budget: str = "standard",
    **changes: Any,
) -> Evidence:
    """Evidence about an honest candidate that sums backwards, spoilt if asked."""
    chosen = tuple(range(0, items, max(1, items // truth_items)))[:truth_items]
    raw = {
        "truth": compute(items, outputs, np.float64)[list(chosen)],
        "yardstick": compute(items, outputs, np.float32),
        "candidate": compute(items, outputs, np.float32, order=-1),
    }
    arrays = {name: finish(activation, rows) for name, rows in raw.items()}
    limits = limits_of(precision_class(Plan.parse(plan)), budget)
    emulated: tuple[Run, ...] = ()
    if not limits.exact:
        rounded = finish(activation, coarse(raw["yardstick"], limits.precision))
        emulated = (run("torch/cpu/float32/b1/t2", rounded, activation),)
    candidate = arrays["candidate"]
    if spoil is not None:
        candidate = spoil({name: rows.copy() for name, rows in candidate.items()})
    made = Evidence(
        model=model(),
        kinds=KINDS[activation],
        probes=tuple(Probe(f"item {i}", "english" if i % 2 else "chinese") for i in range(items)),
        limits=limits,
        emulated=emulated,
        least_items=64,
        truth=run("torch/cpu/float64/b1/t2", arrays["truth"], activation),
        truth_items=chosen,
        yardstick=run("torch/cpu/float32/b1/t2", arrays["yardstick"], activation),
        candidate=run(plan, candidate, activation),
    )
    return replace(made, **changes)


def changed(made: Evidence, side: str, **fields: Any) -> Evidence:
    run: Run = getattr(made, side)
    if "arrays" in fields:
        run = with_arrays(run, fields.pop("arrays"))
    return replace(made, **{side: replace(run, **fields)})


def told(made: Evidence, side: str, **facts: Any) -> Evidence:
    return replace(made, **{side: with_facts(getattr(made, side), **facts)})


def arrays_of(made: Evidence, side: str = "candidate") -> dict[str, np.ndarray]:
    return {n: rows.copy() for n, rows in getattr(made, side).arrays.items()}


def with_facts(made: Run, **facts: Any) -> Run:
    return replace(made, facts={**made.facts, **facts})


def measure(verdict: Any, metric: str, on: str | None = None) -> Any:
    """The verdict's one measure of that name."""
    found = [m for m in verdict.measures if m.metric == metric and on in (None, m.on)]
    assert found, f"{metric} is not among {sorted({m.metric for m in verdict.measures})}"
    return found[0]


def failing(verdict: Any) -> Mapping[str, str]:
    """Return {check: reason} of every measure that does not hold."""
    return {m.check: m.reason for m in verdict.measures if m.holds is False}
