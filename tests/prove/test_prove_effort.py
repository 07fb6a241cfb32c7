"""Effort: how much is tried, what that excludes, and what a thorough proof adds."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from fabricate import evidence
from here import Here, stand_in

from likewise.errors import SettingsError
from likewise.model.read import read
from likewise.probes._recombined import recombined
from likewise.probes._sweep import wanted
from likewise.progress import silent
from likewise.prove.bounds import upper_rate
from likewise.prove.effort import ADDED, NEAR_TIE, SWEEP, deepened
from likewise.prove.proof import prepare, prove_plan
from likewise.prove.subject import Subject, open_subject
from likewise.prove.verdict import judge
from likewise.settings import EFFORTS, Effort, Proof, Settings, read_settings
from likewise.types import Plan, Probe

Tiny = Callable[[str], Path]

PLAN = Plan.parse("torch/cpu/float32/b16/t1")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    return stand_in(monkeypatch)


@pytest.fixture
def smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thorough proof of a size that a test can wait for."""
    size = Effort(items=80, truth_items=24, near_ties=16, swept_ids=100_000)
    monkeypatch.setitem(EFFORTS, "thorough", size)


def subject_of(folder: Path, effort: str = "thorough") -> Subject:
    settings = read_settings(None, {"proof": {"effort": effort}})
    return open_subject(folder, items=None, settings=settings)


def test_the_standard_effort_is_what_the_limits_were_calibrated_on() -> None:
    assert Proof().sized() == Effort(items=256, truth_items=64, near_ties=0, swept_ids=0)
    assert Proof(effort="standard") == Proof()


def test_more_effort_tries_more_and_excludes_more() -> None:
    sizes = [Proof(effort=name).sized() for name in ("quick", "standard", "thorough")]
    assert sizes == sorted(sizes, key=lambda s: (s.items, s.truth_items))
    rates = [upper_rate(0, size.items) for size in sizes]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] < 0.003


