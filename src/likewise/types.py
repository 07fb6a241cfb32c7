"""The values that pass between rooms, and the protocols that plug-ins follow.

Shape letters: N items, R rows, T tokens, D features, C classes, V vocabulary, H×W pixels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from likewise.errors import PlanError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[Any]
    Floats: TypeAlias = npt.NDArray[np.floating[Any]]
    Ints: TypeAlias = npt.NDArray[np.integer[Any]]
    Arrays: TypeAlias = dict[str, npt.NDArray[Any]]

Json: TypeAlias = Any
"""None, bool, int, float, str, or lists and string-keyed dicts of them."""

Item: TypeAlias = Any
"""What a person hands in: a str for text tasks, or a tuple of two for a classifier of pairs; a
path, bytes or PIL picture for picture tasks."""

Answer: TypeAlias = dict[str, Any]
"""One item's answer, JSON-ready; {"error": reason} where the item has none."""

Kind: TypeAlias = Literal["logits", "scores", "distribution", "vector"]
Outcome: TypeAlias = Literal["equal", "within", "outside", "undecided"]
Overflow: TypeAlias = Literal["cut", "refuse", "window"]
Dtype: TypeAlias = Literal["float64", "float32", "bfloat16", "float16", "int8"]

DTYPES: tuple[str, ...] = ("float64", "float32", "bfloat16", "float16", "int8")


# ---- the model -------------------------------------------------------------------------------


@dataclass(frozen=True)
class WeightFile:
    """One file of weights in the folder."""

    path: str  # relative to the folder, with forward slashes
    format: str  # safetensors | torch | onnx | openvino | tensorflow | flax | other
    size: int  # bytes
    sha256: str  # "" where the file is not one that will be used
    used: bool


@dataclass(frozen=True)
class Dense:
    """A sentence-transformers Dense module: y = activation(x W^T + b), after pooling."""

    folder: str  # relative to the model folder
    inputs: int
    outputs: int
    bias: bool
    activation: str  # the class name at the end of the config's dotted path: Tanh, Identity …


@dataclass(frozen=True)
class Pooling:
    """How token vectors become one vector."""

    modes: tuple[str, ...]  # of: cls mean max mean_sqrt_len weightedmean lasttoken; concatenated
    assumed: bool  # True where the folder does not say
    include_prompt: bool = True


@dataclass(frozen=True)
class Preprocessing:
    """How a picture becomes pixels, from the folder's pretrained_cfg."""

    size: tuple[int, int, int]  # channels, H, W
    interpolation: str  # bicubic | bilinear | nearest | lanczos …
    crop_pct: float
    crop_mode: str  # center | squash | border
    mean: tuple[float, ...]
    std: tuple[float, ...]


@dataclass(frozen=True)
class Model:
    """What a folder on disk *is*: no weights in memory, and no opinion on the task.

    Built by ``likewise.model.read``; tasks claim it by these facts alone.
    """

    folder: Path
    fingerprint: str  # sha256 over the configuration and the weights that will be used
    library: Literal["transformers", "timm"]  # who defines the architecture
    architecture: str  # config.architectures[0], or the timm architecture; "" where unsaid
    family: str  # config.model_type: bert, roberta, …; the timm architecture for pictures
    parameters: int | None  # elements in the weight file; None where it cannot be told
    layers: int
    width: int  # hidden size, D
    vocabulary: int  # rows of the embedding table, V; 0 for pictures
    max_tokens: int  # usable tokens, special tokens included; 0 for pictures
    stored_dtype: str  # dtype of most stored elements
    tokenizer: str  # the file the tokenizer comes from: tokenizer.json, vocab.txt …; "" if none
    trained_heads: tuple[str, ...]  # of: classes tokens picture; judged by tensor names and shapes
    sentence_transformer: bool  # modules.json is there
    labels: tuple[str, ...] = ()  # by index; () where the model has none
    problem_type: str = ""  # as the folder says; "" where it does not
    pooling: Pooling | None = None  # None for pictures
    dense: tuple[Dense, ...] = ()
    normalise: bool | None = None  # None where the folder does not say
    truncate_dim: int | None = None  # numbers kept of each vector; None for all
    prompts: Mapping[str, str] = field(default_factory=dict)
    default_prompt: str = ""  # the prompt's text; "" for none
    lower_case: bool | None = None
    token_types: int = 0  # rows of the segment table; 0 where the model has none
    preprocessing: Preprocessing | None = None
    classes_head: bool = False  # timm: the last layer scores classes (not a projection)
    limits: Mapping[str, int] = field(default_factory=dict)  # tokens, by who states them
    task: str = ""  # as stated beside the model
    overflow: Overflow = "cut"  # what becomes of a text over the limit
    threshold: float | None = None  # multi-label: labels from this score on are answered
    targets: tuple[str, ...] = ()  # fill-mask: words that answers are drawn from
    weight_files: tuple[WeightFile, ...] = ()
    origin: str = ""  # hub:name@revision where it lies in a hub's cache
    warnings: tuple[str, ...] = ()


