"""A published checkpoint, in; a model folder that transformers, timm and likewise read, out.

Checkpoints are opened with ``torch.load(weights_only=True)``; the fairseq ones hold their command
line as an argparse.Namespace, the one class allowed besides tensors.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["write_bert_classifier", "write_bert_fillmask", "write_efficientnet", "write_fairseq"]

_FAIRSEQ = (
    ("decoder.sentence_encoder.", "roberta."),
    ("decoder.lm_head.weight", ""),  # the embedding table again: the head is tied
    ("decoder.", ""),
    ("embed_tokens", "embeddings.word_embeddings"),
    ("embed_positions", "embeddings.position_embeddings"),
    ("emb_layer_norm", "embeddings.LayerNorm"),
    ("roberta.layers.", "roberta.encoder.layer."),
    ("self_attn.q_proj", "attention.self.query"),
    ("self_attn.k_proj", "attention.self.key"),
    ("self_attn.v_proj", "attention.self.value"),
    ("self_attn.out_proj", "attention.output.dense"),
    ("self_attn_layer_norm", "attention.output.LayerNorm"),
    ("final_layer_norm", "output.LayerNorm"),
    ("fc1", "intermediate.dense"),
    ("fc2", "output.dense"),
)
_TIMM = (
    (r"^_conv_stem", "conv_stem"),
    (r"^_bn1", "bn2"),
    (r"^_bn0", "bn1"),
    (r"^_conv_head", "conv_head"),
    (r"^_fc", "classifier"),
)
_BLOCK = {
    "_expand_conv": "conv_pw",
    "_depthwise_conv": "conv_dw",
    "_project_conv": "conv_pwl",
    "_bn0": "bn1",
    "_bn1": "bn2",
    "_bn2": "bn3",
}
_FIRST_BLOCK = {
    "_depthwise_conv": "conv_dw",
    "_bn1": "bn1",
    "_project_conv": "conv_pw",
    "_bn2": "bn2",
}


def write_fairseq(checkpoint: Path, symbols: Path, *, family: str, folder: Path) -> None:
    """Write a RoBERTa or XLM-R fill-mask folder from fairseq's ``roberta_small`` over letters.

    Args:
        checkpoint: ``{"model": tensors, "args": Namespace, …}``.
        symbols: dict.txt: a symbol and its count a line, without the special ones.
        family: roberta | xlm-roberta.
        folder: empty.
    """
    import torch

    with torch.serialization.safe_globals([argparse.Namespace]):
        stored = torch.load(checkpoint, map_location="cpu", weights_only=True)
    tensors = {}
    for name, tensor in stored["model"].items():
        renamed = name
        for old, new in _FAIRSEQ:
            renamed = new if old == name else renamed.replace(old, new)
        if renamed:
            tensors[renamed] = tensor
    words, width = tensors["roberta.embeddings.word_embeddings.weight"].shape
    if not torch.equal(
        stored["model"]["decoder.lm_head.weight"],
        tensors["roberta.embeddings.word_embeddings.weight"],
    ):
        raise ValueError(f"{checkpoint} has a head that is not tied")
    # fairseq has no segment table; the class has one row, and adds it to every token
    tensors["roberta.embeddings.token_type_embeddings.weight"] = torch.zeros(1, width)
    positions = len(tensors["roberta.embeddings.position_embeddings.weight"])
    _write_letters(symbols, positions - 2, folder)
    prefix = {"roberta": "Roberta", "xlm-roberta": "XLMRoberta"}[family]
    config = {
        "architectures": [f"{prefix}ForMaskedLM"], "model_type": family,
        "vocab_size": words, "hidden_size": width,
        "num_hidden_layers": stored["args"].encoder_layers,
        "num_attention_heads": stored["args"].encoder_attention_heads,
        "intermediate_size": stored["args"].encoder_ffn_embed_dim,
        "hidden_act": stored["args"].activation_fn,
        "max_position_embeddings": positions, "type_vocab_size": 1, "layer_norm_eps": 1e-5,
        "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "tie_word_embeddings": True,
    }  # fmt: skip
    _write(folder, config, tensors)


def write_bert_fillmask(published: Path, words: Path, folder: Path) -> None:
    """Write a BERT fill-mask folder: ``pytorch_model.bin`` stays byte for byte as published."""
    shutil.copyfile(published / "pytorch_model.bin", folder / "pytorch_model.bin")
    _write_bert(published, words, folder, {"architectures": ["BertForMaskedLM"]})


def write_bert_classifier(
    published: Path, words: Path, folder: Path, head: tuple[str, tuple[str, ...]]
) -> None:
    """Write a BERT classifier from one head of several, ``cls.NAME.*`` → ``classifier.*``.

    Args:
        published: config.json and pytorch_model.bin.
        words: vocab.txt.
        folder: empty.
        head: its name, and its labels by index.
    """
    import torch
    from safetensors.torch import save_file

    name, labels = head
    stored = torch.load(published / "pytorch_model.bin", map_location="cpu", weights_only=True)
    kept = {key: tensor for key, tensor in stored.items() if key.startswith("bert.")}
    del kept["bert.embeddings.position_ids"]
    kept["classifier.weight"] = stored[f"cls.{name}.weight"]
    kept["classifier.bias"] = stored[f"cls.{name}.bias"]
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    changes = {
        "architectures": ["BertForSequenceClassification"],
        "id2label": {str(index): label for index, label in enumerate(labels)},
        "label2id": {label: index for index, label in enumerate(labels)},
        "problem_type": "single_label_classification",
    }
    _write_bert(published, words, folder, changes)


def write_efficientnet(checkpoint: Path, folder: Path) -> None:
    """Write a timm folder of ``tf_efficientnet_lite0``; its names must fit strictly."""
    import timm
    import torch

    stored = torch.load(checkpoint, map_location="cpu", weights_only=True)
    module = timm.create_model("tf_efficientnet_lite0", pretrained=False)
    blocks = [
        f"blocks.{stage}.{place}"
        for stage, s in enumerate(module.blocks)
        for place in range(len(s))
    ]
    tensors = {_timm_name(name, blocks): tensor for name, tensor in stored.items()}
    module.load_state_dict(tensors, strict=True)
    picture = {
        "tag": "in1k", "custom_load": False, "input_size": [3, 224, 224],
        "fixed_input_size": False, "interpolation": "bicubic", "crop_pct": 0.875,
        "crop_mode": "center", "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5],
        "num_classes": 1000, "pool_size": [7, 7], "first_conv": "conv_stem",
        "classifier": "classifier", "license": "apache-2.0",
    }  # fmt: skip
    config = {
        "architecture": "tf_efficientnet_lite0",
        "num_classes": 1000,
        "num_features": module.num_features,
        "global_pool": "avg",
        "pretrained_cfg": picture,
    }
    _write(folder, config, module.state_dict())


def _timm_name(name: str, blocks: list[str]) -> str:
    """Return timm's name of a tensor of the original implementation."""
    match = re.fullmatch(r"_blocks\.(\d+)\.(\w+?)\.(.+)", name)
    if match is None:
        for old, new in _TIMM:
            name, changed = re.subn(old, new, name)
            if changed:
                break
        return name
    index, layer, rest = int(match[1]), match[2], match[3]
    names = _FIRST_BLOCK if index == 0 else _BLOCK  # the first block does not expand
    return f"{blocks[index]}.{names[layer]}.{rest}"


