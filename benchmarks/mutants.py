"""Models, in; what the verdict makes of every planted fault, and what the usual rule does, out.

    python benchmarks/mutants.py [bert_classifier minilm …] [--precision float32 bfloat16 …]
                                 [--out mutants.json]

Each fault runs at the precision that is asked for (lossy ones emulated on the CPU) over the items
of a standard proof. A fault is *visible* at a precision if its own effect, measured in float32, is
larger than the limits allow honest rounding of that precision to be; it is *not reached* where the
items give it nothing to change. Exit 1 where a visible one passes. The usual rule looks at ten
short items: mean cosine over 0.99, mean difference under 0.005, the same best answer.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1] / "tests")]

import sentiment  # noqa: E402
import trained  # noqa: E402
from raw import write  # noqa: E402

import tiny  # noqa: E402 - tests/tiny.py builds them offline
import tiny_pictures  # noqa: E402
from likewise.engines._devices import threads  # noqa: E402
from likewise.outcomes import Verdict  # noqa: E402
from likewise.prove.evidence import Evidence  # noqa: E402
from likewise.prove.faults import faults  # noqa: E402
from likewise.prove.limits import limits_of  # noqa: E402
from likewise.prove.proof import Context, prepare  # noqa: E402
from likewise.prove.references import emulated, evidence_of  # noqa: E402
from likewise.prove.runs import run_all  # noqa: E402
from likewise.prove.subject import open_subject  # noqa: E402
from likewise.prove.verdict import judge  # noqa: E402
from likewise.settings import Settings  # noqa: E402
from likewise.types import Plan, Run  # noqa: E402

TINY = (
    "bert_classifier", "sentence_transformer", "roberta_fillmask", "timm_classifier", "timm_tower",
)  # fmt: skip
PRECISIONS = ("float32", "tf32", "float16", "bfloat16", "int8")
_TEN, _SHORT = 10, 40  # items of the usual rule, and the most tokens of one


def folder_of(name: str, place: Path) -> Path:
    """Return a tiny model's folder, built there, or a trained one's, from the user's cache."""
    for module in (tiny, tiny_pictures):
        if hasattr(module, name):
            return Path(getattr(module, name)(place / name))
    module = trained if hasattr(trained, name) else sentiment
    made: Path = getattr(module, name)()
    return made


def evidence(context: Context, precision: str, run: Run, rounded: tuple[Run, ...]) -> Evidence:
    """Return what a verdict over one run is made from, canaries apart."""
    limits = limits_of(precision, "standard")
    return evidence_of(context.subject, context.references, limits, rounded, run)


def runs(context: Context, precision: str) -> Iterator[tuple[str, Run]]:
    """Yield the run without a fault, under "", then that of each fault that fits."""
    task = context.task.name
    extras = () if precision == "float32" else (f"emulate={precision}",)
    plan = Plan("torch", "cpu", "float32", 16, threads(), extras)
    names = [name for name, fault in faults().items() if task in fault.tasks]
    plans = [replace(plan, extras=tuple(sorted((*extras, f"fault={name}")))) for name in names]
    for made, run in run_all(context.subject, (plan, *plans), context.subject.items, company=True):
        yield made.extra("fault") or "", run


def usual_rule_passes(evidence: Evidence) -> bool:
    """Tell what a hand-written comparison of ten short items says."""
    short = np.flatnonzero((evidence.yardstick.tokens > 0) & (evidence.yardstick.tokens <= _SHORT))[
        :_TEN
    ]
    if not evidence.comparable:
        return False
    name = next(n for n in ("scores", "vector") if n in evidence.kinds)
    rows = np.isin(evidence.yardstick.owners, short)
    ours, theirs = (
        run.arrays[name][rows].reshape(int(rows.sum()), -1).astype(np.float64)
        for run in (evidence.yardstick, evidence.candidate)
    )
    if not np.isfinite(theirs).all():
        return False
    lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    cosine = ((ours * theirs).sum(axis=1) / np.maximum(lengths, 1e-30)).mean()
    same = name == "vector" or (ours.argmax(axis=1) == theirs.argmax(axis=1)).all()
    return bool(cosine > 0.99 and np.abs(ours - theirs).mean() < 0.005 and same)


