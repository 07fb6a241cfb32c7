"""A folder in; the vocabulary and tokenizer files of a tiny model, by family, out."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path
from typing import Literal

Files = Literal["both", "json", "vocabulary"]

ENGLISH = (
    "the quick brown fox jumps over the lazy dog",
    "bitcoin is going to the moon today",
    "the price is good and the news is bad",
    "I do not like this, but you may!",
    "The Quick Brown Fox: 0123456789 times?",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz",
)
CHINESE = ("今天天气很好。", "我不喜欢这个人，你好吗？")
WORDS = (
    "the", "is", "to", "you", "and", "not", "good", "bad",
    "price", "moon", "bitcoin", "today", "news",
)  # fmt: skip
PUNCTUATION = tuple(".,!?'-:\"()。，？")
ROBERTA_SPECIALS = ("<s>", "<pad>", "</s>", "<unk>")


def wordpieces(*, cased: bool = False) -> list[str]:
    """Return a WordPiece vocabulary in which every word of plain letters and digits has pieces."""
    letters = [chr(ord("a") + i) for i in range(26)]
    if cased:
        letters += [letter.upper() for letter in letters]
    single = [*letters, *"0123456789"]
    han = sorted(set("".join(CHINESE)) - set(PUNCTUATION))
    pieces = [f"##{piece}" for piece in [*single, "ing", "er"]]
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    return [*specials, *PUNCTUATION, *single, *WORDS, *pieces, *han]


def write_wordpiece(
    folder: Path, *, files: Files = "both", cased: bool = False, kind: str = "BertTokenizer"
) -> int:
    """Write vocab.txt, tokenizer.json and tokenizer_config.json; return the number of ids."""
    import transformers

    vocabulary = wordpieces(cased=cased)
    text = "".join(f"{token}\n" for token in vocabulary)
    (folder / "vocab.txt").write_text(text, encoding="utf-8")
    tokenizer = getattr(transformers, kind)(
        vocab={token: index for index, token in enumerate(vocabulary)},
        do_lower_case=not cased,
        model_max_length=64,
    )
    _keep(folder, tokenizer, files, ("vocab.txt",))
    return len(vocabulary)


def write_byte_bpe(folder: Path, *, files: Files = "both", add_prefix_space: bool = False) -> int:
    """Write vocab.json, merges.txt, tokenizer.json and their config; return the number of ids."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import RobertaTokenizer

    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=list(ROBERTA_SPECIALS),
        show_progress=False,
    )
    trained.train_from_iterator([*ENGLISH, *CHINESE] * 3, trainer)
    model = json.loads(trained.to_str())["model"]
    vocabulary: dict[str, int] = model["vocab"]
    vocabulary["<mask>"] = len(vocabulary)
    merges = [tuple(merge) for merge in model["merges"]]
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    lines = "".join(f"{left} {right}\n" for left, right in merges)
    (folder / "merges.txt").write_text(f"#version: 0.2\n{lines}", encoding="utf-8")
    tokenizer = RobertaTokenizer(
        vocab=vocabulary, merges=merges, add_prefix_space=add_prefix_space, model_max_length=64
    )
    _keep(folder, tokenizer, files, ("vocab.json", "merges.txt"))
    return len(vocabulary)


def write_unigram(folder: Path, *, files: Files = "both") -> int:
    """Write sentencepiece.bpe.model, tokenizer.json and their config; return the number of ids."""
    import sentencepiece
    from transformers import XLMRobertaTokenizer

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*ENGLISH, *CHINESE] * 3),
        model_writer=written,
        model_type="unigram",
        vocab_size=150,
        hard_vocab_limit=False,
        character_coverage=1.0,
        num_threads=1,
        minloglevel=2,
    )
    file = folder / "sentencepiece.bpe.model"
    file.write_bytes(written.getvalue())
    pieces = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    size = int(pieces.get_piece_size())
    vocabulary = [(piece, 0.0) for piece in ROBERTA_SPECIALS]
    vocabulary += [(pieces.id_to_piece(i), pieces.get_score(i)) for i in range(3, size)]
    vocabulary += [("<mask>", 0.0)]
    tokenizer = XLMRobertaTokenizer.from_pretrained(
        str(folder), local_files_only=True, model_max_length=64
    )
    if len(tokenizer) != len(vocabulary):
        logging.getLogger(__name__).error("the tiny XLM-R tokenizer has other ids than its file")
    _keep(folder, tokenizer, files, ("sentencepiece.bpe.model",))
    return len(vocabulary)


def _keep(folder: Path, tokenizer: object, files: Files, raw: tuple[str, ...]) -> None:
    tokenizer.save_pretrained(str(folder))  # type: ignore[attr-defined]  # any transformers class
    if files == "json":
        for name in raw:
            (folder / name).unlink()
    if files == "vocabulary":
        (folder / "tokenizer.json").unlink()