@pytest.mark.parametrize("name", EFFORTS)
def test_the_page_says_what_each_effort_tries_and_excludes(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs/prove.md").read_text(encoding="utf-8")
    _, items, truth, rate = re.search(
        rf"^\| `({name})` \| (\d+)[^|]*\| (\d+)[^|]*\| \D*([\d.]+) %", page, re.MULTILINE
    ).groups()
    size = Proof(effort=name).sized()
    assert (int(items), int(truth)) == (size.items | 3, size.truth_items)
    assert float(rate) == pytest.approx(100 * upper_rate(0, size.items | 3), rel=0.02)


def test_what_is_stated_wins_over_what_the_effort_says() -> None:
    proof = read_settings(None, {"proof": {"effort": "quick", "items": 99}}).proof
    assert (proof.sized().items, proof.sized().truth_items) == (99, EFFORTS["quick"].truth_items)
    assert proof.settled().items == 99


def test_an_unknown_effort_is_refused() -> None:
    with pytest.raises(SettingsError):
        read_settings(None, {"proof": {"effort": "great"}})


def test_a_verdict_says_what_its_items_exclude() -> None:
    verdict = judge(evidence(items=131, effort="quick"))
    assert verdict.outcome == "equal", verdict.reasons
    assert verdict.effort["items"] == 131
    assert verdict.effort["excludes"] == "flips"
    assert verdict.effort["above_rate"] == pytest.approx(upper_rate(0, 131))
    assert f"{100 * upper_rate(0, 131):.2f} %" in verdict.scope
    assert "Effort quick: 131 items" in verdict.scope
    assert msgspec.json.decode(msgspec.json.encode(verdict.effort)) == verdict.effort


def test_a_verdict_that_does_not_pass_excludes_nothing() -> None:
    verdict = judge(evidence(effort="quick", spoil=lambda a: {n: r * 1.1 for n, r in a.items()}))
    assert verdict.outcome == "outside"
    assert verdict.effort["above_rate"] is None
    assert "outside" in verdict.effort["reason"]
    assert "Effort" not in verdict.scope


def test_items_that_were_sought_out_make_no_rate() -> None:
    made = evidence(items=256, effort="thorough")
    probes = tuple(Probe(p.item, NEAR_TIE) if i < 56 else p for i, p in enumerate(made.probes))
    verdict = judge(replace(made, probes=probes))
    assert verdict.effort["items"] == 200
    assert f"{100 * (1 - upper_rate(0, 200)):.2f} % of items" in verdict.scope


def test_the_effort_is_in_the_verdict_and_in_the_record(here: Here, tiny: Tiny) -> None:
    context = prepare(subject_of(tiny("bert_classifier"), "quick"))
    verdict = prove_plan(context, PLAN).verdict
    assert verdict.outcome == "equal", verdict.reasons
    assert (verdict.effort["name"], verdict.effort["items"]) == ("quick", 67)
    assert verdict.effort["truth_items"] == context.references.truth.count
    assert context.subject.settings.proof.items == 64  # as it took effect


def test_a_thorough_proof_adds_near_ties_and_the_whole_vocabulary(
    here: Here, smaller: None, tiny: Tiny
) -> None:
    context = prepare(subject_of(tiny("bert_classifier")))
    verdict = prove_plan(context, PLAN).verdict
    assert verdict.outcome == "equal", verdict.reasons
    groups = context.probes_facts()["classes"]
    assert groups[NEAR_TIE] == 16
    assert groups[SWEEP] == context.subject.added[SWEEP]["texts"] > 1
    assert len(context.subject.probes) % 4 == 3
    assert verdict.effort["items"] == sum(p.group not in ADDED for p in context.subject.probes)
    assert "16 near tie texts" in verdict.scope
    assert "token ids in them" in verdict.scope
    assert context.probes_facts()["added"][NEAR_TIE]["of"] > 16


@pytest.mark.parametrize(
    "name", ["bert_classifier", "roberta_classifier", "xlmr_classifier", "bert_fillmask"]
)
def test_the_sweep_has_the_model_read_every_id_that_a_text_can_hold(
    here: Here, smaller: None, tiny: Tiny, name: str
) -> None:
    subject = deepened(subject_of(tiny(name)), silent)
    task, told = subject.task, subject.added[SWEEP]
    texts = [p.item for p in subject.probes if p.group == SWEEP]
    rows = task.encode(texts)
    read_ids = set(np.concatenate([row.arrays["input_ids"] for row in rows]).tolist())
    every, _ = wanted(task.texts.vocabulary.tokenizer, 1 << 20, 0)
    assert len(read_ids & set(every)) == told["ids_read"]
    assert told["ids_read"] >= 0.9 * told["ids"]
    assert all(row.tokens <= task.texts.limit and row.problem is None for row in rows)


def test_a_sweep_that_is_capped_says_so(
    here: Here, monkeypatch: pytest.MonkeyPatch, tiny: Tiny
) -> None:
    size = Effort(items=80, truth_items=24, near_ties=0, swept_ids=40)
    monkeypatch.setitem(EFFORTS, "thorough", size)
    told = deepened(subject_of(tiny("bert_classifier")), silent).added[SWEEP]
    assert told["ids_wanted"] == 40 < told["ids"]
    assert told["ids_read"] <= 40


def test_near_ties_are_where_the_model_hesitates(here: Here, smaller: None, tiny: Tiny) -> None:
    subject = deepened(subject_of(tiny("bert_classifier")), silent)
    told = subject.added[NEAR_TIE]
    assert told["smallest_margin"] <= told["largest_margin"] < told["median_margin_of_all"]
    plain = {p.item for p in subject.probes if p.group not in ADDED}
    mined = [p.item for p in subject.probes if p.group == NEAR_TIE]
    assert len(set(mined)) == 16
    assert not plain & set(mined)


def test_the_same_seed_adds_the_same_items(here: Here, smaller: None, tiny: Tiny) -> None:
    once, again = (deepened(subject_of(tiny("roberta_fillmask")), silent) for _ in range(2))
    assert once.items == again.items
    assert all("<mask>" in p.item for p in once.probes if p.group in ADDED)


def test_vectors_have_no_near_ties_and_this_is_said(here: Here, smaller: None, tiny: Tiny) -> None:
    subject = deepened(subject_of(tiny("sentence_transformer")), silent)
    assert "no classes" in subject.added[NEAR_TIE]["reason"]
    assert subject.added[SWEEP]["texts"] > 0
    assert len(subject.probes) % 4 == 3


@pytest.mark.parametrize("name", ["timm_classifier", "bert_classifier"])
def test_pictures_and_the_users_own_items_get_nothing_beside_them(
    here: Here, smaller: None, tiny: Tiny, name: str
) -> None:
    settings = Settings(proof=Proof(effort="thorough"))
    own = [f"text {n}" for n in range(9)] if name == "bert_classifier" else None
    subject = open_subject(tiny(name), items=own, settings=settings)
    assert deepened(subject, silent) is subject
    assert here.plans == []


def test_a_wrong_row_of_the_embedding_shows_in_a_thorough_proof_alone(
    here: Here, smaller: None, tiny: Tiny, tmp_path: Path
) -> None:
    """A token that no probe holds: its row is spoilt, and only the sweep reads it."""
    import shutil

    from safetensors.numpy import load_file, save_file

    from likewise.prove.proof import prove

    folder = tiny("bert_classifier")
    subject = deepened(subject_of(folder), silent)
    texts = [p.item for p in subject.probes if p.group != SWEEP]
    quick = [p.item for p in subject_of(folder, "quick").probes]
    seen = {
        i for row in subject.task.encode([*texts, *quick]) for i in row.arrays["input_ids"].tolist()
    }
    swept = [p.item for p in subject.probes if p.group == SWEEP]
    only = {
        i for row in subject.task.encode(swept) for i in row.arrays["input_ids"].tolist()
    } - seen
    assert only, "the probes of this tiny model hold every token"
    copy = Path(shutil.copytree(folder, tmp_path / "model"))
    tensors = load_file(copy / "model.safetensors")
    name = next(n for n in tensors if n.endswith("word_embeddings.weight"))
    tensors[name][min(only)] *= -1
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    assert read(copy).fingerprint != read(folder).fingerprint

    def outcome(effort: str) -> str:
        settings = read_settings(None, {"proof": {"effort": effort}})
        return prove(copy, PLAN, against=folder, settings=settings).outcome

    assert outcome("quick") == "equal"
    assert outcome("thorough") == "outside"


@pytest.mark.parametrize("texts", [[], ["one"], ["a", "b"]])
def test_too_few_texts_have_no_combinations(texts: list[str]) -> None:
    assert recombined(texts, 5, 0) == []