# ---- the plan --------------------------------------------------------------------------------

_EXTRA = re.compile(r"[a-z][a-z0-9_.-]*(=[A-Za-z0-9_.:+-]+)?")
_DEVICE = re.compile(r"[a-z]+(:\d+)?")


@dataclass(frozen=True, order=True)
class Plan:
    """One way to run a model; the same word in flags, caches and reports.

    >>> Plan.parse("onnx/cpu/float32/b16/t2")
    Plan(engine='onnx', device='cpu', dtype='float32', batch=16, threads=2, extras=())
    >>> str(Plan("torch", "npu:1", "bfloat16", 8, 4, ("fast",)))
    'torch/npu:1/bfloat16/b8/t4/fast'
    """

    engine: str
    device: str
    dtype: str
    batch: int  # items, at most
    threads: int
    extras: tuple[str, ...] = ()  # sorted, distinct: word or word=value

    def __str__(self) -> str:
        parts = (self.engine, self.device, self.dtype, f"b{self.batch}", f"t{self.threads}")
        return "/".join((*parts, *self.extras))

    @property
    def slug(self) -> str:
        """The plan as a file name."""
        return str(self).replace("/", "-").replace(":", "_")

    def extra(self, name: str) -> str | None:
        """Return the value of the extra ``name=value``, or None."""
        return next((e.partition("=")[2] for e in self.extras if e.partition("=")[0] == name), None)

    @staticmethod
    def parse(text: str) -> Plan:
        """Read a plan from its spelling.

        Raises:
            PlanError: the text is not ``engine/device/dtype/b<batch>/t<threads>[/extra …]``.
        """
        parts = text.strip().split("/")
        if len(parts) < 5:
            raise _not_a_plan(text, f"{len(parts)} part(s) where a plan has 5")
        engine, device, dtype, batch, threads, *extras = parts
        checks = (
            (re.fullmatch(r"[a-z][a-z0-9_]*", engine), f"engine {engine!r}"),
            (_DEVICE.fullmatch(device), f"device {device!r}"),
            (dtype in DTYPES, f"dtype {dtype!r}, which is none of {', '.join(DTYPES)}"),
            (re.fullmatch(r"b[1-9]\d{0,5}", batch), f"batch {batch!r}"),
            (re.fullmatch(r"t[1-9]\d{0,3}", threads), f"threads {threads!r}"),
            (all(_EXTRA.fullmatch(e) for e in extras), f"extras {extras}"),
        )
        for good, found in checks:
            if not good:
                raise _not_a_plan(text, found)
        return Plan(
            engine, device, dtype, int(batch[1:]), int(threads[1:]), tuple(sorted(set(extras)))
        )


def _not_a_plan(text: str, found: str) -> PlanError:
    return PlanError(
        f"{text!r} is not a plan.",
        found=found,
        fix="engine/device/dtype/b<batch>/t<threads>, as in onnx/cpu/float32/b16/t2",
    )


# ---- computing -------------------------------------------------------------------------------

Head: TypeAlias = Literal["hidden", "classes", "tokens", "picture", "picture_features"]


@dataclass(frozen=True)
class Network:
    """Which tensors an engine is to compute: all that a task tells it.

    head              inputs                                              output
    hidden            input_ids, attention_mask[, token_type_ids] (N, T)  last_hidden_state (N,T,D)
    classes           the same                                            logits (N, C)
    tokens            the same, and rows (R,): flat positions n*T + t     logits (R, V), those only
    picture           pixel_values (N, 3, H, W)                           logits (N, C)
    picture_features  the same                                            features (N, D), no head
    """

    head: Head
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class Offer:
    """What an engine can do on a device of this machine, or why it cannot."""

    engine: str
    device: str
    dtypes: tuple[str, ...]  # empty where reason says why
    reason: str | None  # None where it is ready
    fix: str = ""  # what to type to make it ready
    versions: Mapping[str, str] = field(default_factory=dict)


