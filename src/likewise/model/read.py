"""A model folder in; the facts that it states, as a Model, without torch or transformers, out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from likewise.errors import FolderError, WeightsError
from likewise.model.export import Export, read_export
from likewise.model.files import digest, read_json, read_object, show
from likewise.model.hub import origin, unfinished
from likewise.model.locate import locate
from likewise.model.modules import Modules, is_sentence_transformer, read_modules
from likewise.model.overrides import read_stated, restate
from likewise.model.pictures import is_timm, picture_facts
from likewise.model.text import Body, text_facts
from likewise.model.weight_files import Weights, describe, find_weights, list_files
from likewise.settings import Overrides
from likewise.types import Model, WeightFile

__all__ = ["configuration", "read"]

_NAMES = (
    "config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
    "added_tokens.json", "vocab.txt", "vocab.json", "merges.txt", "sentencepiece.bpe.model",
    "spiece.model", "spm.model", "tokenizer.model", "modules.json",
    "config_sentence_transformers.json", "sentence_*_config.json", "likewise.json",
)  # fmt: skip
"""Every file that may say something about the model, beside its weights."""


def read(source: str | Path, overrides: Overrides | None = None) -> Model:
    """Read what a folder says of its model: configuration, tokenizer and weight headers.

    Args:
        source: a Hugging Face, sentence-transformers or timm folder, or one that ``port`` wrote.
        overrides: what the user states; it replaces what the folder, or a ``likewise.json`` in
            it, says. ``Model.warnings`` tells what was stated and what had to be assumed.

    Raises:
        FolderError: the folder, its configuration or its tokenizer is missing or contradictory.
        WeightsError: its weights are missing, damaged, unsafe, or not the ones described.
        SettingsError: an override cannot be.
    """
    folder = _inner(locate(source))
    stated, notices = read_stated(folder, overrides or Overrides())
    modules = read_modules(folder) if is_sentence_transformer(folder) else None
    if modules is None:
        _refuse_unlisted(folder)
    core = folder / modules.core if modules else folder
    if not (core / "config.json").is_file():
        raise _no_config(folder, core)
    config = read_object(core / "config.json")
    weights, export = find_weights(folder, core), read_export(folder)
    if weights is None and export is None:
        raise _no_weights(folder)
    if is_timm(config):
        facts = picture_facts(core / "config.json", config, weights, export, stated)
    else:
        facts = text_facts(Body(folder, core, config, modules, weights, export), stated)
    warnings = [*facts.pop("warnings"), *(weights.warnings if weights else ()), *notices]
    files = _weight_files(folder, modules, weights, export)
    model = Model(
        folder=folder,
        fingerprint=_fingerprint(folder, files, export),
        weight_files=files,
        origin=origin(folder),
        warnings=tuple(warnings + _ignored(files, export)),
        **facts,
    )
    return restate(model, stated)


def configuration(folder: Path) -> tuple[str, ...]:
    """Return the files that say what a model is, weights apart, relative to its folder."""
    places = [folder]
    if is_sentence_transformer(folder):
        places += [folder / row["path"] for row in read_json(folder / "modules.json")]
    found = {p for place in places for name in _NAMES for p in place.glob(name) if p.is_file()}
    return tuple(sorted(path.relative_to(folder).as_posix() for path in found))


def _inner(folder: Path) -> Path:
    """Step into ``model`` of a folder that ``port`` wrote."""
    ported = (folder / "model" / "config.json").is_file() or (
        folder / "model/modules.json"
    ).is_file()
    bare = not (folder / "config.json").is_file() and not is_sentence_transformer(folder)
    return folder / "model" if bare and ported else folder


def _refuse_unlisted(folder: Path) -> None:
    """Refuse a folder that has modules of sentence-transformers and has lost their list."""
    left = sorted(p.parent.name for p in folder.glob("[0-9]_*/config.json"))
    if left:
        raise FolderError(
            f"{folder} has modules of sentence-transformers, and no modules.json that lists them.",
            found=show(left),
            fix="download modules.json again; without it the vectors would be others",
        )


def _no_config(folder: Path, core: Path) -> FolderError:
    there = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    return FolderError(
        f"{core} has no config.json, so it is no model folder.",
        found=show(there, 8),
        fix="name the folder with config.json, tokenizer and weights in it",
    )


def _no_weights(folder: Path) -> WeightsError:
    others = [file for file in list_files(folder) if file.format != "other"]
    there = show([f"{file.path} ({file.format})" for file in others]) or "none"
    left = unfinished(folder)
    if left:
        return WeightsError(
            f"{folder} was not downloaded to its end.",
            found=f"unfinished: {show(left)}; weight files: {there}",
            fix="download it again with the same client: it goes on where it broke off",
        )
    return WeightsError(
        f"{folder} has no weights that likewise reads.",
        found=f"weight files: {there}",
        fix="put model.safetensors into the folder (or pytorch_model.bin), under that name",
    )


def _weight_files(
    folder: Path, modules: Modules | None, weights: Weights | None, export: Export | None
) -> tuple[WeightFile, ...]:
    dense = modules.dense_files if modules else ()
    if weights is not None:
        return list_files(folder, (*weights.files, *dense))
    # In a ported folder the graph stands for the architecture's weights; its manifest holds their
    # sha256, so nothing is read here. "used" asks what an engine loads: dense layers are not.
    assert export is not None
    return tuple(
        describe(folder, folder / file.path, used=True, sha256="") if _is_graph(file) else file
        for file in list_files(folder)
    )


def _is_graph(file: WeightFile) -> bool:
    return file.path.startswith("model.onnx")


def _fingerprint(folder: Path, files: Iterable[WeightFile], export: Export | None) -> str:
    """Return a sha256 over everything that decides an answer: configuration and used weights.

    A ported folder keeps the fingerprint of the model that it was made from: that was proven.
    """
    if export is not None and export.fingerprint:
        return export.fingerprint
    found = hashlib.sha256()
    for name in configuration(folder):
        found.update(f"{name} {digest(folder / name)}\n".encode())
    for file in files:
        if file.used:
            found.update(f"{file.path} {file.sha256}\n".encode())
    return found.hexdigest()


def _ignored(files: Iterable[WeightFile], export: Export | None) -> list[str]:
    """Return a notice of weights that are not used; a second pickle has been spoken of."""
    kinds: dict[str, list[str]] = {}
    for file in files:
        own = export is not None and _is_graph(file)
        said = file.path.endswith(("pytorch_model.bin", "adapter_model.safetensors"))
        if not (file.used or own or said or file.format == "other"):
            kinds.setdefault(file.format, []).append(file.path)
    return [f"{kind} files are not used: {show(names)}" for kind, names in kinds.items()]
