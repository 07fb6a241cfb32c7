"""Trained models and labelled data, in; a table of accuracies on every engine, and exit 1, out.

    python benchmarks/accuracy.py [--only sapiens] [--engine onnx] [--out results.json]

Each figure is taken with the plain library too, and held to the published reference of
shared/models.md: a figure that misses it, or an engine that differs from the plain library by even
one hit, fails.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import plain
import trained
from plain import Floats

from likewise.engines._devices import threads
from likewise.run.opening import open_runner
from likewise.types import Plan

ENGINES = ("torch", "onnx", "openvino")
_FAIRSEQ = {letter: 4 + place for place, letter in enumerate("ACDEFGHIKLMNPQRSTVWY")}
_WORDPIECE = {letter: 5 + place for place, letter in enumerate("ACDEFGHIKLMNPQRSTVWY")}

# The heavy and the light chain that antiberty's own page takes as its example (MIT licence).
HEAVY = (
    "EVQLVQSGPEVKKPGTSVKVSCKASGFTFMSSAVQWVRQARGQRLEWIGWIVIGSGNTNYAQKFQERVTITRDMSTSTAYMELSSLR"
    "SEDTAVYYCAAPYCSSISCNDGFDIWGQGTMVTVS"
)
LIGHT = (
    "DVVMTQTPFSLPVSLGDQASISCRSSQSLVHSNGNTYLHWYLQKPGQSPKLLIYKVSNRFSGVPDRFSGSGSGTDFTLKISRVEAED"
    "LGVYFCSQSTHVPYTFGGGTKLEIK"
)


@dataclass(frozen=True)
class Figure:
    """One accuracy, and the reference it is held to."""

    name: str
    value: float
    reference: float | None  # None: held to the plain library only
    hits: tuple[int, int] | None = None  # right, of

    @property
    def shown(self) -> str:
        """The figure for a table."""
        return f"{self.hits[0]}/{self.hits[1]}" if self.hits else f"{self.value:.4f}"

    @property
    def holds(self) -> bool:
        """Whether it is the reference, to the digits that the reference has."""
        return self.reference is None or abs(self.value - self.reference) <= 5e-4


@dataclass(frozen=True)
class Case:
    """A trained model, items, and how their outputs become figures."""

    name: str
    folder: Callable[[], Path]
    items: Sequence[Any]
    plain: Callable[[Path, Sequence[Any]], Floats]
    score: Callable[[Floats], list[Figure]]
    output: str = "logits"


def cases() -> list[Case]:
    """Return every case; the data sets are fetched, the models are not yet."""
    return [*_pictures(), *_sentences(), *_masked(), *_antibodies()]


def _pictures() -> list[Case]:
    rows = trained.pictures()
    truth = [index for _, index in rows]

    def score(logits: Floats) -> list[Figure]:
        return [_hits("top-1", logits, truth, 18 / 20), _hits("top-5", logits, truth, 19 / 20, 5)]

    files = [file for file, _ in rows]
    return [Case("efficientnet-lite0", trained.efficientnet, files, plain.pictures, score)]


def _sentences() -> list[Case]:
    texts, ratings = trained.lee()

    def score(vectors: Floats) -> list[Figure]:
        pairs = np.triu_indices(len(texts), 1)
        similarity = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
        value = np.corrcoef(similarity[pairs], ratings[pairs])[0, 1]
        return [Figure("Lee Pearson", float(value), 0.656)]

    return [Case("minilm", trained.minilm, texts, plain.embed, score, "vector")]


def _masked() -> list[Case]:
    """One residue masked at a time, every position of a sequence.

    The light chain that sapiens fills without a fault is the germline IGKV2-28 closed by IGKJ1.
    """
    kappa = trained.residues("V", "K", "human")["IGKV2-28*01"]
    kappa += trained.residues("J", "K", "human")["IGKJ1*01"]
    genes = list(dict.fromkeys(trained.residues("V", "H", "human").values()))[:8]
    made = [
        _fill(f"sapiens-vh {family}", lambda f=family: trained.sapiens("vh", f), [HEAVY], 0.926)
        for family in ("roberta", "xlm-roberta")
    ]
    made.append(_fill("sapiens-vl roberta", lambda: trained.sapiens("vl"), [kappa], 1.0))
    made.append(_fill("sapiens-vh germlines", lambda: trained.sapiens("vh"), genes, None))
    made.append(_fill("antiberty-mask heavy", trained.antiberty, [HEAVY], 0.926, spaced=True))
    made.append(_fill("antiberty-mask light", trained.antiberty, [LIGHT], 0.982, spaced=True))
    return made


def _fill(
    name: str,
    folder: Callable[[], Path],
    sequences: Sequence[str],
    reference: float | None,
    *,
    spaced: bool = False,
) -> Case:
    mask, gap, ids = ("[MASK]", " ", _WORDPIECE) if spaced else ("<mask>", "", _FAIRSEQ)
    places = [(chain, place) for chain in sequences for place in range(len(chain))]
    texts = [gap.join([*chain[:at], mask, *chain[at + 1 :]]) for chain, at in places]
    truth = [ids[chain[at]] for chain, at in places]
    return Case(
        name, folder, texts, plain.fillmask, lambda v: [_hits("mask top-1", v, truth, reference)]
    )


def _antibodies() -> list[Case]:
    """At most 30 V genes of each species and chain, each closed by its longest J gene."""
    species = {"alpaca": 0, "human": 1, "mouse": 2, "rabbit": 3, "rat": 4, "rhesus": 5}
    rows = [
        (gene + max(closing, key=len), chain != "H", index, name)
        for chain in ("H", "K", "L")
        for name, index in species.items()
        if (closing := list(trained.residues("J", chain, name).values()))
        for gene in list(trained.residues("V", chain, name).values())[:30]
    ]
    texts = [" ".join(sequence) for sequence, *_ in rows]
    heavy_or_light = [int(light) for _, light, *_ in rows]
    known = [
        (text, row[2])
        for text, row in zip(texts, rows, strict=True)
        if row[3] in ("human", "mouse")
    ]
    return [
        Case(
            "antiberty-chain",
            lambda: trained.antiberty("chain"),
            texts,
            plain.classify,
            lambda v: [_hits("chain", v, heavy_or_light, 352 / 352)],
        ),
        Case(
            "antiberty-species",
            lambda: trained.antiberty("species"),
            [text for text, _ in known],
            plain.classify,
            lambda v: [_hits("human or mouse", v, [index for _, index in known], 151 / 155)],
        ),
    ]


def _hits(
    name: str, logits: Floats, truth: Sequence[int], reference: float | None, top: int = 1
) -> Figure:
    best = np.argsort(-logits, axis=1, kind="stable")[:, :top]
    right = int((best == np.asarray(truth)[:, None]).any(axis=1).sum())
    return Figure(name, right / len(truth), reference, (right, len(truth)))


def measure(case: Case, engines: Sequence[str]) -> list[dict[str, Any]]:
    """Return one row per figure and engine, the plain library first."""
    folder = case.folder()
    outputs = {"plain": case.plain(folder, case.items)}
    for engine in (name for name in engines if name != "plain"):
        plan = Plan(engine, "cpu", "float32", 16, threads())
        with open_runner(folder, plan=plan) as runner:
            outputs[engine] = runner.run(case.items).arrays[case.output]
    expected = {figure.name: figure for figure in case.score(outputs["plain"])}
    rows = []
    for engine, values in outputs.items():
        worst = float(np.abs(values - outputs["plain"]).max())
        for figure in case.score(values):
            same = figure.hits == expected[figure.name].hits
            rows.append(
                {
                    "model": case.name,
                    "engine": engine,
                    "figure": figure.name,
                    "value": figure.value,
                    "shown": figure.shown,
                    "reference": figure.reference,
                    "largest_difference": worst,
                    "holds": figure.holds and same,
                }
            )
    return rows


def main() -> int:
    """Measure, print the table, write the JSON; 1 where a figure fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="part of a case's name")
    parser.add_argument(
        "--engine", action="append", choices=("plain", *ENGINES), help="repeatable; plain always is"
    )
    parser.add_argument("--out", type=Path, help="a JSON file")
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    print(f"{'model':22} {'figure':15} {'engine':9} {'value':>9} {'reference':>9}  difference")
    for case in cases():
        if asked.only not in case.name:
            continue
        for row in measure(case, asked.engine or ENGINES):
            rows.append(row)
            reference = "" if row["reference"] is None else f"{row['reference']:.3f}"
            print(
                f"{row['model']:22} {row['figure']:15} {row['engine']:9} {row['shown']:>9} "
                f"{reference:>9}  {row['largest_difference']:.1e}"
                f"{'' if row['holds'] else '  MISSED'}",
                flush=True,
            )
    if asked.out:
        asked.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0 if rows and all(row["holds"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