def caught_by(verdict: Verdict) -> str:
    """Return the gate and check that failed first; "undecided …" where none did."""
    failed = [m for m in verdict.measures if m.holds is False]
    if failed:
        return f"{failed[0].gate} {failed[0].check}"
    doubtful = [m for m in verdict.measures if m.limit is not None and m.holds is None]
    return f"undecided: {doubtful[0].check}" if doubtful else "undecided"


def table(name: str, context: Context, precisions: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield one row per fault and precision; float32 runs say what is visible at which."""
    rounded = {p: () if p == "float32" else emulated(context.subject, p) for p in precisions}
    seen: dict[str, set[str]] = {p: set() for p in precisions}
    for precision in dict.fromkeys(("float32", *precisions)):
        honest: Run | None = None
        for fault, run in runs(context, precision):
            honest = honest or run
            for other in precisions if precision == "float32" else ():
                if not judge(evidence(context, other, run, rounded[other])).passes:
                    seen[other].add(fault)
            if precision in precisions:
                made = evidence(context, precision, run, rounded[precision])
                visible = precision == "float32" or fault in seen[precision]
                reached = not fault or not _same(honest, run)
                yield {"model": name, **_row(precision, fault, made, visible, reached)}


def _same(one: Run, other: Run) -> bool:
    """Tell whether a fault changed no bit of any output, and no answer."""
    same = (np.array_equal(a, other.arrays.get(n), equal_nan=True) for n, a in one.arrays.items())
    alike = one.facts.get("company") == other.facts.get("company")
    return all(same) and one.answers == other.answers and alike


def _row(
    precision: str, fault: str, made: Evidence, visible: bool, reached: bool
) -> dict[str, Any]:
    expected = faults()[fault].expected if fault else "honest"
    verdict = judge(made)
    ratios = {m.metric: m.value for m in verdict.measures if m.metric.startswith("amplif")}
    return {
        "task": made.contract.get("name"),
        "precision": precision,
        "fault": fault or "none",
        "title": faults()[fault].title if fault else "an honest run",
        "outcome": verdict.outcome,
        "caught_by": "" if verdict.passes else caught_by(verdict),
        "verdict": _said(expected, verdict.outcome, visible, reached),
        "usual_rule": "passes" if usual_rule_passes(made) else "fails",
        "amplification_median": ratios.get("amplification_median"),
        "amplification_max": ratios.get("amplification_max"),
    }


def _said(expected: str, outcome: str, visible: bool, reached: bool) -> str:
    passes = outcome in ("equal", "within")
    if expected in ("honest", "equivalent"):
        return expected if passes else "false alarm" if outcome == "outside" else "undecided"
    if not passes:
        return "caught"
    if not reached:
        return "not reached"
    return "missed" if visible else "below rounding"


def main() -> int:
    """Print one line per fault, and the sums; 1 where something is missed or cries wolf."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="*", default=list(TINY), metavar="MODEL")
    parser.add_argument("--precision", nargs="+", choices=PRECISIONS, default=["float32"])
    parser.add_argument("--out", type=Path, help="a JSON file")
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place:
        for name in asked.models:
            folder = folder_of(name, Path(place))
            context = prepare(open_subject(folder, items=None, settings=Settings()))
            for row in table(name, context, asked.precision):
                rows.append(row)
                print(
                    f"{row['model']:22} {row['precision']:9} {row['fault']:5} "
                    f"{row['verdict']:15} {row['caught_by']:22} usual rule {row['usual_rule']:7}"
                    f"{row['title']}",
                    flush=True,
                )
    for precision in asked.precision:
        chosen = [row for row in rows if row["precision"] == precision]
        counts = Counter(row["verdict"] for row in chosen)
        wrong = [r for r in chosen if r["verdict"] in ("caught", "missed", "below rounding")]
        fooled = sum(row["usual_rule"] == "passes" for row in wrong)
        print(f"{precision}: {dict(counts)}; the usual rule passes {fooled} of {len(wrong)}")
    write(rows, asked.out)
    return 1 if any(row["verdict"] in ("missed", "false alarm") for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
