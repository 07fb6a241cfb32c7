"""A sentence-transformers folder in; its pooling, dense layers, limits and prompts, in order, out.

``modules.json`` is followed to the letter or the folder is refused: a module that is skipped gives
vectors of another space, and a search over them still seems to work (cases B049–B052).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from likewise.errors import FolderError, WeightsError
from likewise.model.files import flag, optional_json, read_json, read_object, show
from likewise.model.header import read_header
from likewise.model.pickled import read_checkpoint
from likewise.types import Dense, Pooling

__all__ = ["MODES", "Modules", "core_of", "is_sentence_transformer", "read_modules"]

_LEGACY = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
"""The old keys, in the order in which their vectors are joined."""

MODES = tuple(_LEGACY.values())
_ORDER = ("Transformer", "Pooling", "Dense", "Normalize")
_LIMIT_FILES = tuple(
    f"sentence_{family}_config.json"
    for family in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)


@dataclass(frozen=True)
class Modules:
    """What a sentence-transformers folder says beside the architecture."""

    core: str  # the Transformer's folder, relative to the model folder; "" for the same
    pooling: Pooling
    dense: tuple[Dense, ...] = ()
    dense_files: tuple[str, ...] = ()  # their weights, relative to the model folder
    normalise: bool = False
    max_tokens: int | None = None
    lower_case: bool = False  # every text is lower-cased before the tokenizer sees it
    prompts: Mapping[str, str] = field(default_factory=dict)
    default_prompt: str = ""  # its text


def is_sentence_transformer(folder: Path) -> bool:
    """Tell whether the folder has a ``modules.json``."""
    return (folder / "modules.json").is_file()


def core_of(folder: Path) -> Path:
    """Return the folder that holds the Transformer's config, tokenizer and weights."""
    return folder / read_modules(folder).core if is_sentence_transformer(folder) else folder


def read_modules(folder: Path) -> Modules:
    """Follow ``modules.json`` in order.

    Raises:
        FolderError: a module of another kind, in another order, or one that cannot be read.
        WeightsError: a Dense module's weights are missing, damaged or of another shape.
    """
    rows = [_row(folder, row) for row in _rows(folder)]
    kinds = [kind for kind, _ in rows]
    _check_order(folder, kinds)
    core = rows[0][1]
    pooling_file = folder / rows[1][1] / "config.json"
    config = read_object(pooling_file)
    pooling = _pooling(config, pooling_file)
    inputs = _width(config) * len(pooling.modes)
    dense, files = [], []
    for kind, path in rows[2:]:
        if kind == "Dense":
            layer, file = _dense(folder, path, inputs)
            dense.append(layer)
            files.append(file)
            inputs = layer.outputs
    most, lower = _limits(folder / core)
    prompts, default = _prompts(folder)
    return Modules(
        core=core,
        pooling=pooling,
        dense=tuple(dense),
        dense_files=tuple(files),
        normalise="Normalize" in kinds,
        max_tokens=most,
        lower_case=lower,
        prompts=prompts,
        default_prompt=default,
    )


def _rows(folder: Path) -> list[Any]:
    file = folder / "modules.json"
    rows = read_json(file)
    if not isinstance(rows, list) or not rows:
        raise FolderError(f"{file} holds no list of modules.", found=type(rows).__name__)
    return rows


def _row(folder: Path, row: Any) -> tuple[str, str]:
    """Return the module's kind and folder."""
    kind, path = (row.get("type"), row.get("path")) if isinstance(row, dict) else (None, None)
    if not isinstance(kind, str) or not isinstance(path, str):
        raise FolderError(
            f"{folder / 'modules.json'} has a row without type or path.",
            found=f"{row}",
            fix="download modules.json again",
        )
    package, _, name = kind.rpartition(".")
    known = package == "sentence_transformers" or package.startswith("sentence_transformers.")
    if not known or name not in _ORDER:
        raise FolderError(
            f"{folder.name} has a module that likewise does not compute.",
            found=f"{kind} in modules.json",
            fix=f"likewise follows {', '.join(_ORDER)}; it never leaves a module out",
        )
    if ".." in Path(path).parts or Path(path).is_absolute():
        raise FolderError(f"{folder / 'modules.json'} leaves its folder.", found=path)
    return name, path


def _check_order(folder: Path, kinds: list[str]) -> None:
    expected = ["Transformer", "Pooling", *["Dense"] * kinds.count("Dense")]
    expected += ["Normalize"] if kinds[-1] == "Normalize" else []
    if kinds != expected:
        raise FolderError(
            f"{folder.name} has its modules in an order that likewise does not compute.",
            found=", ".join(kinds),
            fix="Transformer, Pooling, any number of Dense, then Normalize or nothing",
        )


def _pooling(config: dict[str, Any], file: Path) -> Pooling:
    stated = config.get("pooling_mode")
    if stated is None:
        keys = [key for key in config if key.startswith("pooling_mode_")]
        on = [key for key in keys if flag(config, key, file, default=False)]
        modes = [_LEGACY.get(key, key) for key in sorted(on, key=_place)] or ["mean"]
    else:
        listed = [stated] if isinstance(stated, str) else list(stated)
        modes = [str(mode).removesuffix("_tokens") for mode in listed]
    strange = [mode for mode in modes if mode not in MODES]
    if strange or not modes:
        raise FolderError(
            f"{file} asks for a pooling that likewise does not compute.",
            found=show(strange) if strange else "none",
            fix=f"one or more of: {', '.join(MODES)}",
        )
    include = flag(config, "include_prompt", file, default=True)
    return Pooling(tuple(modes), assumed=False, include_prompt=include)


