"""The check at load: whether transformers reads the same token ids in the same folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tokens import TEXTS

import tiny as builders
from likewise.model.ids import against_transformers
from likewise.model.read import read
from likewise.model.tokenizer import open_tokenizer

Tiny = Callable[[str], Path]


@pytest.mark.parametrize(
    "name", ["bert_classifier", "roberta_classifier", "sentence_transformer", "xlmr_fillmask"]
)
def test_ids_are_compared_and_alike(tiny: Tiny, name: str) -> None:
    model = read(tiny(name))
    said = against_transformers(model, open_tokenizer(model), TEXTS)
    assert said == {"n": len(TEXTS), "unlike": [], "count": 0, "missing": ""}


def test_a_tokenizer_that_reads_otherwise_is_caught_and_shown(tiny: Tiny) -> None:
    model = read(tiny("bert_classifier"))
    cased = open_tokenizer(replace(model, lower_case=not model.lower_case))
    said = against_transformers(model, cased, ["plain", "Naïve Café"])
    assert (said["n"], said["count"], said["unlike"]) == (2, 1, ["Naïve Café"])


def test_what_transformers_cannot_open_is_said(tmp_path: Path) -> None:
    model = read(builders.bert_encoder(tmp_path / "model"))
    vocabulary = open_tokenizer(model)
    for file in model.folder.glob("tokenizer*"):
        file.write_text("{")
    said = against_transformers(model, vocabulary, TEXTS)
    assert (said["n"], said["count"]) == (0, 0)
    assert "transformers cannot read it" in said["missing"]
