"""The name of a report's model, in; a full-size folder of the same shape with drawn weights, out.

    python benchmarks/standins.py cryptobert personality chinese convnext xlmr [--seed 0]

prints folders and sizes; each is made once, under the user's cache folder, never committed. What
each shape is: shared/reports.md. Tokenizers are real ones of the right size (see ``vocabularies``).
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import vocabularies

from likewise import cache

__all__ = ["NAMES", "make"]

_RECIPE = 1  # raised when what a seed gives changes


def make(name: str, *, seed: int = 0) -> Path:
    """Return a stand-in's folder, made once for a seed.

    Args:
        name: one of ``NAMES``.
        seed: of its weights.
    """
    shown, write = _MAKERS[name]

    def fill(entry: Path) -> None:
        (entry / shown).mkdir()
        write(entry / shown, seed)

    return cache.build("standins", f"{name} recipe {_RECIPE} seed {seed}", fill) / shown


def _cryptobert(folder: Path, seed: int) -> None:
    """RoBERTa-base with 3 named labels; both weight formats, of the same numbers."""
    import torch
    from safetensors.torch import load_file

    vocabularies.write_byte_bpe(folder)
    labels = ("Bearish", "Neutral", "Bullish")
    config = {
        "model_type": "roberta", "vocab_size": 50265, "max_position_embeddings": 514,
        "type_vocab_size": 1, "layer_norm_eps": 1e-5,
        "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2,
        "id2label": {str(i): label for i, label in enumerate(labels)},
        "label2id": {label: i for i, label in enumerate(labels)},
    }  # fmt: skip
    _write(folder, "RobertaForSequenceClassification", config, seed)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")


def _personality(folder: Path, seed: int) -> None:
    """BERT-base with 5 outputs that the config does not name; pytorch_model.bin only."""
    import torch
    from safetensors.torch import load_file

    vocabularies.write_wordpiece(folder)
    config = {
        "model_type": "bert", "vocab_size": 30522, "max_position_embeddings": 512,
        "type_vocab_size": 2, "layer_norm_eps": 1e-12, "pad_token_id": 0,
        "id2label": {str(i): f"LABEL_{i}" for i in range(5)},
        "label2id": {f"LABEL_{i}": i for i in range(5)},
    }  # fmt: skip
    _write(folder, "BertForSequenceClassification", config, seed)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def _chinese(folder: Path, seed: int) -> None:
    """BERT, 2 layers × 128; vocab.txt only: no tokenizer settings, no modules.json."""
    vocabularies.write_chinese(folder)
    config = {
        "model_type": "bert", "vocab_size": 21128, "max_position_embeddings": 512,
        "type_vocab_size": 2, "layer_norm_eps": 1e-12, "pad_token_id": 0,
        "hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 512,
    }  # fmt: skip
    _write(folder, "BertModel", config, seed)


def _xlmr(folder: Path, seed: int) -> None:
    """XLM-R-large, 24 × 1024, with a tied head over 250,002 tokens."""
    vocabularies.write_unigram(folder)
    config = {
        "model_type": "xlm-roberta", "vocab_size": 250002, "max_position_embeddings": 514,
        "type_vocab_size": 1, "layer_norm_eps": 1e-5, "hidden_size": 1024,
        "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096,
        "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "tie_word_embeddings": True,
    }  # fmt: skip
    _write(folder, "XLMRobertaForMaskedLM", config, seed)


def _convnext(folder: Path, seed: int) -> None:
    """ConvNeXt-base with a CLIP projection to 640 at 256 px, as timm writes it to the hub."""
    import timm
    import torch
    from safetensors.torch import save_file

    with torch.device("meta"):
        module = timm.create_model("convnext_base.clip_laion2b", pretrained=False, num_classes=640)
    tensors = dict(_drawn(module, seed))
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    picture = {
        "tag": "clip_laion2b", "custom_load": False, "input_size": [3, 256, 256],
        "fixed_input_size": False, "interpolation": "bicubic", "crop_pct": 1.0,
        "crop_mode": "center", "mean": [0.48145466, 0.4578275, 0.40821073],
        "std": [0.26862954, 0.26130258, 0.27577711], "num_classes": 640, "pool_size": [8, 8],
        "first_conv": "stem.0", "classifier": "head.fc", "license": "mit",
    }  # fmt: skip
    config = {
        "architecture": "convnext_base",
        "num_classes": 640,
        "num_features": module.num_features,
        "global_pool": "avg",
        "pretrained_cfg": picture,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _write(folder: Path, architecture: str, values: dict[str, Any], seed: int) -> None:
    """Write config.json and model.safetensors; the module is never in memory twice."""
    import torch
    import transformers
    from safetensors.torch import save_file

    kind = getattr(transformers, architecture)
    config = kind.config_class(**{k: v for k, v in values.items() if k != "model_type"})
    with torch.device("meta"):
        module = kind(config)
    tensors = dict(_drawn(module, seed))
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    full = {**config.to_diff_dict(), **values, "architectures": [architecture]}
    (folder / "config.json").write_text(json.dumps(full, indent=2) + "\n", encoding="utf-8")


def _drawn(module: Any, seed: int) -> Iterator[tuple[str, Any]]:
    """Yield each parameter's name and numbers, tied ones once.

    Trap: with every matrix at N(0, 0.02) a transformer gives almost the same answer to every text.
    Here a matrix keeps the size of what passes through it (N(0, 1/√inputs), times a gain), words
    outweigh positions, and a residual branch adds a fifth, so that 24 layers neither drown the
    words nor blow up rounding errors.
    """
    import torch

    random = torch.Generator().manual_seed(seed)
    for name, value in module.named_parameters(remove_duplicate=False):
        if name.startswith("lm_head.decoder."):
            continue  # tied: the file of a published folder does not hold it either
        drawn = torch.zeros(value.shape)
        if value.ndim >= 2:
            drawn.normal_(0.0, _spread(name, tuple(value.shape)), generator=random)
        elif name.endswith("gamma"):
            drawn.uniform_(0.1, 0.3, generator=random)
        elif name.endswith("weight"):
            drawn.fill_(1.0)
        else:
            drawn.normal_(0.0, 0.02, generator=random)
        yield name, drawn


def _spread(name: str, shape: tuple[int, ...]) -> float:
    """Return the standard deviation of a matrix, table or kernel."""
    tables = {"word_embeddings": 0.1, "position_embeddings": 0.03, "token_type_embeddings": 0.03}
    for part, spread in tables.items():
        if part in name:
            return spread
    gains = {
        "attention.output.dense": 0.5,
        "attention.self.query": 1.5,
        "attention.self.key": 1.5,
        "intermediate.dense": 1.0,
        "output.dense": 0.5,
        "classifier": 2.0,
    }
    gain = next((value for part, value in gains.items() if part in name), 1.0)
    return gain / math.sqrt(math.prod(shape[1:]))


_MAKERS: dict[str, tuple[str, Callable[[Path, int], None]]] = {
    "cryptobert": ("cryptobert", _cryptobert),
    "personality": ("bert-base-personality", _personality),
    "chinese": ("bert-tiny-chinese", _chinese),
    "convnext": ("convnext_base.clip_laion2b", _convnext),
    "xlmr": ("xlm-roberta-large", _xlmr),
}
NAMES = tuple(_MAKERS)


def main() -> None:
    """Make what is named, one after the other; print folders and sizes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="+", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    for name in asked.names:
        folder = make(name, seed=asked.seed)
        size = sum(file.stat().st_size for file in folder.iterdir())
        print(f"{name:12} {size / 1e6:8.1f} MB  {folder}", flush=True)


if __name__ == "__main__":
    main()
