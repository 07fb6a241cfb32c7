"""A folder name in; a tiny model with real random weights in it, out.

Weights are drawn as shared/cases.md says, so that different texts give different answers:
embeddings N(0, 1), other matrices N(0, 0.3), LayerNorm 1 and 0, biases N(0, 0.1). Every builder
takes ``seed``, ``format`` (safetensors | bin | both), ``files`` (both | json | vocabulary: which
tokenizer files stay), and any key of the config.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tiny_pictures import timm_classifier, timm_features, timm_tower, write_json
from tiny_vocabularies import write_byte_bpe, write_unigram, write_wordpiece

LABELS = ("Bearish", "Neutral", "Bullish")
POSITIONS = 64  # usable tokens of every tiny model
__all__ = [
    "bert_classifier", "bert_encoder", "bert_fillmask", "distilbert_classifier",
    "distilbert_fillmask", "electra_classifier", "redraw", "roberta_classifier",
    "roberta_fillmask", "sentence_transformer", "timm_classifier", "timm_features", "timm_tower",
    "write_json", "xlmr_classifier", "xlmr_fillmask",
]  # fmt: skip
SHAPE = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
}


def bert_classifier(folder: Path, **changes: Any) -> Path:
    """Return a BertForSequenceClassification folder, three labels, uncased WordPiece."""
    return _bert(folder, "BertForSequenceClassification", _named(changes))


def bert_encoder(folder: Path, **changes: Any) -> Path:
    """Return a BertModel folder: no head, and no modules.json."""
    return _bert(folder, "BertModel", changes)


def bert_fillmask(folder: Path, **changes: Any) -> Path:
    """Return a BertForMaskedLM folder; the decoder is tied, so the file lacks it."""
    return _bert(folder, "BertForMaskedLM", changes)


def roberta_classifier(folder: Path, **changes: Any) -> Path:
    """Return a RobertaForSequenceClassification folder, byte-level BPE, pad id 1."""
    return _roberta(folder, "RobertaForSequenceClassification", _named(changes))


def roberta_fillmask(folder: Path, **changes: Any) -> Path:
    """Return a RobertaForMaskedLM folder with a tied decoder."""
    return _roberta(folder, "RobertaForMaskedLM", changes)


def xlmr_classifier(folder: Path, **changes: Any) -> Path:
    """Return an XLMRobertaForSequenceClassification folder, Unigram pieces."""
    return _xlmr(folder, "XLMRobertaForSequenceClassification", _named(changes))


def xlmr_fillmask(folder: Path, **changes: Any) -> Path:
    """Return an XLMRobertaForMaskedLM folder with a tied decoder."""
    return _xlmr(folder, "XLMRobertaForMaskedLM", changes)


def distilbert_classifier(folder: Path, **changes: Any) -> Path:
    """Return a DistilBertForSequenceClassification folder."""
    return _distilbert(folder, "DistilBertForSequenceClassification", _named(changes))


def distilbert_fillmask(folder: Path, **changes: Any) -> Path:
    """Return a DistilBertForMaskedLM folder with a tied projector."""
    return _distilbert(folder, "DistilBertForMaskedLM", changes)


def electra_classifier(folder: Path, **changes: Any) -> Path:
    """Return an ElectraForSequenceClassification folder."""
    options = _options(_named(changes))
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = write_wordpiece(folder, **options["words"])
    values = {**SHAPE, "embedding_size": 16, "max_position_embeddings": POSITIONS}
    return _save(
        folder, "ElectraForSequenceClassification", {**values, "vocab_size": vocabulary}, options
    )


def sentence_transformer(
    folder: Path,
    *,
    modes: Sequence[str] = ("mean",),
    dense: Sequence[tuple[int, str]] = (),
    dense_folders: Sequence[str] = (),
    normalise: bool = True,
    max_seq_length: int | None = 32,
    prompts: Mapping[str, str] | None = None,
    default_prompt_name: str | None = None,
    include_prompt: bool = True,
    transformer: str = "",
    **changes: Any,
) -> Path:
    """Return a sentence-transformers folder over a BERT encoder.

    Args:
        folder: where it is built.
        modes: pooling modes, concatenated: cls mean max mean_sqrt_len weightedmean lasttoken.
        dense: (outputs, activation class) of each Dense module, in order.
        dense_folders: their folder names; 2_Dense, 3_Dense … where not given.
        normalise: whether a Normalize module closes the row.
        max_seq_length: written to sentence_bert_config.json; None leaves the file out.
        prompts: by name.
        default_prompt_name: the prompt that is always applied.
        include_prompt: whether prompt tokens are pooled.
        transformer: the sub-folder of the Transformer module: "" or 0_Transformer.
        changes: seed, format, files, and keys of the BERT config.
    """
    bert_encoder(folder / transformer, **changes)
    width = int(changes.get("hidden_size", SHAPE["hidden_size"]))
    modules = [("Transformer", transformer), ("Pooling", "1_Pooling")]
    _write_pooling(folder / "1_Pooling", width, modes, include_prompt=include_prompt)
    inputs = width * len(modes)
    for index, (outputs, activation) in enumerate(dense):
        name = dense_folders[index] if dense_folders else f"{index + 2}_Dense"
        _write_dense(folder / name, (inputs, outputs), activation, seed=index)
        modules.append(("Dense", name))
        inputs = outputs
    if normalise:
        name = f"{len(modules)}_Normalize"
        (folder / name).mkdir()
        modules.append(("Normalize", name))
    rows = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (kind, path) in enumerate(modules)
    ]
    write_json(folder / "modules.json", rows)
    config = {"prompts": dict(prompts or {}), "default_prompt_name": default_prompt_name}
    write_json(folder / "config_sentence_transformers.json", config)
    if max_seq_length is not None:
        limits = {"max_seq_length": max_seq_length, "do_lower_case": False}
        write_json(folder / transformer / "sentence_bert_config.json", limits)
    return folder


def redraw(module: Any, seed: int) -> None:
    """Draw every parameter again, so that different inputs give different outputs."""
    import torch

    random = torch.Generator().manual_seed(seed)
    tables = {id(m.weight) for m in module.modules() if isinstance(m, torch.nn.Embedding)}
    with torch.no_grad():
        for name, value in module.named_parameters():
            if id(value) in tables:
                value.normal_(0.0, 1.0, generator=random)
            elif value.ndim >= 2:
                value.normal_(0.0, 0.3, generator=random)
            elif "norm" not in name.lower() and name.endswith("bias"):
                value.normal_(0.0, 0.1, generator=random)


def _named(changes: dict[str, Any]) -> dict[str, Any]:
    if {"num_labels", "id2label"} & set(changes):
        return changes
    return {"id2label": dict(enumerate(LABELS)), **changes}


def _options(changes: dict[str, Any]) -> dict[str, Any]:
    rest = dict(changes)
    words = {key: rest.pop(key) for key in ("files", "cased", "add_prefix_space") if key in rest}
    options = {"seed": rest.pop("seed", 0), "format": rest.pop("format", "safetensors")}
    return {**options, "words": words, "changes": rest}


def _bert(folder: Path, architecture: str, changes: dict[str, Any]) -> Path:
    options = _options(changes)
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = write_wordpiece(folder, **options["words"])
    values = {**SHAPE, "max_position_embeddings": POSITIONS, "vocab_size": vocabulary}
    return _save(folder, architecture, values, options)


def _distilbert(folder: Path, architecture: str, changes: dict[str, Any]) -> Path:
    options = _options(changes)
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = write_wordpiece(folder, kind="DistilBertTokenizer", **options["words"])
    values = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32}
    values |= {"max_position_embeddings": POSITIONS, "vocab_size": vocabulary}
    return _save(folder, architecture, values, options)


def _roberta(folder: Path, architecture: str, changes: dict[str, Any]) -> Path:
    options = _options(changes)
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = write_byte_bpe(folder, **options["words"])
    return _save(folder, architecture, _roberta_values(vocabulary), options)


def _xlmr(folder: Path, architecture: str, changes: dict[str, Any]) -> Path:
    options = _options(changes)
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = write_unigram(folder, **options["words"])
    return _save(folder, architecture, _roberta_values(vocabulary), options)


def _roberta_values(vocabulary: int) -> dict[str, Any]:
    ids = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
    shape = {"max_position_embeddings": POSITIONS + 2, "type_vocab_size": 1}
    return {**SHAPE, **ids, **shape, "layer_norm_eps": 1e-5, "vocab_size": vocabulary}


def _save(folder: Path, architecture: str, values: dict[str, Any], options: dict[str, Any]) -> Path:
    import transformers

    kind = getattr(transformers, architecture)
    module = kind(kind.config_class(**{**values, **options["changes"]})).eval()
    redraw(module, options["seed"])
    module.save_pretrained(str(folder))
    _write_format(folder, options["format"])
    return folder


def _write_format(folder: Path, format: str) -> None:
    import torch
    from safetensors.torch import load_file

    weights = folder / "model.safetensors"
    if format in ("bin", "both"):
        torch.save(load_file(weights), folder / "pytorch_model.bin")
    if format == "bin":
        weights.unlink()


def _write_pooling(folder: Path, width: int, modes: Sequence[str], *, include_prompt: bool) -> None:
    keys = {
        "cls": "pooling_mode_cls_token",
        "mean": "pooling_mode_mean_tokens",
        "max": "pooling_mode_max_tokens",
        "mean_sqrt_len": "pooling_mode_mean_sqrt_len_tokens",
        "weightedmean": "pooling_mode_weightedmean_tokens",
        "lasttoken": "pooling_mode_lasttoken",
    }
    chosen = {key: mode in modes for mode, key in keys.items()}
    config = {"word_embedding_dimension": width, **chosen, "include_prompt": include_prompt}
    write_json(folder / "config.json", config)


def _write_dense(folder: Path, shape: tuple[int, int], activation: str, *, seed: int) -> None:
    import torch
    from safetensors.torch import save_file

    inputs, outputs = shape
    path = "linear.Identity" if activation == "Identity" else f"activation.{activation}"
    config = {
        "in_features": inputs,
        "out_features": outputs,
        "bias": True,
        "activation_function": f"torch.nn.modules.{path}",
    }
    write_json(folder / "config.json", config)
    random = torch.Generator().manual_seed(1000 + seed)
    weight = torch.empty(outputs, inputs).normal_(0.0, 0.3, generator=random)
    bias = torch.empty(outputs).normal_(0.0, 0.1, generator=random)
    save_file({"linear.weight": weight, "linear.bias": bias}, folder / "model.safetensors")