class Session(Protocol):
    """A network opened on a device, ready to compute."""

    def run(self, inputs: Arrays) -> Arrays:
        """Compute one batch; return when every output is on the host, in float32 (or float64)."""
        ...

    def facts(self) -> Mapping[str, Json]:
        """Return what *really* runs.

        At least: engine, device (of every parameter, or the provider), dtype (effective, read
        back), threads, versions {package: version}, fallbacks [operator names],
        artefact (path or "").
        """
        ...

    def close(self) -> None:
        """Free the memory."""
        ...


class Engine(Protocol):
    """A module ``likewise/engines/NAME.py`` with these names at its top level."""

    name: str
    needs: tuple[str, ...]  # packages, as pip names them

    def offers(self) -> list[Offer]:
        """Return one offer per device that this engine could use; never raises."""
        ...

    def refuse(self, model: Model, network: Network, plan: Plan) -> str | None:
        """Return why this plan cannot run as asked, or None. Cheap: loads no weights."""
        ...

    def open(self, model: Model, network: Network, plan: Plan) -> Session:
        """Load the weights and return a session.

        Raises:
            RefusedError: what runs would not be what the plan says.
        """
        ...


@dataclass(frozen=True)
class Row:
    """One encoded item, not yet padded to its neighbours."""

    arrays: Arrays  # without the N axis: input_ids (T,), pixel_values (3, H, W); {} on a problem
    tokens: int  # the item's cost and its sort key; 1 for pictures
    notes: Mapping[str, Json] = field(default_factory=dict)  # joins the answer: truncated, …
    problem: str | None = None  # why this item has no answer


class Task(Protocol):
    """What the numbers mean: the same code before and after every engine; CPU only."""

    name: str
    network: Network
    takes: str  # the name of the probes that suit it: text, masked, picture
    kinds: Mapping[str, Kind]  # what ``finish`` returns, by name: {"logits": "logits", …}
    window: int  # items encoded at once
    assumptions: tuple[str, ...]  # what the folder does not say and this task assumes, aloud

    def facts(self) -> Mapping[str, Json]:
        """Return the contract: pooling, normalise, activation, labels, limit and casing."""
        ...

    def hints(self) -> Mapping[str, Json]:
        """Return what probes need: mask_token, max_tokens, words (from the vocabulary), size."""
        ...

    def encode(self, items: Sequence[Item]) -> list[Row]:
        """Return one row per item, in order; an item that cannot be read has a problem."""
        ...

    def collate(self, rows: Sequence[Row]) -> Arrays:
        """Return one batch (N, …), padded to the longest row."""
        ...

    def owners(self, inputs: Arrays) -> Ints:
        """Return (R,) ints: which of the batch's items each output row belongs to."""
        ...

    def finish(self, inputs: Arrays, outputs: Arrays) -> Arrays:
        """Return arrays (R, …) by the names in ``kinds``; keeps float64 where it is given."""
        ...

    def answers(self, inputs: Arrays, arrays: Arrays, *, top: int | None) -> list[Answer]:
        """Return one answer per item of the batch, best first."""
        ...


@dataclass(frozen=True, eq=False)
class Run:
    """What happened when a plan ran over items."""

    plan: Plan
    facts: Mapping[str, Json]
    items_fingerprint: str
    count: int  # items handed in, N
    arrays: Arrays  # {name: (R, …)} in item order; {} where they were not kept
    owners: Ints  # (R,) which item each row belongs to
    tokens: Ints  # (N,) tokens of each item; 0 where it has a problem
    answers: list[Answer]  # one per item
    seconds: Mapping[str, tuple[float, ...]]  # encode per window; compute, finish per batch


@dataclass(frozen=True)
class Probe:
    """One input that a verdict is made from, and what it is there for."""

    item: Item
    group: str  # english, chinese, emoji, ladder, …: per-group rows of the verdict


# ---- judging ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measure:
    """One figure about two runs, and the limit it is held to."""

    metric: str
    on: str  # the output it was taken on: logits, vector … or "run", "load"
    value: float | None  # None where it could not be measured: then reason says why
    unit: str
    n: int  # rows or items it is made from
    limit: float | None = None  # None: shown, not judged
    better: Literal["lower", "higher"] = "lower"
    source: str = ""  # where the limit comes from
    holds: bool | None = None  # None: shown, not judged
    worst_item: int | None = None
    reason: str = ""
    gate: str = ""  # G0, G1, G2 …
    check: str = ""


class Metric(Protocol):
    """A module ``likewise/metrics/NAME.py`` with these names at its top level."""

    kinds: tuple[Kind, ...]
    better: Literal["lower", "higher"]
    unit: str

    def measure(self, reference: Floats, candidate: Floats) -> Measure:
        """Compare two (R, …) arrays row by row in float64; NaN never compares well."""
        ...
