"""Probe texts are distinct, seeded, fairly mixed, and reach every length that matters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.model.read import read
from likewise.probes import masked, text
from likewise.tasks._pick import pick
from likewise.tasks._text import TextTask

Tiny = Callable[[str], Path]

WORDS = [f"word{index}" for index in range(400)]
RESIDUES = list("ACDEFGHIKLMNPQRSTVWY")
counts = st.integers(0, 300)
seeds = st.integers(0, 2**32)


def hints(limit: int = 512, **changes: Any) -> dict[str, Any]:
    return {
        "mask_token": "[MASK]", "max_tokens": limit, "special_tokens": 2, "words": WORDS,
        "unknown_share": 0.0, "size": None, **changes,
    }  # fmt: skip


PROTEIN = hints(words=RESIDUES, unknown_share=1.0)


def lengths(texts: list[str]) -> np.ndarray:
    """Return each text's tokens, of a tokenizer that takes every word for one."""
    return np.array([len(item.split()) + 2 for item in texts])


@given(room=st.sampled_from([text, masked]), count=counts, seed=seeds, limit=st.integers(6, 9000))
@settings(max_examples=40, deadline=None)
def test_probes_are_as_many_as_asked_distinct_and_the_same_again(
    room: ModuleType, count: int, seed: int, limit: int
) -> None:
    made = room.probes(count, seed, hints(limit))
    assert len(made) == len({probe.item for probe in made}) == count
    assert made == room.probes(count, seed, hints(limit))
    assert all(isinstance(probe.item, str) and probe.group for probe in made)


@pytest.mark.parametrize("room", [text, masked])
@pytest.mark.parametrize(
    "known", [hints(), hints(words=[]), PROTEIN], ids=["en", "none", "protein"]
)
def test_thousands_of_probes_are_still_distinct(room: ModuleType, known: dict[str, Any]) -> None:
    made = room.probes(3000, 1, known)
    assert len({probe.item for probe in made}) == 3000


def test_another_seed_draws_other_texts() -> None:
    one, other = ({p.item for p in text.probes(256, seed, hints())} for seed in (1, 2))
    assert len(one & other) < 60  # the fixed ones: control characters, white space …


def test_few_probes_are_the_first_of_many_and_already_mixed() -> None:
    many = text.probes(256, 20, hints())
    few = text.probes(64, 20, hints())
    assert few == many[:64]
    assert len({probe.group for probe in few}) == len({probe.group for probe in many})
    assert len({probe.group for probe in text.probes(16, 20, hints())}) >= 9


def test_every_kind_of_content_is_there() -> None:
    made = text.probes(256, 20, hints())
    groups = Counter(probe.group for probe in made)
    assert {
        "english", "posts", "vocabulary", "ladder", "limit", "chinese", "japanese", "korean",
        "arabic", "hebrew", "cyrillic", "hindi", "greek", "thai", "latin", "case", "emoji",
        "numbers", "markup", "repeated", "combining", "control", "unknown", "whitespace",
    } == set(groups)  # fmt: skip
    assert groups["english"] > 50
    items = {probe.item for probe in made}
    assert "" in items
    assert any("\u200d" in item for item in items)  # joined emoji
    assert any("[SEP]" in item or "<s>" in item for item in items)
    assert any(item and item.isspace() for item in items)
    assert any(item.isupper() and item.lower() in items for item in items)
    assert any("not" in item.split() for item in items)
    assert sum(item.endswith("?") for item in items) > 10


