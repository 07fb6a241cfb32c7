"""A model folder in; which files are weights, which will be used, and what they hold, out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from likewise.errors import WeightsError
from likewise.model.files import digest, read_object, show
from likewise.model.header import Tensor, read_header
from likewise.model.pickled import Checkpoint, read_checkpoint
from likewise.model.twins import compare
from likewise.types import WeightFile

__all__ = ["Weights", "describe", "find_weights", "list_files"]

_FORMATS = {
    ".safetensors": "safetensors",
    ".bin": "torch",
    ".pt": "torch",
    ".pth": "torch",
    ".ckpt": "torch",
    ".onnx": "onnx",
    ".onnx_data": "onnx",
    ".xml": "openvino",
    ".h5": "tensorflow",
    ".msgpack": "flax",
    ".ot": "other",
    ".gguf": "other",
}
_NOT_WEIGHTS = ("training_args", "optimizer", "scheduler", "scaler", "rng_state", "random_states")
_PREFIXES = (  # left by DataParallel, torch.compile, FSDP, Lightning and other wrappers
    "module.", "_orig_mod.", "_fsdp_wrapped_module.", "state_dict.", "base_model.model.", "model.",
)  # fmt: skip
_LEARNT = (".weight", ".bias")
_ADAPTER = "adapter_model.safetensors"


@dataclass(frozen=True)
class Weights:
    """The weights that will be used, by their names in the architecture."""

    files: tuple[str, ...]  # relative to the model folder
    tensors: dict[str, Tensor]  # by stored name, less the prefix
    prefix: str = ""  # taken off every stored name
    nest: str = ""  # the key of a pickle that the state dict lies under
    warnings: tuple[str, ...] = ()

    @property
    def pickled(self) -> bool:
        """Whether torch has to open them."""
        return any(not file.endswith(".safetensors") for file in self.files)


def find_weights(folder: Path, core: Path) -> Weights | None:
    """Return the weights of the architecture; None where there are none at all.

    Args:
        folder: the model folder, which paths are relative to.
        core: the folder with config.json: the same, or a sub-folder of it.

    Raises:
        WeightsError: the file that would be used is damaged, unsafe or not all there.
    """
    single, sharded = core / "model.safetensors", core / "model.safetensors.index.json"
    pickle, pickles = core / "pytorch_model.bin", core / "pytorch_model.bin.index.json"
    warnings: tuple[str, ...] = ()
    nest = ""
    if single.is_file():
        files, tensors = [single], read_header(single)
        warnings = compare(tensors, pickle) if pickle.is_file() else ()
    elif sharded.is_file():
        files, tensors = _shards(sharded)
    elif pickle.is_file():
        checkpoint = read_checkpoint(pickle)
        files, tensors, nest = [pickle], checkpoint.tensors, checkpoint.nest
        warnings += _unopened(pickle, checkpoint)
    elif pickles.is_file():
        files, tensors = _shards(pickles)
    else:
        return None
    tensors, prefix = _strip(tensors)
    _refuse_whole_numbers(files[0], tensors)
    warnings += _notices(files, prefix, nest)
    if (core / _ADAPTER).is_file():
        warnings += (f"{_ADAPTER} is an adapter that is not merged: it is not applied",)
    names = tuple(file.relative_to(folder).as_posix() for file in files)
    return Weights(names, tensors, prefix, nest, warnings)


def _unopened(pickle: Path, checkpoint: Checkpoint) -> tuple[str, ...]:
    if not checkpoint.others:
        return ()
    return (f"{pickle.name} also holds tensors under {show(checkpoint.others)}: they are not used",)


def _refuse_whole_numbers(file: Path, tensors: Mapping[str, Tensor]) -> None:
    """Refuse weights that were quantised: without their scales they are other numbers."""
    found = [n for n, t in tensors.items() if n.endswith(_LEARNT) and not t.floating and t.elements]
    if found:
        kinds = sorted({tensors[name].dtype for name in found})
        raise WeightsError(
            f"{file} holds weights that are whole numbers.",
            found=f"{show(kinds)}: {show(found)}",
            fix="likewise makes its own quantised plans: get the weights as floating-point numbers",
        )


def list_files(folder: Path, used: Iterable[str] = ()) -> tuple[WeightFile, ...]:
    """Return every file of weights in the folder and one level below, the used ones with a sha256.

    Args:
        folder: the model folder.
        used: paths relative to it; these are read once, to the end.
    """
    chosen = set(used)
    paths = [p for pattern in ("*", "*/*") for p in folder.glob(pattern) if _is_weights(p)]
    paths += [folder / name for name in chosen if folder / name not in paths]
    found = [describe(folder, path, used=_name(folder, path) in chosen) for path in paths]
    return tuple(sorted(found, key=lambda file: (not file.used, file.path)))


def describe(folder: Path, path: Path, *, used: bool, sha256: str | None = None) -> WeightFile:
    """Return one file's facts; ``sha256`` is computed for a used file unless it is given."""
    if sha256 is None:
        sha256 = digest(path) if used else ""
    return WeightFile(_name(folder, path), _format(path), path.stat().st_size, sha256, used)


