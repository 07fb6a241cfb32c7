"""Texts of every kind in; their ids through transformers and through likewise, out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from likewise.model.read import read
from likewise.model.tokenizer import Vocabulary, open_tokenizer
from likewise.settings import Overrides

LETTERS = "abcdefghijklmnopqrstuvwxyz"


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


__all__ = ["LETTERS", "TEXTS", "ids_of", "opened", "our_ids"]


def ids_of(folder: Path, **options: Any) -> list[list[int]]:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True, **options)
    return [tokenizer(text, truncation=False, padding=False)["input_ids"] for text in TEXTS]


def our_ids(vocabulary: Vocabulary) -> list[list[int]]:
    return [vocabulary.tokenizer.encode(text).ids for text in TEXTS]


def opened(folder: Path, **stated: Any) -> Vocabulary:
    return open_tokenizer(read(folder, Overrides(**stated)))
