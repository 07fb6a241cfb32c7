"""A Model and a Network in; a torch module that holds the file's numbers and no others, out."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from likewise.errors import FolderError, WeightsError
from likewise.model.checked import check, missing_error, sha256_of
from likewise.model.files import read_object, show
from likewise.model.modules import core_of
from likewise.model.pictures import classifier_names, picture_config
from likewise.model.stored import State, read_state
from likewise.model.weight_files import Weights, find_weights
from likewise.model.wrapped import wrap
from likewise.types import Json, Model, Network

__all__ = ["Loaded", "load"]

_DTYPES = ("float64", "float32", "bfloat16", "float16")
_MAPPINGS = {
    "hidden": "MODEL_MAPPING",
    "classes": "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING",
    "tokens": "MODEL_FOR_MASKED_LM_MAPPING",
}
_OURS = (
    "dtype", "torch_dtype", "return_dict", "use_return_dict", "torchscript", "use_cache",
    "output_attentions", "output_hidden_states", "chunk_size_feed_forward",
)  # fmt: skip
"""Said by the plan, never by the folder: none of them changes what is computed."""
_FETCHING = ("pretrained", "pretrained_cfg", "checkpoint_path", "cache_dir", "scriptable")


@dataclass(frozen=True)
class Loaded:
    """A module on the CPU in eval mode, and what is known of how it was loaded."""

    module: Any  # called with tensors in the order of network.inputs; gives a tuple of outputs
    facts: Mapping[str, Json]


def load(model: Model, network: Network, dtype: str, *, seed: int = 0) -> Loaded:
    """Load the weights that a network needs, eager attention, every number accounted for.

    Args:
        model: from ``read``.
        network: which head, and in which order its inputs come.
        dtype: float64 | float32 | bfloat16 | float16. Stored numbers are read exactly, brought
            to float32 (float64 where they are stored so and asked for so), then cast.
        seed: for whatever draws random numbers while the module is built. The result does not
            depend on it: loading twice with two seeds shows that.

    Raises:
        WeightsError: tensors are missing, left over or of another shape, a head was never
            trained, or the loaded numbers are not the file's.
        FolderError: the library does not know the architecture, or its config is contradictory.
    """
    if dtype not in _DTYPES:
        raise ValueError(f"{dtype!r} is none of {', '.join(_DTYPES)}")
    import torch

    core = core_of(model.folder)
    weights = find_weights(model.folder, core)
    if weights is None:
        raise WeightsError(f"{model.folder} has no weights that torch can load.")
    config = read_object(core / "config.json")
    exact = torch.float64 if dtype == model.stored_dtype == "float64" else torch.float32
    state = read_state(weights)
    _bring(state, exact)
    spare: tuple[str, ...] = ()
    with _seeded(seed), _quiet(model.library):
        if model.library == "timm":
            inner = _picture(model, network, config, state)
            spare = _spare(config, weights) if network.head == "picture_features" else ()
        else:
            inner = _text(model, network, config, state, exact)
    _refuse_untrained(model, network)
    state.tensors.clear()  # the module holds them now, and frees each one as it casts it
    inner = inner.to(getattr(torch, dtype)).eval().requires_grad_(False)
    census = check(inner, state, spare=spare, what=str(model.folder))
    digest, dtypes = sha256_of(inner)
    counts = {"tensors": len(state.stored), "checked": census.checked}
    names = {"missing": [], "unexpected": [], "unused": list(census.unused)}
    facts = {**names, **counts, "sha256": digest, "dtypes": dtypes, "seed": seed}
    return Loaded(wrap(inner, network), facts)


def _refuse_untrained(model: Model, network: Network) -> None:
    """Refuse a head that has tensors of the right shapes and was trained for something else."""
    head = network.head
    if head in ("classes", "tokens", "picture") and head not in model.trained_heads:
        raise WeightsError(
            f"{model.folder} has no head that was trained for {head}.",
            found=f"{model.architecture}; trained heads: {show(model.trained_heads) or 'none'}",
            fix="use a task whose head was trained, or get weights that hold it",
        )


def _bring(state: State, dtype: Any) -> None:
    """Bring the floating tensors to one dtype; two names of one tensor keep sharing it."""
    done: dict[int, Any] = {}
    for name, tensor in state.tensors.items():
        if tensor.is_floating_point() and tensor.dtype != dtype:
            key = tensor.data_ptr()
            if key not in done or done[key].shape != tensor.shape:
                done[key] = tensor.to(dtype)
            state.tensors[name] = done[key]


def _text(
    model: Model, network: Network, config: Mapping[str, Any], state: State, dtype: Any
) -> Any:
    from transformers.models.auto import modeling_auto
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    mapping = getattr(modeling_auto, _MAPPINGS[network.head])
    try:
        stated = {key: value for key, value in config.items() if key not in _OURS}
        if (
            network.head == "classes" and model.labels
        ):  # how many there are, the weights say; their names, read()
            names = dict(enumerate(model.labels))
            stated = {k: v for k, v in stated.items() if k != "num_labels"}
            stated |= {"id2label": names, "label2id": {name: i for i, name in names.items()}}
        settings = CONFIG_MAPPING[model.family].from_dict(stated)
        kind = mapping[type(settings)]
        pooled = "add_pooling_layer" in inspect.signature(kind.__init__).parameters
        inner, said = kind.from_pretrained(
            None,
            config=settings,
            state_dict=state.tensors,
            dtype=dtype,
            attn_implementation="eager",
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are refused below, with both shapes
            local_files_only=True,
            **({"add_pooling_layer": False} if pooled and network.head == "hidden" else {}),
        )
    except Exception as error:  # noqa: BLE001 - its configs and models raise nearly any kind
        raise FolderError(
            f"transformers cannot build {model.family!r} from {model.folder}.",
            found=_first_line(error),
            fix="correct config.json: the reason names what it stumbled on",
        ) from None
    _refuse_mismatched(model, said)
    if said["missing_keys"]:
        raise missing_error(sorted(said["missing_keys"]), str(model.folder))
    return inner


def _first_line(error: Exception) -> str:
    """Return what an error says: its kind, and the first of its lines that says anything."""
    said = " ".join(f"{error}".split())
    return f"{type(error).__name__}: {said[:300]}{' …' if len(said) > 300 else ''}"


def _refuse_mismatched(model: Model, said: Mapping[str, Any]) -> None:
    wrong = sorted(said["mismatched_keys"])
    if wrong:
        name, stored, expected = wrong[0]
        raise WeightsError(
            f"{model.folder}: the weights have other shapes than config.json describes.",
            found=f"{name} is {tuple(stored)}, and {tuple(expected)} is expected; "
            f"{len(wrong)} in all",
            fix="take config.json and weights from one version of the model",
        )


def _picture(model: Model, network: Network, config: Mapping[str, Any], state: State) -> Any:
    import timm

    picture = picture_config(config)
    options = config.get("model_args") or {}
    strange = sorted(set(options) & set(_FETCHING)) if isinstance(options, dict) else ["no object"]
    if strange:
        raise FolderError(
            f"{model.folder} has model_args that would fetch files, or are none.",
            found=show(strange),
        )
    options = dict(options)
    assert model.preprocessing is not None
    channels, height, width = model.preprocessing.size
    options.setdefault("in_chans", channels)
    if picture.get("fixed_input_size"):
        options.setdefault("img_size", (height, width))
    if picture.get("global_pool"):
        options.setdefault("global_pool", picture["global_pool"])
    options["num_classes"] = 0 if network.head == "picture_features" else picture["num_classes"]
    try:
        inner = timm.create_model(model.architecture, pretrained=False, **options)
        said = inner.load_state_dict(state.tensors, strict=False, assign=True)
    except Exception as error:  # noqa: BLE001 - each architecture checks its options in its own way
        raise FolderError(
            f"timm cannot build {model.architecture!r} from {model.folder}.",
            found=_first_line(error),
            fix="correct model_args in config.json, or install the timm that knows the name",
        ) from None
    if said.missing_keys:
        raise missing_error(list(said.missing_keys), str(model.folder))
    _refuse_other_size(model, inner, (height, width))
    return inner


def _refuse_other_size(model: Model, inner: Any, size: tuple[int, int]) -> None:
    """Refuse pictures of another size than a network of patches was built for."""
    patches = getattr(inner, "patch_embed", None)
    built = getattr(patches, "img_size", None)
    if built and getattr(patches, "strict_img_size", False) and tuple(built) != size:
        raise FolderError(
            f"{model.folder} makes pictures of another size than its network takes.",
            found=f"input_size {size[0]} × {size[1]}, built for {built[0]} × {built[1]}",
            fix="correct input_size in config.json, or add img_size to its model_args",
        )


def _spare(config: Mapping[str, Any], weights: Weights) -> tuple[str, ...]:
    return tuple(f"{name}." for name in classifier_names(config, weights.tensors))


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


@contextmanager
def _quiet(library: str) -> Iterator[None]:
    """Keep transformers from printing bars and reports: what they say is raised or in the facts."""
    if library == "timm":
        yield
        return
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