def _name(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


def _is_weights(path: Path) -> bool:
    hidden = path.name.startswith(".") or path.parent.name.startswith(".")
    known = path.suffix in _FORMATS or path.name.endswith(".onnx.data")
    return known and not hidden and path.is_file()


def _format(path: Path) -> str:
    if path.stem.startswith(_NOT_WEIGHTS):
        return "other"
    if path.name.endswith(".onnx.data"):
        return "onnx"
    if path.suffix == ".bin" and path.with_suffix(".xml").is_file():
        return "openvino"
    return _FORMATS.get(path.suffix, "other")


def _strip(tensors: dict[str, Tensor]) -> tuple[dict[str, Tensor], str]:
    prefix = ""
    while True:
        found = next((p for p in _PREFIXES if all(name.startswith(p) for name in tensors)), None)
        if found is None:
            return tensors, prefix
        tensors = {name.removeprefix(found): tensor for name, tensor in tensors.items()}
        prefix += found


def _notices(files: list[Path], prefix: str, nest: str) -> tuple[str, ...]:
    notices = []
    if prefix:
        notices.append(f"every tensor's name starts with {prefix!r}, which is taken off")
    if nest:
        notices.append(f"the tensors lie under {nest!r} in {files[0].name}, which is opened")
    if files[0].suffix == ".bin":
        notices.append(
            f"{files[0].name} is a pickle, opened weights-only; "
            "likewise convert FOLDER writes it as safetensors"
        )
    return tuple(notices)


def _shards(index: Path) -> tuple[list[Path], dict[str, Tensor]]:
    places = read_object(index).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise WeightsError(f"{index} has no weight_map.", fix="download the file again")
    names = sorted({str(name) for name in places.values()})
    outside = [name for name in names if Path(name).name != name]
    if outside:
        raise WeightsError(
            f"{index} names files outside its folder.", found=show(outside), fix="do not use it"
        )
    files = [index.parent / name for name in names]
    missing = [file.name for file in files if not file.is_file()]
    if missing:
        raise WeightsError(
            f"{index} names files that are not there.",
            found=f"missing: {show(missing)}",
            fix="download the missing files",
        )
    tensors: dict[str, Tensor] = {}
    for file in files:
        tensors |= read_header(file) if file.suffix == ".safetensors" else _table(file)
    lost = sorted(set(places) - set(tensors))
    if lost:
        raise WeightsError(
            f"{index} names tensors that no shard holds.",
            found=f"{len(lost)}: {show(lost)}",
            fix="download all shards again, from one version of the model",
        )
    return files, tensors


def _table(file: Path) -> dict[str, Tensor]:
    checkpoint = read_checkpoint(file)
    if checkpoint.nest:
        raise WeightsError(f"{file} nests its tensors, which shards cannot.", found=checkpoint.nest)
    return checkpoint.tensors
