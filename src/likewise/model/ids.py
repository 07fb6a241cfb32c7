"""A text model and texts in; whether transformers reads the same token ids in them, out."""

from __future__ import annotations

from collections.abc import Sequence

from likewise.model.modules import is_sentence_transformer, read_modules
from likewise.model.tokenizer import Vocabulary
from likewise.types import Json, Model

__all__ = ["against_transformers"]

_MOST_READ = 20_000  # characters: a tokenizer written in Python takes seconds for a megabyte


def against_transformers(
    model: Model, vocabulary: Vocabulary, texts: Sequence[str]
) -> dict[str, Json]:
    """Compare the ids of whole texts with those of transformers' own tokenizer for the folder.

    Args:
        model: from ``read``.
        vocabulary: the tokenizer that likewise built from it.
        texts: longer ones than 20,000 characters are left out.

    Returns:
        {"n": texts compared, "unlike": up to five of those whose ids differ, "count": how many,
        "missing": why nothing was compared, or ""}.
    """
    from transformers import AutoTokenizer

    tried = [text for text in texts if len(text) <= _MOST_READ]
    casing = {} if model.lower_case is None else {"do_lower_case": model.lower_case}
    try:
        place = (model.folder / model.tokenizer).parent
        theirs = AutoTokenizer.from_pretrained(str(place), local_files_only=True, **casing)
        expected = [theirs(_read(model, text))["input_ids"] for text in tried]
    except Exception as error:  # noqa: BLE001 - what it raises on a folder depends on the class
        why = f"{type(error).__name__}: {error}".split("\n")[0]
        return {"n": 0, "unlike": [], "count": 0, "missing": f"transformers cannot read it: {why}"}
    encoded = vocabulary.tokenizer.encode_batch(tried)
    unlike = [
        text
        for text, ids, ours in zip(tried, expected, encoded, strict=True)
        if list(ids) != ours.ids
    ]
    shown = [text[:80] for text in unlike[:5]]
    return {"n": len(tried), "unlike": shown, "count": len(unlike), "missing": ""}


def _read(model: Model, text: str) -> str:
    """Return the text as the folder's own modules hand it to the tokenizer."""
    lowers = is_sentence_transformer(model.folder) and read_modules(model.folder).lower_case
    return text.lower() if lowers else text
