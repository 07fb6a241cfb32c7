"""A model folder and items, in; what the plain library computes for them in float32, out.

The yardstick of equality.py and accuracy.py: transformers, sentence-transformers and timm as their
own pages use them, one item at a time, so that no padding takes part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

__all__ = ["Floats", "classify", "embed", "fillmask", "pictures"]


def classify(folder: Path, texts: Sequence[str | tuple[str, str]]) -> Floats:
    """Return (N, C) logits of transformers' sequence classification, of texts or of pairs."""
    return np.concatenate(
        [logits for _, logits in _outputs(folder, texts, "SequenceClassification")]
    )


def fillmask(folder: Path, texts: Sequence[str]) -> Floats:
    """Return (R, V) logits at each mask of each text, of transformers' masked language model."""
    rows = []
    for inputs, logits in _outputs(folder, texts, "MaskedLM"):
        rows.append(logits[0][inputs["masks"]])
    return np.concatenate(rows)


def embed(folder: Path, texts: Sequence[str]) -> Floats:
    """Return (N, D) vectors of length 1, of sentence-transformers (mean, where nothing is said)."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": "float32"})
    if model.max_seq_length is None or model.max_seq_length > 10**6:
        model.max_seq_length = _limit(model[0].auto_model.config)
    rows = [model.encode(text, normalize_embeddings=True) for text in texts]
    return np.stack(rows).astype(np.float32)


def pictures(folder: Path, files: Sequence[Path]) -> Floats:
    """Return (N, C) outputs of timm's model under timm's own transform."""
    import timm
    import torch
    from PIL import Image

    model = timm.create_model(f"local-dir:{folder}", pretrained=True).eval()
    settings = timm.data.resolve_model_data_config(model)
    transform = timm.data.create_transform(**settings, is_training=False)
    rows = []
    with torch.inference_mode():
        for file in files:
            with Image.open(file) as picture:
                pixels = transform(picture.convert("RGB"))[None]
            rows.append(model(pixels).numpy())
    return np.concatenate(rows)


def _outputs(
    folder: Path, texts: Sequence[str | tuple[str, str]], head: str
) -> Iterator[tuple[dict[str, Any], Floats]]:
    """Yield each text's inputs and logits, cut to what the model can take."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder))
    kind = getattr(transformers, f"AutoModelFor{head}")
    model = kind.from_pretrained(str(folder), dtype=torch.float32).eval()
    limit = _limit(model.config)
    for text in texts:
        # In lists, because a lone empty second text would be taken for none.
        parts = [[part] for part in (text if isinstance(text, tuple) else (text,))]
        inputs = tokenizer(*parts, truncation=True, max_length=limit, return_tensors="pt")
        with torch.inference_mode():
            logits = model(**inputs).logits.numpy()
        masks = (inputs["input_ids"][0] == tokenizer.mask_token_id).numpy()
        yield {"masks": masks}, logits


def _limit(config: Any) -> int:
    """Return the usable tokens: RoBERTa's positions start behind the padding id."""
    offset = config.pad_token_id + 1 if "roberta" in config.model_type else 0
    return int(config.max_position_embeddings) - offset
