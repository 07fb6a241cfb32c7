"""Every id is the one that transformers gives from the same folder."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tiny as builders
from likewise.errors import FolderError
from likewise.model.read import read
from likewise.model.tokenizer import Vocabulary, open_tokenizer
from likewise.settings import Overrides
from tiny_vocabularies import write_unigram

LETTERS = "abcdefghijklmnopqrstuvwxyz"
Tiny = Callable[[str], Path]

TEXTS = [
    "",
    " ",
    "\n\t ",
    "the quick brown fox",
    "The Quick Brown FOX jumps!",
    "  two  spaces \t and a tab ",
    "Bitcoin is going to the moon today.",
    "don't; can't (really)?",
    "今天天气很好。",
    "我 like 天气，好吗？",
    "مرحبا بالعالم",
    "naïve café Ångström ÉCOLE",
    "e\u0301 combining, \u00e9 not",
    "👨‍👩‍👧‍👦 family, 🏳️‍🌈 flag, 1️⃣ keycap, 👍🏽",
    "control\x00characters\x07and\u200bzero\ufeffwidth",
    "[SEP] in [MASK] text [CLS] [PAD]",
    "<s> in </s> text <mask> and <mask>. <pad>",
    "a <mask> b[MASK]c",
    "ΣΊΣΥΦΟΣ İstanbul ﬁne ½ ①",
    "``quoted'' text",
    "https://a.b/c?d=1#e 3.14159 1,000,000",
    "word " * 300,
    "x" * 500,
    "\r\nline\rbreaks\n\n",
]


def ids_of(folder: Path, **options: Any) -> list[list[int]]:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True, **options)
    return [tokenizer(text, truncation=False, padding=False)["input_ids"] for text in TEXTS]


def our_ids(vocabulary: Vocabulary) -> list[list[int]]:
    return [vocabulary.tokenizer.encode(text).ids for text in TEXTS]


def opened(folder: Path, **stated: Any) -> Vocabulary:
    return open_tokenizer(read(folder, Overrides(**stated)))


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


def test_B011_saved_truncation_and_padding_are_cleared(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model")
    file = folder / "tokenizer.json"
    content = json.loads(file.read_text())
    content["truncation"] = {
        "direction": "Right",
        "max_length": 6,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    content["padding"] = {
        "strategy": {"Fixed": 6},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    }
    file.write_text(json.dumps(content))
    tokenizer = opened(folder).tokenizer
    assert len(tokenizer.encode("the " * 20).ids) == 22
    assert len(tokenizer.encode("the").ids) == 3


def test_B013_threads_share_one_tokenizer_without_changing_it(tiny: Tiny) -> None:
    tokenizer = opened(tiny("bert_encoder")).tokenizer
    wrong: list[int] = []

    def work(words: int) -> None:
        for _ in range(200):
            length = len(tokenizer.encode("the " * words).ids)
            if length != words + 2:
                wrong.append(length)

    threads = [threading.Thread(target=work, args=(words,)) for words in (6, 38, 6, 38)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_B014_an_assumed_casing_is_said_and_can_be_stated(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model", cased=True, files="vocabulary")
    (folder / "tokenizer_config.json").unlink()
    assumed = read(folder)
    assert assumed.lower_case is True
    assert any("casing is not said" in w and "52 of its" in w for w in assumed.warnings)
    stated = opened(folder, lower_case=False).tokenizer.encode("The Fox").tokens
    assert stated == ["[CLS]", "T", "##h", "##e", "F", "##o", "##x", "[SEP]"]
    assert opened(folder).tokenizer.encode("The Fox").tokens[1] == "the"


def test_B014_tokenizer_config_decides_on_casing(tmp_path: Path) -> None:
    for files in ("vocabulary", "json"):
        folder = builders.bert_encoder(tmp_path / files, cased=True, files=files)
        model = read(folder)
        assert model.lower_case is False
        assert not any("casing" in warning for warning in model.warnings)
        assert open_tokenizer(model).tokenizer.encode("The").tokens[1] == "T"


def test_B014_a_contradiction_about_casing_is_said(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model", cased=True, files="json")
    (folder / "tokenizer_config.json").unlink()
    assert any("says the opposite" in warning for warning in read(folder).warnings)
    assert opened(folder, lower_case=False).tokenizer.encode("The").tokens[1] == "T"


def test_lower_casing_before_the_tokenizer_is_that_of_sentence_transformers(
    tmp_path: Path,
) -> None:
    from sentence_transformers import SentenceTransformer

    folder = builders.sentence_transformer(tmp_path / "model", cased=True)
    builders.write_json(
        folder / "sentence_bert_config.json", {"max_seq_length": 32, "do_lower_case": True}
    )
    reference = SentenceTransformer(str(folder), device="cpu").tokenizer
    ours = opened(folder).tokenizer
    for text in ("The Quick Fox", "Ä [MASK]", "好 A"):
        assert ours.encode(text).ids == reference(text)["input_ids"]


def test_B018_more_ids_than_embedding_rows_are_refused(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model", files="vocabulary")
    with (folder / "vocab.txt").open("a") as file:
        file.write("hodl\nmoonshot\n")
    with pytest.raises(FolderError, match="more ids than the model has embedding rows") as error:
        opened(folder)
    assert "hodl" in error.value.found


def test_B018_blank_last_lines_of_a_vocabulary_are_no_tokens(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model", files="vocabulary")
    before = our_ids(opened(folder))
    with (folder / "vocab.txt").open("a") as file:
        file.write("\n\n")
    assert our_ids(opened(folder)) == before


def test_B017_sentencepiece_needs_packages_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    folder = builders.xlmr_fillmask(tmp_path / "model", files="vocabulary")
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "sentencepiece" else find(name)
    )
    with pytest.raises(FolderError, match="packages that are not here") as error:
        opened(folder)
    assert "sentencepiece" in error.value.found
    assert "likewise[port]" in error.value.fix


def test_B017_a_conversion_that_differs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformers

    folder = builders.xlmr_fillmask(tmp_path / "model", files="vocabulary")
    other = transformers.AutoTokenizer.from_pretrained(str(builders.bert_encoder(tmp_path / "b")))
    monkeypatch.setattr(
        transformers.AutoTokenizer, "from_pretrained", staticmethod(lambda *_, **__: other)
    )
    with pytest.raises(FolderError, match="other tokens than the file itself"):
        opened(folder)


def test_a_saved_tokenizer_gives_the_same_ids_again(tmp_path: Path) -> None:
    # port writes the proven tokenizer into the folder it makes; see likewise/port/folder.py
    for name in ("bert_encoder", "roberta_fillmask", "xlmr_fillmask"):
        folder = getattr(builders, name)(tmp_path / name, files="vocabulary")
        before = opened(folder)
        copy = tmp_path / f"{name} again"
        shutil.copytree(folder, copy)
        for raw in ("vocab.txt", "vocab.json", "merges.txt", "sentencepiece.bpe.model"):
            (copy / raw).unlink(missing_ok=True)
        before.tokenizer.save(str(copy / "tokenizer.json"))
        assert our_ids(opened(copy)) == our_ids(before)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("tokenizer.json", "{", "is not a tokenizer"),
        ("tokenizer.json", '{"model": 1}', "is not a tokenizer"),
        ("vocab.json", '{"a": "b"}', "is not a vocabulary"),
        ("vocab.json", '{"a": 0}', "do not belong together"),
        ("vocab.txt", "a\nb\n", "no token for unknown words"),
    ],
)
def test_a_damaged_tokenizer_is_refused(file: str, content: str, said: str, tmp_path: Path) -> None:
    builder = builders.roberta_fillmask if file == "vocab.json" else builders.bert_encoder
    folder = builder(tmp_path / "model", files="both" if file == "tokenizer.json" else "vocabulary")
    (folder / file).write_text(content)
    with pytest.raises(FolderError, match=said):
        opened(folder)


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model")
    for name in ("vocab.txt", "tokenizer.json"):
        (folder / name).unlink()
    with pytest.raises(FolderError, match="has no tokenizer"):
        read(folder)


def test_a_class_with_rules_of_its_own_is_refused(tmp_path: Path) -> None:
    folder = builders.bert_encoder(tmp_path / "model", files="vocabulary")
    file = folder / "tokenizer_config.json"
    config = json.loads(file.read_text())
    builders.write_json(file, {**config, "tokenizer_class": "BertJapaneseTokenizer"})
    with pytest.raises(FolderError, match="rules that likewise does not have"):
        opened(folder)