def _write_bert(published: Path, words: Path, folder: Path, changes: Mapping[str, Any]) -> None:
    config = json.loads((published / "config.json").read_text(encoding="utf-8"))
    _json(folder / "config.json", {**config, **changes})
    shutil.copyfile(words, folder / "vocab.txt")
    stated = {"tokenizer_class": "BertTokenizer", "do_lower_case": False, "model_max_length": 512}
    _json(folder / "tokenizer_config.json", stated)


def _write_letters(symbols: Path, limit: int, folder: Path) -> None:
    """Write a tokenizer over single letters, in fairseq's order: specials, letters, <mask>."""
    from tokenizers import AddedToken, Regex, Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Sequence, Split, WhitespaceSplit
    from tokenizers.processors import RobertaProcessing

    letters = [line.split()[0] for line in symbols.read_text(encoding="utf-8").splitlines()]
    order = ["<s>", "<pad>", "</s>", "<unk>", *letters, "<mask>"]
    tokenizer = Tokenizer(WordLevel({word: index for index, word in enumerate(order)}, "<unk>"))
    tokenizer.pre_tokenizer = Sequence([WhitespaceSplit(), Split(Regex("."), "isolated")])
    tokenizer.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer.add_special_tokens([AddedToken(word, special=True) for word in specials])
    tokenizer.save(str(folder / "tokenizer.json"))
    stated = {
        "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": limit,
        "bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>",
        "pad_token": "<pad>", "unk_token": "<unk>", "mask_token": "<mask>",
    }  # fmt: skip
    _json(folder / "tokenizer_config.json", stated)


def _write(folder: Path, config: Mapping[str, Any], tensors: Mapping[str, Any]) -> None:
    from safetensors.torch import save_file

    plain = {name: tensor.contiguous() for name, tensor in tensors.items()}
    save_file(plain, folder / "model.safetensors", metadata={"format": "pt"})
    _json(folder / "config.json", config)


def _json(file: Path, content: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
