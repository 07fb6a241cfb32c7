"""A model folder with pickled weights in; the same tensors as safetensors beside them, out.

Nothing in a pickle is run: it is read weights-only, and refused where it names anything else.
What was written is read again and compared with the source, bit by bit, before it gets its name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from likewise.errors import FolderError, WeightsError
from likewise.model.files import digest, read_object, show
from likewise.model.locate import locate
from likewise.model.pickled import Checkpoint, read_checkpoint

__all__ = ["Converted", "convert"]

_SINGLE = ("pytorch_model.bin", "model.safetensors")
_INDEX = ("pytorch_model.bin.index.json", "model.safetensors.index.json")
_PART = ".likewise-part"


@dataclass(frozen=True)
class Converted:
    """One pickle that now has a twin."""

    source: str  # relative to the folder
    target: str
    tensors: int
    size: int  # bytes of the target
    sha256: str  # of the target
    notes: tuple[str, ...] = ()


def convert(folder: str | Path) -> list[Converted]:
    """Write ``model.safetensors`` beside every ``pytorch_model.bin`` of a folder, and keep both.

    Shards keep their cut and get an index of their own; the modules of a sentence-transformers
    folder are converted too. Names stay as they are stored; a nested state dict is opened.

    Args:
        folder: a model folder.

    Returns:
        What was written, one entry a file.

    Raises:
        FolderError: there is nothing to convert, or safetensors are there already, or the folder
            cannot be written.
        WeightsError: a pickle is damaged or would run code, or what was written reads back
            otherwise; then nothing has been put in place for it.
    """
    root = locate(folder)
    jobs = [job for place in (root, *_inner_folders(root)) for job in _jobs(place)]
    from safetensors import SafetensorError

    if not jobs:
        raise FolderError(
            f"{root} has no pytorch_model.bin to convert.",
            found=show(sorted(p.name for p in root.iterdir()), 8),
            fix="name the folder that holds it",
        )
    there = [target for _, target in jobs if os.path.lexists(target)]
    there += [f for source, _ in jobs for f in _safe(source.parent) if f not in there]
    if there:
        raise FolderError(
            f"{root} has safetensors already; they are not overwritten.",
            found=show([file.relative_to(root).as_posix() for file in there]),
            fix="likewise inspect FOLDER says whether the two agree; remove one of them",
        )
    try:
        return _convert_all(jobs, root)
    except OSError as error:
        found = error.strerror or str(error)
    except SafetensorError as error:  # it wraps what the disk says
        found = str(error)
    raise FolderError(
        f"{root} cannot be written.",
        found=found,
        fix="make room, or copy the folder to a place that you may write",
    )


def _convert_all(jobs: list[tuple[Path, Path]], root: Path) -> list[Converted]:
    """Convert all or nothing: what one call has put in place goes again if it fails."""
    # A pickle that would run code is refused before anything is written.
    checkpoints = [read_checkpoint(source) for source, _ in jobs]
    indices = [
        source.parent / _INDEX[1]
        for source, _ in jobs
        if not (source.parent / _SINGLE[0]).is_file()
    ]
    try:
        done = [
            _convert(source, target, root, checkpoint)
            for (source, target), checkpoint in zip(jobs, checkpoints, strict=True)
        ]
        for index in dict.fromkeys(indices):
            _write_index(index.parent)
    except BaseException:
        for file in (*(target for _, target in jobs), *indices):
            file.unlink(missing_ok=True)
        raise
    return done


def _safe(place: Path) -> list[Path]:
    """Return what is read before any pickle of the same folder."""
    return [f for f in (place / _SINGLE[1], place / _INDEX[1]) if os.path.lexists(f)]


def _inner_folders(root: Path) -> list[Path]:
    return sorted(path for path in root.iterdir() if path.is_dir() and not path.is_symlink())


def _jobs(place: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each pickle of one folder, and where its twin goes."""
    if (place / _SINGLE[0]).is_file():
        yield place / _SINGLE[0], place / _SINGLE[1]
    elif (place / _INDEX[0]).is_file():
        names = sorted(set(_weight_map(place).values()))
        strange = [n for n in names if Path(n).name != n or not n.endswith(".bin")]
        missing = [n for n in names if n not in strange and not (place / n).is_file()]
        if strange or missing:
            raise WeightsError(
                f"{place / _INDEX[0]} names files that are not there.",
                found=show(strange + missing),
                fix="download the missing files",
            )
        if len({_twin(name) for name in names}) < len(names):
            raise WeightsError(
                f"{place / _INDEX[0]} names files that would become one.", found=show(names)
            )
        for name in names:
            yield place / name, place / _twin(name)


