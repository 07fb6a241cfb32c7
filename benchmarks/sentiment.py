"""Nothing in; MiniLM fine-tuned into a classifier of English sentences, and the sentences, out.

    python benchmarks/sentiment.py        prints the folder, and its hits on the held-out sentences

3 × 1,000 sentences of reviews (the npm package ``sentiment``, its own test data); every fifth is
held out, and none of its doubles is trained on.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tarfile
import urllib.request
from pathlib import Path

import numpy as np
import trained

from likewise import cache
from likewise.errors import LikewiseError

__all__ = ["held_out", "sentences", "sentiment"]

_URL = "https://registry.npmjs.org/sentiment/-/sentiment-5.0.2.tgz"
_SHA256 = "89302eb03d2005d03b214fe65814bb48adb7d3c42c8ca80bdee6a3ecb7e4480f"
_FILES = ("amazon", "imdb", "yelp")
_LABELS = ("negative", "positive")
_EPOCHS, _BATCH, _RATE, _LENGTH = 3, 32, 2e-4, 64
_FROZEN = 4  # layers, and the embeddings: the rest learns in a minute on two cores


def sentences() -> list[tuple[str, int]]:
    """Return about 2,980 different sentences, each with 0 (negative) or 1 (positive)."""

    def fetch(folder: Path) -> None:
        with urllib.request.urlopen(_URL, timeout=60) as answer:
            content = answer.read(8 << 20)
        if hashlib.sha256(content).hexdigest() != _SHA256:
            raise LikewiseError(f"{_URL} is not the file that was published.")
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            for name in _FILES:
                member = archive.extractfile(f"package/test/fixtures/{name}.json")
                assert member is not None
                (folder / f"{name}.json").write_bytes(member.read())

    home = cache.build("wheels", f"{_URL} {_SHA256}", fetch)
    rows = [row for name in _FILES for row in json.loads((home / f"{name}.json").read_text())]
    known = {row["text"].strip(): int(row["class"]) for row in rows if row["class"] is not None}
    return [(text, label) for text, label in known.items() if text]  # one of each file is empty


def held_out() -> list[tuple[str, int]]:
    """Return every fifth sentence: none was trained on."""
    return sentences()[::5]


def sentiment() -> Path:
    """Return the folder of a BertForSequenceClassification, made once (a minute on two cores)."""
    recipe = f"{Path(__file__).read_text(encoding='utf-8')}{trained.minilm()}"

    def make(folder: Path) -> None:
        (folder / "minilm-sentiment").mkdir()
        _tune(folder / "minilm-sentiment")

    return cache.build("trained", f"sentiment {recipe}", make) / "minilm-sentiment"


def _tune(folder: Path) -> None:
    import torch
    from transformers import AutoTokenizer, BertForSequenceClassification

    torch.manual_seed(7)
    source = trained.minilm()
    tokenizer = AutoTokenizer.from_pretrained(source)
    names = dict(enumerate(_LABELS))
    model = BertForSequenceClassification.from_pretrained(
        source, id2label=names, label2id={v: k for k, v in names.items()}
    )
    rows = [row for index, row in enumerate(sentences()) if index % 5]
    draw = np.random.default_rng(7)
    steps = _EPOCHS * (len(rows) // _BATCH)
    for part in (model.bert.embeddings, *model.bert.encoder.layer[:_FROZEN]):
        part.requires_grad_(False)
    learning = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(learning, lr=_RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, total_iters=steps)
    model.train()
    for _ in range(_EPOCHS):
        order = draw.permutation(len(rows))
        for begin in range(0, len(rows) - _BATCH + 1, _BATCH):
            chosen = [rows[i] for i in order[begin : begin + _BATCH]]
            fed = tokenizer(
                [text for text, _ in chosen],
                padding=True, truncation=True, max_length=_LENGTH, return_tensors="pt",
            )  # fmt: skip
            loss = model(**fed, labels=torch.tensor([label for _, label in chosen])).loss
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def main() -> int:
    """Print the folder, and how many held-out sentences it gets right."""
    import likewise

    folder, rows = sentiment(), held_out()
    with likewise.Classifier(folder) as classifier:
        answers = classifier.answers([text for text, _ in rows])
    hits = sum(a["labels"][0]["label"] == _LABELS[r[1]] for a, r in zip(answers, rows, strict=True))
    sys.stdout.write(f"{folder}\n{hits}/{len(rows)} held-out sentences\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
