"""Every id is the one that transformers gives from the same folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokens import LETTERS, TEXTS, ids_of, opened, our_ids

import tiny as builders
from tiny_vocabularies import write_unigram

Tiny = Callable[[str], Path]


FOLDERS: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("bert_encoder", {}),
    "bert, vocab.txt": ("bert_encoder", {"files": "vocabulary"}),
    "bert, tokenizer.json": ("bert_encoder", {"files": "json"}),
    "bert, cased": ("bert_encoder", {"cased": True}),
    "bert, cased, vocab.txt": ("bert_encoder", {"cased": True, "files": "vocabulary"}),
    "distilbert": ("distilbert_classifier", {}),
    "electra": ("electra_classifier", {"files": "vocabulary"}),
    "roberta": ("roberta_classifier", {}),
    "roberta, vocab.json": ("roberta_classifier", {"files": "vocabulary"}),
    "roberta, prefix space": ("roberta_classifier", {"add_prefix_space": True}),
    "roberta, prefix space, vocab.json": (
        "roberta_classifier",
        {"add_prefix_space": True, "files": "vocabulary"},
    ),
    "xlm-roberta": ("xlmr_fillmask", {}),
    "xlm-roberta, tokenizer.json": ("xlmr_fillmask", {"files": "json"}),
    "xlm-roberta, sentencepiece": ("xlmr_fillmask", {"files": "vocabulary"}),
}


@pytest.mark.parametrize("config", ["with its config", "without"])
@pytest.mark.parametrize("name", FOLDERS)
def test_ids_are_those_of_transformers(name: str, config: str, tmp_path: Path) -> None:
    builder, changes = FOLDERS[name]
    folder = getattr(builders, builder)(tmp_path / "model", **changes)
    if config == "without":
        (folder / "tokenizer_config.json").unlink()
    assert our_ids(opened(folder)) == ids_of(folder)


def rebuilt(folder: Path, family: str, kind: str, vocabulary: Any, **more: Any) -> Path:
    """Give a tiny BERT folder another family's name and tokenizer; only the ids count."""
    import transformers

    builders.bert_encoder(folder, vocab_size=400)
    for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    getattr(transformers, kind)(vocab=vocabulary, **more).save_pretrained(str(folder))
    config = json.loads((folder / "config.json").read_text())
    builders.write_json(folder / "config.json", {**config, "model_type": family})
    return folder


@pytest.mark.parametrize("cased", [True, False])
def test_mpnet_ids_are_those_of_transformers(cased: bool, tmp_path: Path) -> None:
    words = ["<s>", "<pad>", "</s>", "[UNK]", "<mask>", *LETTERS, *".,!今天"]
    words += [f"##{letter}" for letter in LETTERS]
    vocabulary = {word: index for index, word in enumerate(words)}
    folder = rebuilt(
        tmp_path / "model", "mpnet", "MPNetTokenizer", vocabulary, do_lower_case=not cased
    )
    assert our_ids(opened(folder)) == ids_of(folder)


@pytest.mark.parametrize(
    ("family", "kind", "specials"),
    [
        ("albert", "AlbertTokenizer", ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]),
        ("camembert", "CamembertTokenizer", ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]),
        ("deberta-v2", "DebertaV2Tokenizer", ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]),
    ],
)
def test_unigram_families_have_the_ids_of_transformers(
    family: str, kind: str, specials: list[str], tmp_path: Path
) -> None:
    pieces = [(token, 0.0) for token in specials]
    pieces += [(piece, -2.0) for piece in ["▁", "▁the", "▁fox", "ing", *LETTERS]]
    folder = rebuilt(tmp_path / "model", family, kind, pieces)
    assert our_ids(opened(folder)) == ids_of(folder)


def test_deberta_ids_are_those_of_transformers(tmp_path: Path) -> None:
    source = builders.roberta_fillmask(tmp_path / "source")
    ids = json.loads((source / "vocab.json").read_text())
    names = {"<s>": "[CLS]", "<pad>": "[PAD]", "</s>": "[SEP]", "<unk>": "[UNK]"} | {
        "<mask>": "[MASK]"
    }
    vocabulary = {names.get(token, token): index for token, index in ids.items()}
    folder = rebuilt(tmp_path / "model", "deberta", "DebertaTokenizer", vocabulary, merges=[])
    assert our_ids(opened(folder)) == ids_of(folder)


def test_a_bert_body_may_have_a_sentencepiece_tokenizer(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model", vocab_size=400)
    for name in ("vocab.txt", "tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    write_unigram(folder)
    assert our_ids(opened(folder)) == ids_of(folder)


def test_a_generic_fast_tokenizer_is_used_as_it_stands(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model", cased=True)
    file = folder / "tokenizer_config.json"
    config = json.loads(file.read_text())
    builders.write_json(file, {**config, "tokenizer_class": "PreTrainedTokenizerFast"})
    vocabulary = opened(folder)
    assert our_ids(vocabulary) == ids_of(folder)
    assert "tokenizer.json is used as it stands" in vocabulary.assumptions


def test_added_tokens_keep_their_ids(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    folder = builders.bert_encoder(tmp_path / "model", vocab_size=200)
    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    tokenizer.add_tokens(["moonshot", "X Æ"])
    tokenizer.add_special_tokens({"additional_special_tokens": ["[E1]", "[/E1]"]})
    tokenizer.save_pretrained(str(folder))
    vocabulary = opened(folder)
    for text in ["a moonshot X Æ [E1]fox[/E1]", "Moonshot [e1]", *TEXTS]:
        assert vocabulary.tokenizer.encode(text).ids == tokenizer(text)["input_ids"]


def test_old_added_tokens_and_special_tokens_files_are_read(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    folder = builders.roberta_fillmask(tmp_path / "model", files="vocabulary", vocab_size=400)
    (folder / "tokenizer_config.json").unlink()
    builders.write_json(folder / "added_tokens.json", {"hodl": 301})
    mask = {"content": "<mask>", "lstrip": True, "rstrip": False, "normalized": False}
    mask["single_word"] = False
    builders.write_json(folder / "special_tokens_map.json", {"mask_token": mask})
    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    vocabulary = opened(folder)
    for text in ["a <mask> hodl!", *TEXTS]:
        assert vocabulary.tokenizer.encode(text).ids == tokenizer(text)["input_ids"]


@pytest.mark.parametrize(
    "name", ["bert_encoder", "roberta_fillmask", "xlmr_fillmask", "distilbert_fillmask"]
)
def test_the_named_ids_are_those_of_transformers(tiny: Tiny, name: str) -> None:
    from transformers import AutoTokenizer

    theirs = AutoTokenizer.from_pretrained(str(tiny(name)))
    ours = opened(tiny(name))
    assert (ours.pad_id, ours.pad_token) == (theirs.pad_token_id, theirs.pad_token)
    assert (ours.mask_id, ours.mask_token) == (theirs.mask_token_id, theirs.mask_token)
    assert (ours.unk_token, ours.size) == (theirs.unk_token, len(theirs))