def _twin(name: str) -> str:
    return name.removesuffix(".bin").replace("pytorch_model", "model") + ".safetensors"


def _weight_map(place: Path) -> dict[str, str]:
    found = read_object(place / _INDEX[0]).get("weight_map")
    if not isinstance(found, dict) or not found:
        raise WeightsError(f"{place / _INDEX[0]} has no weight_map.", fix="download it again")
    return {str(name): str(file) for name, file in found.items()}


def _convert(source: Path, target: Path, root: Path, checkpoint: Checkpoint) -> Converted:
    from safetensors.torch import save_file

    state, notes = _load(source, checkpoint)
    part = target.with_name(target.name + _PART)
    try:
        save_file(_apart(state), str(part), metadata={"format": "pt"})
        _verify(part, state, source)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return Converted(
        source.relative_to(root).as_posix(),
        target.relative_to(root).as_posix(),
        len(state),
        target.stat().st_size,
        digest(target),
        notes,
    )


def _load(source: Path, checkpoint: Checkpoint) -> tuple[dict[str, Any], tuple[str, ...]]:
    import torch

    try:
        content = torch.load(source, map_location="cpu", weights_only=True)
    except Exception as error:  # noqa: BLE001 - torch raises many kinds for a bad pickle
        raise WeightsError(f"{source} is not opened.", found=str(error).split("\n")[0]) from None
    inner = content[checkpoint.nest] if checkpoint.nest else content
    state = {str(k): v for k, v in inner.items() if isinstance(v, torch.Tensor)}
    left = sorted(str(key) for key in inner if str(key) not in state)
    notes = []
    if checkpoint.others:
        notes.append(f"left out: further tensors under {show(checkpoint.others)}")
    if checkpoint.nest:
        notes.append(f"the state dict lay under {checkpoint.nest!r}; it is at the top now")
    if left:
        notes.append(f"left out, as they are no tensors: {show(left)}")
    return state, tuple(notes)


def _apart(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return tensors that lie in one piece each and share no memory, as safetensors wants them."""
    seen: set[int] = set()
    found = {}
    for name, tensor in state.items():
        place = tensor.untyped_storage().data_ptr()
        plain = tensor.detach()
        found[name] = plain.clone().contiguous() if place in seen else plain.contiguous()
        seen.add(place)
    return found


def _verify(part: Path, state: Mapping[str, Any], source: Path) -> None:
    """Compare what was written with the source, bit by bit."""
    import torch
    from safetensors import safe_open

    with safe_open(part, framework="pt") as file:
        wrong = sorted(set(file.keys()) ^ set(state))
        for name in set(file.keys()) & set(state):
            written, own = file.get_tensor(name), state[name].detach().contiguous()
            same = (written.dtype, written.shape) == (own.dtype, own.shape)
            if not same or not torch.equal(_bits(written), _bits(own)):
                wrong.append(name)
    if wrong:
        raise WeightsError(
            f"What was written for {source} does not read back the same.",
            found=show(wrong),
            fix="check the disk; nothing was put in place",
        )


def _bits(tensor: Any) -> Any:
    import torch

    return tensor.reshape(-1).view(torch.uint8)  # a NaN equals itself so


def _write_index(place: Path) -> None:
    index = read_object(place / _INDEX[0])
    index["weight_map"] = {name: _twin(file) for name, file in _weight_map(place).items()}
    part = place / (_INDEX[1] + _PART)
    try:
        part.write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")
        part.replace(place / _INDEX[1])
    finally:
        part.unlink(missing_ok=True)