@pytest.mark.parametrize("limit", [16, 64, 256, 512, 1024])
def test_the_ladder_has_every_step_up_to_the_limit_and_beyond(limit: int) -> None:
    made = text.probes(256, 20, hints(limit))
    steps = {*lengths([p.item for p in made if p.group in ("ladder", "limit")]).tolist()}
    wanted = {2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257}
    assert {step for step in wanted if step < limit - 1} <= steps
    assert {limit - 1, limit, limit + limit // 2} <= steps


def test_a_task_that_takes_pairs_is_asked_some_and_one_beyond_the_limit() -> None:
    made = [p.item for p in text.probes(259, 20, hints(pairs=True)) if p.group == "pair"]
    assert len(made) >= 10
    assert all(isinstance(part, str) for pair in made for part in pair)
    assert max(len(first.split()) + len(second.split()) for first, second in made) > 512
    tokens = [len(first.split()) + len(second.split()) for first, second in made]
    assert np.minimum(tokens, 512).mean() < 150


@pytest.mark.parametrize("limit", [128, 256, 512])
@pytest.mark.parametrize("count", [64, 128, 256])
def test_a_verdict_over_the_probes_stays_affordable(limit: int, count: int) -> None:
    tokens = np.minimum(lengths([p.item for p in text.probes(count, 20, hints(limit))]), limit)
    assert tokens.mean() <= 45
    assert (tokens > 128).mean() <= 0.06


def test_a_model_of_very_long_texts_is_tried_at_its_limit_once() -> None:
    tokens = lengths([probe.item for probe in text.probes(256, 20, hints(8192))])
    assert (tokens > 8192).sum() == 1
    assert (tokens > 1025).sum() == 1


def test_a_model_that_knows_no_english_is_asked_in_its_own_words() -> None:
    made = text.probes(256, 20, PROTEIN)
    spoken = [probe for probe in made if set(probe.item.split()) <= set(RESIDUES)]
    assert len(spoken) > 0.7 * len(made)
    assert not any(probe.group in ("english", "posts") for probe in made)
    assert lengths([probe.item for probe in spoken]).std() > 10


def test_the_whole_vocabulary_is_swept() -> None:
    made = text.probes(256, 20, hints())
    used = {word for probe in made for word in probe.item.split()}
    assert used >= set(WORDS)


@pytest.mark.parametrize("name", ["bert_classifier", "roberta_classifier", "xlmr_classifier"])
def test_a_real_tokenizer_finds_the_lengths_that_were_meant(tiny: Tiny, name: str) -> None:
    task = pick(read(tiny(name)))
    made = text.probes(256, 20, task.hints())
    rows = task.encode([probe.item for probe in made])
    assert [row.problem for row in rows] == [None] * 256
    assert sum(probe.group == "pair" for probe in made) >= 10
    steps = {row.notes["tokens_given"] for row, p in zip(rows, made, strict=True)
             if p.group in ("ladder", "limit")}  # fmt: skip
    assert {2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96} <= steps


@pytest.mark.parametrize(
    ("kind", "shares"),
    [
        ("short", [(1.0, 24, 36)]),
        ("mixed", [(0.6, 20, 40), (0.3, 60, 120), (0.1, 200, 300)]),
        ("long", [(1.0, 230, 270)]),
    ],
)
def test_a_workload_has_the_lengths_it_states(
    kind: str, shares: list[tuple[float, int, int]]
) -> None:
    for known, slack in ((PROTEIN, 1.0), (hints(), 0.75)):  # English: about 0.84 words a token
        items = text.workload(kind, 200, 3, known)
        assert items == text.workload(kind, 200, 3, known)
        assert len(set(items)) == 200
        found = lengths(items)
        for share, low, high in shares:
            within = (found >= low * slack) & (found <= high)
            assert abs(within.mean() - share) < 0.1


@pytest.mark.parametrize("limit", [8, 64, 128])
def test_a_workload_keeps_the_limit(limit: int) -> None:
    for kind in ("short", "mixed", "long"):
        known = {**PROTEIN, "max_tokens": limit}
        assert lengths(text.workload(kind, 50, 3, known)).max() <= limit


@given(count=counts, seed=seeds, limit=st.integers(12, 600))
@settings(max_examples=30, deadline=None)
def test_every_masked_probe_has_one_mask_or_two_within_reach(
    count: int, seed: int, limit: int
) -> None:
    made = masked.probes(count, seed, hints(limit))
    masks = [probe.item.count("[MASK]") for probe in made]
    assert set(masks) <= {1, 2}
    if count == 300:
        assert 10 < masks.count(2) < 60
    for probe in made:
        assert len(probe.item[: probe.item.rindex("[MASK]")].encode()) < limit + 6


@pytest.mark.parametrize("name", ["bert_fillmask", "roberta_fillmask", "xlmr_fillmask"])
def test_a_real_fill_mask_task_answers_every_masked_probe(tiny: Tiny, name: str) -> None:
    task = pick(read(tiny(name)))
    assert isinstance(task, TextTask)
    made = masked.probes(256, 20, task.hints())
    rows = task.encode([probe.item for probe in made])
    assert [row.problem for row in rows] == [None] * 256
    inputs = task.collate(rows)
    per_item = np.bincount(task.owners(inputs), minlength=256)
    assert set(per_item.tolist()) == {1, 2}
    work = masked.workload("mixed", 40, 3, task.hints())
    assert [row.problem for row in task.encode(work)] == [None] * 40


def test_a_model_without_a_mask_token_gets_the_generic_one() -> None:
    made = masked.probes(20, 1, hints(mask_token=None))
    assert all("<mask>" in probe.item for probe in made)
