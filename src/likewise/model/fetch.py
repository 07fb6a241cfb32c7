"""A hub name in; the folder it was downloaded to by the hub's own client, out.

The clients resume what was broken off, show progress on stderr, and honour mirrors, tokens and
offline switches (``HF_ENDPOINT``, ``HF_HUB_OFFLINE``, ``MODELSCOPE_ENDPOINT`` …).
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from likewise.errors import FolderError
from likewise.model.files import show
from likewise.model.hub import HUBS, Name

__all__ = ["fetch", "reason_against", "wanted"]

_PACKAGES = {"hf": "huggingface_hub", "ms": "modelscope_hub", "om": "openmind_hub"}
_INSTALL = {
    "hf": "pip install 'likewise[hub]'",
    "ms": "pip install 'likewise[hub]'",
    "om": "pip install openmind-hub, in an environment of its own: it pins requests",
}
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
_TRUE = ("1", "ON", "YES", "TRUE")
_SMALL = (".json", ".txt", ".model", ".md", ".jinja")
_LEGAL = ("LICENSE", "NOTICE")
_WEIGHTS = (".safetensors", ".bin")
_SAFE = ("model.safetensors", "model.safetensors.index.json")
_ELSEWHERE = (
    "checkpoint-",
    "onnx/",
    "openvino/",
    "coreml/",
    "tf/",
    "flax/",
    "original/",
    ".",
    "runs/",
)


def reason_against(name: Name) -> tuple[str, str]:
    """Return why a name cannot be fetched now and what to type; ("", "") where it can."""
    hub = name.hub or "hf"
    if importlib.util.find_spec(_PACKAGES[hub]) is None:
        return f"{_PACKAGES[hub]} is not installed, so nothing is fetched", _INSTALL[hub]
    offline = [key for key in _OFFLINE if os.environ.get(key, "").upper() in _TRUE]
    if hub == "hf" and offline:
        return f"{offline[0]} is set, so nothing is fetched", f"unset {offline[0]}"
    return "", ""


def fetch(name: Name) -> Path:
    """Download what likewise reads of a model: configuration, tokenizer and one set of weights.

    Raises:
        FolderError: the hub does not know the model, does not answer, or the download broke off.
    """
    hub = name.hub or "hf"
    try:
        return _CLIENTS[hub](name)
    except Exception as error:  # noqa: BLE001 - three clients, each with its own kinds
        first = str(error).strip().split("\n")[0] or type(error).__name__
        raise FolderError(
            f"{name.name} could not be fetched from {HUBS[hub]}.",
            found=f"{type(error).__name__}: {first}",
            fix="check name, revision and network, and run it again: what is there is kept",
        ) from None


def wanted(files: Iterable[str]) -> list[str]:
    """Return the files of a repository that likewise reads, less weights in a second format.

    >>> wanted(["config.json", "model.safetensors", "pytorch_model.bin", "onnx/model.onnx"])
    ['config.json', 'model.safetensors']
    """
    there = [file for file in files if not file.startswith(_ELSEWHERE)]
    safe = {file.rpartition("/")[0] for file in there if file.rpartition("/")[2] in _SAFE}
    return [
        file
        for file in there
        if file.endswith((*_SMALL, ".safetensors"))
        or file.rpartition("/")[2].startswith(_LEGAL)
        or (file.endswith(".bin") and file.rpartition("/")[0] not in safe and _is_model(file))
    ]


def _is_model(file: str) -> bool:
    return file.rpartition("/")[2].startswith("pytorch_model")


def _in_turns(files: Iterable[str], download: Callable[[list[str]], str | Path]) -> Path:
    """Call download with the patterns of each turn; return the folder when all files are in it.

    Clients also return without an error when a file did not come.
    """
    folder = Path()
    for turn in _turns(files):
        folder = Path(download(_exactly(turn)))
        missing = [file for file in turn if not (folder / file).is_file()]
        if missing:
            raise FileNotFoundError(f"{show(missing)} did not come")
    return folder


def _turns(files: Iterable[str]) -> list[list[str]]:
    """Return the files of each turn of a download; a turn adds files to the one before.

    The weights at the top come last: where they are, nothing else is missing.
    """
    whole = wanted(files)
    if not whole:
        raise FileNotFoundError("there is no file in it that likewise reads")
    light = [file for file in whole if not file.endswith(_WEIGHTS)]
    deep = [file for file in whole if not file.endswith(_WEIGHTS) or "/" in file]
    turns: list[list[str]] = []
    for turn in (light, deep, whole):
        if turn and turn not in turns:
            turns.append(turn)
    return turns


def _exactly(files: list[str]) -> list[str]:
    """Return patterns that match these names alone; clients read them as globs."""
    return [file.replace("[", "[[]") for file in files]


def _from_huggingface(name: Name) -> Path:
    import huggingface_hub

    revision = name.revision or None
    files = huggingface_hub.HfApi().list_repo_files(name.name, revision=revision)
    return _in_turns(
        files,
        lambda turn: huggingface_hub.snapshot_download(
            name.name, revision=revision, allow_patterns=turn
        ),
    )


def _from_modelscope(name: Name) -> Path:
    """Fetch into the folder of the revision; left alone, the client writes into an older cache's.

    There it would overwrite the files of another revision.
    """
    from modelscope_hub import HubApi, get_default_config

    api = HubApi()
    revision = name.revision or "master"
    listed = api.list_repo_files(name.name, "model", revision=revision)
    files = [file.path for file in listed if file.type == "blob"]
    models = Path(get_default_config().cache_dir) / "models"
    folder = models / name.name.replace("/", "--") / "snapshots" / revision
    return _in_turns(
        files,
        lambda turn: api.download_repo(
            name.name, "model", revision=revision, allow_patterns=turn, local_dir=folder
        ),
    )


def _from_openmind(name: Name) -> Path:
    import openmind_hub

    return Path(
        openmind_hub.snapshot_download(
            name.name,
            revision=name.revision or "main",
            ignore_patterns=["*.h5", "*.msgpack", "*.onnx", "*.ot", "*.gguf", "*.om"],
        )
    )


_CLIENTS = {"hf": _from_huggingface, "ms": _from_modelscope, "om": _from_openmind}