def _place(key: str) -> int:
    return list(_LEGACY).index(key) if key in _LEGACY else len(_LEGACY)


def _width(config: dict[str, Any]) -> int:
    """Return the width that the pooling states; 0 where it states none."""
    width = config.get("embedding_dimension", config.get("word_embedding_dimension"))
    return width if type(width) is int else 0


def _dense(folder: Path, path: str, inputs: int) -> tuple[Dense, str]:
    file = folder / path / "config.json"
    config = read_object(file)
    _check_dense(config, file)
    activation = str(config.get("activation_function", "torch.nn.modules.activation.Tanh"))
    layer = Dense(
        folder=path,
        inputs=int(config["in_features"]),
        outputs=int(config["out_features"]),
        bias=flag(config, "bias", file, default=True),
        activation=activation.rpartition(".")[2],
    )
    if inputs not in (0, layer.inputs):
        raise FolderError(
            f"{folder / path} does not fit the module before it.",
            found=f"{inputs} values come in, {layer.inputs} are expected",
        )
    return layer, _dense_weights(folder, path, layer)


def _check_dense(config: dict[str, Any], file: Path) -> None:
    whole = all(type(config.get(key)) is int for key in ("in_features", "out_features"))
    places = {config.get(f"module_{end}_name") for end in ("input", "output")}
    activation = config.get("activation_function", "torch.nn.Tanh")
    problems = {
        "in_features or out_features is not a number": not whole,
        "use_residual": bool(config.get("use_residual")),
        f"activation_function {activation!r}": not str(activation).startswith("torch.nn."),
        f"inputs and outputs {places}": bool(places - {None, "sentence_embedding"}),
    }
    found = [problem for problem, there in problems.items() if there]
    if found:
        raise FolderError(
            f"{file} describes a Dense module that likewise does not compute.", found=show(found)
        )


def _dense_weights(folder: Path, path: str, layer: Dense) -> str:
    safe, pickle = folder / path / "model.safetensors", folder / path / "pytorch_model.bin"
    if safe.is_file():
        file, shapes = safe, {name: t.shape for name, t in read_header(safe).items()}
    elif pickle.is_file():
        file, shapes = pickle, {n: t.shape for n, t in read_checkpoint(pickle).tensors.items()}
    else:
        raise WeightsError(
            f"The Dense module {folder / path} has no weights.",
            found="neither model.safetensors nor pytorch_model.bin",
            fix="download the folder again",
        )
    expected: dict[str, tuple[int, ...]] = {"linear.weight": (layer.outputs, layer.inputs)}
    expected |= {"linear.bias": (layer.outputs,)} if layer.bias else {}
    if shapes != expected:
        raise WeightsError(
            f"{file} does not fit its config.json.", found=f"{shapes}", fix=f"expected {expected}"
        )
    return file.relative_to(folder).as_posix()


def _limits(core: Path) -> tuple[int | None, bool]:
    """Return the most tokens that the folder states for sentences, and whether it lower-cases."""
    file = next((core / name for name in _LIMIT_FILES if (core / name).is_file()), None)
    if file is None:
        return None, False
    stated = read_object(file)
    _refuse_arguments(stated, file)
    most = stated.get("max_seq_length")
    if most is not None and type(most) is not int:
        raise FolderError(
            f"{file} has a max_seq_length that is no number.",
            found=f"{most!r}"[:200],
            fix="max_seq_length: a number of tokens",
        )
    return most, flag(stated, "do_lower_case", file, default=False)


_READ = ("max_seq_length", "do_lower_case", "modality_config", "module_output_name")
_WITHOUT_EFFECT = ("torch_dtype", "dtype", "attn_implementation", "trust_remote_code")


def _refuse_arguments(stated: Mapping[str, Any], file: Path) -> None:
    """Refuse arguments to the model, config or tokenizer: likewise reads those from their files."""
    for key, value in stated.items():
        given = set(value) - set(_WITHOUT_EFFECT) if isinstance(value, dict) else value
        usual = key == "transformer_task" and value == "feature-extraction"
        if given and key not in _READ and not usual:
            raise FolderError(
                f"{file} states {key}, which likewise does not apply.",
                found=f"{value!r}"[:200],
                fix="write it into config.json or tokenizer_config.json, where it belongs",
            )


def _prompts(folder: Path) -> tuple[dict[str, str], str]:
    file = folder / "config_sentence_transformers.json"
    config = optional_json(file)
    kind = config.get("model_type", "SentenceTransformer")
    if kind != "SentenceTransformer":
        raise FolderError(
            f"{file} says that this is no sentence embedder.",
            found=f"model_type {kind!r}",
            fix="likewise reads folders of SentenceTransformer",
        )
    stated = config.get("prompts") or {}
    prompts = {str(k): str(v or "") for k, v in stated.items()} if isinstance(stated, dict) else {}
    name = config.get("default_prompt_name")
    if name is not None and (not isinstance(name, str) or name not in prompts):
        raise FolderError(
            f"{file} names a default prompt that it does not hold.",
            found=f"{name!r}; prompts: {show(sorted(prompts)) or 'none'}",
        )
    return prompts, prompts[name] if name is not None else ""
