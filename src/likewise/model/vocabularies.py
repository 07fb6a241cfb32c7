"""A vocabulary file in; the ``tokenizers`` object that it holds or spells out, out."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from likewise.errors import FolderError
from likewise.model.files import read_object

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["open_file", "open_pieces"]

_PROBES = (
    "Hello world, how are you today?",
    "今天天气很好。",
    "Ein schöner Tag: 3.14 × 2 = 6.28!",
    "مرحبا بالعالم",
    "don't  stop  ",
)


def open_file(file: Path, *, unknown: str) -> Tokenizer:
    """Return the tokenizer in ``tokenizer.json``, ``vocab.txt`` or ``vocab.json`` + ``merges.txt``.

    From the last two comes a vocabulary only: rules and special tokens are not in the file.

    Raises:
        FolderError: the file is damaged.
    """
    from tokenizers import Tokenizer, models

    if file.name == "tokenizer.json":
        return _parse(file)
    if file.name == "vocab.txt":
        return Tokenizer(models.WordPiece(_words(file, unknown), unk_token=unknown))
    ids = read_object(file)
    if not all(type(index) is int and index >= 0 for index in ids.values()):
        raise FolderError(f"{file} is not a vocabulary.", found="ids that are no whole numbers")
    try:
        model = models.BPE(
            ids,
            _merges(file.with_name("merges.txt")),
            continuing_subword_prefix="",
            end_of_word_suffix="",
            fuse_unk=False,
        )
    except Exception as error:  # noqa: BLE001 - tokenizers raises plain Exception
        raise FolderError(
            f"{file} and merges.txt do not belong together.",
            found=str(error),
            fix="download both files again, from one version of the model",
        ) from None
    return Tokenizer(model)


def open_pieces(file: Path) -> Tokenizer:
    """Return the tokenizer in a sentencepiece model, converted by transformers and then checked.

    Raises:
        FolderError: the packages are not here, or the conversion gives other tokens (case B017).
    """
    missing = [
        name
        for name, module in (
            ("transformers", "transformers"),
            ("sentencepiece", "sentencepiece"),
            ("protobuf", "google.protobuf"),
        )
        if not _is_here(module)
    ]
    if missing:
        raise FolderError(
            f"{file} can be read only with packages that are not here.",
            found=f"missing: {', '.join(missing)}",
            fix="pip install 'likewise[port]'; or put a tokenizer.json into the folder",
        )
    from transformers import AutoTokenizer

    tokenizer: Tokenizer = AutoTokenizer.from_pretrained(
        str(file.parent), local_files_only=True, trust_remote_code=False
    ).backend_tokenizer
    _check_conversion(file, tokenizer)
    return tokenizer


def _parse(file: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_str(file.read_bytes().decode("utf-8-sig"))
    except Exception as error:  # noqa: BLE001 - tokenizers raises plain Exception
        raise FolderError(
            f"{file} is not a tokenizer.", found=str(error), fix="download the file again"
        ) from None
    if getattr(tokenizer.model, "dropout", None):
        tokenizer.model.dropout = None  # left from training: ids would differ from call to call
    return tokenizer


def _words(file: Path, unknown: str) -> dict[str, int]:
    """Return WordPiece ids by line; blank lines at the end are not tokens."""
    try:
        lines = file.read_bytes().decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise FolderError(f"{file} is not UTF-8.", found=f"byte {error.start}") from None
    while lines and not lines[-1].strip("\r"):
        lines.pop()
    ids = {line.rstrip("\r"): index for index, line in enumerate(lines)}
    if unknown not in ids:
        raise FolderError(
            f"{file} has no token for unknown words.",
            found=f"{len(ids)} tokens, {unknown!r} is not among them",
            fix="name it in tokenizer_config.json: unk_token",
        )
    return ids


def _merges(file: Path) -> list[tuple[str, str]]:
    lines = file.read_text(encoding="utf-8").split("\n")
    pairs = [line.split() for line in lines if line.strip() and not line.startswith("#version")]
    if any(len(pair) != 2 for pair in pairs):
        wrong = next(pair for pair in pairs if len(pair) != 2)
        raise FolderError(f"{file} holds a line that is not a pair.", found=" ".join(wrong))
    return [(left, right) for left, right in pairs]


def _check_conversion(file: Path, tokenizer: Tokenizer) -> None:
    import sentencepiece

    original = sentencepiece.SentencePieceProcessor(model_file=str(file))
    for text in _PROBES:
        expected = [
            piece
            for piece in original.encode(text, out_type=str)
            if original.piece_to_id(piece) != original.unk_id()
        ]
        ids = tokenizer.get_vocab()
        encoding = tokenizer.encode(text, add_special_tokens=False)
        known = set(expected)
        found = [token for token in encoding.tokens if token in ids and token in known]
        if found != expected:
            raise FolderError(
                f"{file} was converted, and the result gives other tokens than the file itself.",
                found=f"{text!r}: {found} where {expected} is right",
                fix="put a tokenizer.json that belongs to the model into the folder",
            )


def _is_here(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False
