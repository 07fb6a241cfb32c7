"""A small realistic Report: three plans equal, one refused, one outside, one undecided."""

from __future__ import annotations

import math
import random

import example_beside as beside
from example_timing import timing

from likewise import outcomes as o
from likewise import types as t

TORCH = "torch/cpu/float32/b16/t2"
ONNX = "onnx/cpu/float32/b16/t2"
OPENVINO = "openvino/cpu/float32/b16/t2"
HALF = "onnx/cpu/float16/b16/t2"
SHORT = "openvino/cpu/bfloat16/b16/t2"
CUDA = "onnx/cuda:0/float32/b16/t2"
REFERENCE = "torch/cpu/float64/b1/t2"
ATTACK = '<script>alert("x")</script>'
_SEED = 20
_N = 256


def report() -> o.Report:
    """Return the report that the golden files are renderings of."""
    return o.Report(
        schema=o.SCHEMA,
        likewise="0.1.0",
        made_at="2026-11-30T18:43:34Z",
        command="likewise port ./cryptobert -o cryptobert-cpu",
        model=_model(),
        task={
            "name": "classify",
            "activation": "softmax",
            "problem_type": "single_label_classification",
            "labels": list(beside.LABELS),
            "max_tokens": 512,
        },
        machine={
            "processor": "Intel(R) Xeon(R) Platinum 8481C",
            "flags": ["avx2", "avx512_vnni", "avx512f"],
            "cores": 2,
            "quota": None,
            "memory_bytes": 16_777_216_000,
            "system": "Debian GNU/Linux 12 (bookworm)",
            "python": "3.11.7",
            "packages": {"torch": "2.14.1", "onnxruntime": "1.32.0", "openvino": "2026.4.0"},
        },
        settings={
            "proof": {"budget": "standard", "items": _N, "seed": _SEED},
            "bench": {"goal": "throughput", "workload": "mixed", "pass_seconds": 1.0},
            "plans": {"engines": [], "dtypes": ["float32", "float16", "bfloat16"]},
        },
        probes={
            "source": "built in, seed 20",
            "n": _N,
            "fingerprint": "5d0c8f1e" * 8,
            "groups": {"english": 64, "chinese": 48, "emoji": 16, "ladder": 128},
        },
        references={
            "truth": {"plan": REFERENCE, "n": 64, "seconds": 21.5},
            "yardstick": {"plan": "torch/cpu/float32/b1/t2", "n": _N, "seconds": 14.25},
        },
        entries=_entries(),
        choice=o.Choice(
            plan=OPENVINO,
            reason="most items a second of the 3 plan(s) that passed; 1.07x the next",
            front=(OPENVINO, ONNX),
            ranking=(OPENVINO, ONNX, TORCH),
        ),
        warnings=("model.safetensors and pytorch_model.bin differ in 1 tensor; the first is used",),
        seconds=214.6,
    )


def _model() -> dict[str, object]:
    return {
        "folder": "/models/cryptobert",
        "fingerprint": "9f2c4b7a" * 8,
        "library": "transformers",
        "architecture": "RobertaForSequenceClassification",
        "family": "roberta",
        "parameters": 124_647_939,
        "width": 768,
        "warnings": [],
        "weight_files": [
            {
                "path": "model.safetensors",
                "format": "safetensors",
                "size": 498_615_900,
                "sha256": "0a1b2c3d" * 8,
                "used": True,
            },
            {
                "path": "pytorch_model.bin",
                "format": "torch",
                "size": 498_661_169,
                "sha256": "",
                "used": False,
            },
        ],
    }


def _entries() -> tuple[o.Entry, ...]:
    return (
        o.Entry(
            TORCH,
            verdict=_equal(TORCH, 1.1),
            timing=timing(TORCH, 48.3, 0.0213, 1_181_116_006),
            needs=("torch", "transformers"),
        ),
        o.Entry(
            ONNX,
            verdict=_equal(ONNX, 1.0),
            timing=timing(ONNX, 51.7, 0.0197, 734_003_200, doubts=(DOUBT,)),
            needs=("onnxruntime",),
            reused=True,
        ),
        o.Entry(
            OPENVINO,
            verdict=_equal(OPENVINO, 1.6),
            timing=timing(OPENVINO, 55.2, 0.0189, 902_823_936),
            needs=("openvino",),
        ),
        o.Entry(HALF, verdict=_outside()),
        o.Entry(SHORT, verdict=_undecided(), timing=timing(SHORT, 29.4, 0.0402, 641_728_512)),
        o.Entry(CUDA, refusal="onnxruntime has no CUDAExecutionProvider here: it has only CPU"),
    )


DOUBT = "the median drifted by 3.1 % from the first to the last third: close other programs"


def _equal(plan: str, factor: float) -> o.Verdict:
    errors = _errors(factor)
    worst = max(range(_N), key=lambda n: errors[n])
    ratio = max(errors) / max(_errors(1.0)[:64])
    return o.Verdict(
        outcome="equal",
        measures=(
            t.Measure("finite", "run", 0.0, "rows", _N, 0.0, holds=True, gate="G0", check="finite"),
            _measure("amplification_median", factor, 3.0, "verdict.md, gate 1"),
            _measure("amplification_max", ratio, 10.0, "verdict.md, gate 1", worst=worst),
            _measure("spread_error", sorted(errors)[-1], 1e-4, "limits.toml 1: fp32, p99.9"),
            *beside.canaries(),
            _measure("top1_flips", 0.0, 0.0, "limits.toml 1: fp32", gate="G2"),
            t.Measure("top1_flips_bound", "logits", 1 - 0.05 ** (1 / _N), "rate, 95 % bound", _N),
            t.Measure("worst_cosine", "logits", 0.9999999999991, "", _N, better="higher"),
        ),
        n=_N,
        decisive=251,
        noise_floor=2.43e-7,
        reference=REFERENCE,
        candidate=plan,
        budget="standard",
        reasons=("every measure is inside the noise of CPU float32",),
        worst=(
            _worst(worst, errors[worst], 'HODL!! 🚀🚀 <b>to the moon</b> & back "now"', 3e-7),
            _worst(17, errors[17], "比特币今天大涨 20%，市场情绪高涨。", 1e-7),
        ),
        facts={
            "engine": t.Plan.parse(plan).engine,
            "device": "cpu",
            "dtype": "float32",
            "fallbacks": [],
        },
        scope=f"On this machine {plan} computes the same function as the checkpoint, up to the "
        "rounding of float32; 256 inputs were tried.",
        errors=errors,
        floor=_errors(1.0)[:64],
        strata=beside.strata(errors),
        rules=beside.rules(),
    )


def _outside() -> o.Verdict:
    errors = (*(1e-3 * e / 2e-7 for e in _errors(0.8)[:250]), *[math.nan] * 6)
    return o.Verdict(
        outcome="outside",
        measures=(
            t.Measure(
                "finite", "run", 6.0, "rows", _N, 0.0, holds=False, worst_item=250, gate="G0"
            ),
            _measure("spread_error", math.nan, 1e-2, "limits.toml 1: fp16, p99.9", holds=False),
            _measure("flips", 2.0, 0.0, "limits.toml 1: fp16", gate="G2", holds=False),
        ),
        n=_N,
        decisive=251,
        noise_floor=2.43e-7,
        reference=REFERENCE,
        candidate=HALF,
        budget="standard",
        reasons=("6 of 256 items are not finite where the reference is", "2 labels flipped"),
        worst=(
            o.WorstItem(250, ATTACK, math.nan, "spread_error", _answer(0.2), _answer(math.nan)),
        ),
        facts={"engine": "onnx", "device": "cpu", "dtype": "float16"},
        errors=errors,
        floor=_errors(1.0)[:64],
    )


def _undecided() -> o.Verdict:
    errors = tuple(e * 8e3 for e in _errors(1.3)[:40])
    return o.Verdict(
        outcome="undecided",
        measures=(
            t.Measure(
                "items", "run", 40.0, "items", 40, 64.0, "higher", "settings", False, gate="G0"
            ),
            _measure("spread_error", max(errors), 5e-2, "limits.toml 1: bf16, p99.9"),
        ),
        n=40,
        decisive=None,
        noise_floor=None,
        reference=REFERENCE,
        candidate=SHORT,
        budget="standard",
        reasons=("40 items are too few to decide: 64 are the least",),
        errors=errors,
    )


def _measure(
    metric: str,
    value: float,
    limit: float,
    source: str,
    *,
    worst: int | None = None,
    gate: str = "G1",
    unit: str = "",
    holds: bool = True,
) -> t.Measure:
    return t.Measure(
        metric, "logits", value, unit, _N, limit, "lower", source, holds, worst, gate=gate
    )


def _worst(item: int, error: float, shown: str, shift: float) -> o.WorstItem:
    return o.WorstItem(item, shown, error, "spread_error", _answer(0.912), _answer(0.912 + shift))


def _answer(score: float) -> t.Answer:
    return {
        "labels": [
            {"label": "Bullish", "index": 2, "score": score},
            {"label": "Neutral", "index": 1, "score": 1 - score},
        ],
        "tokens": 19,
        "truncated": False,
    }


def _errors(factor: float) -> tuple[float, ...]:
    draw = random.Random(_SEED)
    return tuple(float(f"{factor * 2.4e-7 * math.exp(draw.gauss(0, 0.55)):.4g}") for _ in range(_N))
