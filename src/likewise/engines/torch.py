"""A model and a batch in; what torch computes from them, eagerly, out."""

from __future__ import annotations

import collections
import importlib
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from likewise.engines._devices import versions
from likewise.engines._double import quicken
from likewise.engines._emulate import PRECISIONS, emulate
from likewise.engines._feeds import feeds
from likewise.engines._refusals import Abilities, offer, refusal
from likewise.errors import RefusedError
from likewise.types import Json, Model, Network, Offer, Plan

if TYPE_CHECKING:
    from likewise.types import Arrays

__all__ = ["name", "needs", "offers", "open", "refuse"]

name = "torch"
needs: tuple[str, ...] = ("torch", "transformers")

_ABILITIES = Abilities(
    engine=name,
    packages=("torch",),
    install="pip install 'likewise[port]'",
    dtypes=("float64", "float32", "bfloat16", "float16"),
    devices=("cpu", "cuda"),
    words=("sdpa",),
    valued={"emulate": PRECISIONS},
    also=("transformers", "timm"),
)
_OLDEST = (2, 9)  # the first with torch.backends.*.fp32_precision


def offers() -> list[Offer]:
    """Return one offer per device; never raises."""
    return [offer(_ABILITIES, device) for device in ("cpu", "cuda", "npu")]


def refuse(model: Model, network: Network, plan: Plan) -> str | None:  # noqa: ARG001 - the protocol
    """Return why this plan cannot run as asked, or None."""
    reason = refusal(_ABILITIES, plan)
    if reason is not None:
        return reason
    here = versions("torch")["torch"]
    if tuple(map(int, here.split(".")[:2])) < _OLDEST:
        return f"torch {here} cannot be told to compute float32 exactly; {_ABILITIES.install} -U"
    if model.library not in versions(model.library):
        return f"{model.library} is not installed; {_ABILITIES.install}"
    if not any(
        file.used and file.format in ("safetensors", "torch") for file in model.weight_files
    ):
        return f"{model.folder} holds no weights that torch can load"
    return _extra_reason(model, plan)


def _extra_reason(model: Model, plan: Plan) -> str | None:
    if plan.extra("emulate") and plan.dtype != "float32":
        return f"a precision is emulated in float32, not in {plan.dtype}"
    if "sdpa" in plan.extras and model.library == "timm":
        return "timm chooses its attention by itself; leave out the extra 'sdpa'"
    return None


def open(model: Model, network: Network, plan: Plan) -> TorchSession:
    """Load the weights onto the device; exact float32 arithmetic, no reduced-precision products.

    Raises:
        RefusedError: what runs would not be what the plan says.
        WeightsError: the weights are not this model's.
    """
    if plan.device == "cpu":
        _import_alone()
    from likewise.model.weights import load

    with _exactly(plan.threads):
        loaded = load(model, network, plan.dtype, seed=int(plan.extra("seed") or 0))
    if "sdpa" in plan.extras:
        _switch_attention(loaded.module, "sdpa")
    module = loaded.module.to(plan.device)
    if (plan.device, plan.dtype) == ("cpu", "float64"):
        quicken(module)
    rounded = plan.extra("emulate")
    if rounded is not None:
        emulate(module, rounded)
    session = TorchSession(module, network, plan, loaded.facts)
    session.check()
    return session


class TorchSession:
    """A torch module on a device."""

    def __init__(
        self, module: Any, network: Network, plan: Plan, loading: Mapping[str, Json]
    ) -> None:
        self._module = module
        self._network = network
        self._plan = plan
        self._loading = loading
        self._census = _census(module)
        self._attention = _attention(module)
        self._kinds = {n: "float32" if n == "pixel_values" else "int64" for n in network.inputs}

    @property
    def module(self) -> Any:
        """The module itself, for hooks and planted faults; None once the session is closed."""
        return self._module

    def run(self, inputs: Arrays) -> Arrays:
        """Compute one batch; outputs are on the host, in float32, or float64 in a float64 plan."""
        import torch

        if self._module is None:
            raise RefusedError("This session is closed.", fix="open the plan again")
        arrays = feeds(self._kinds, inputs, self._network)
        with _exactly(self._plan.threads), torch.inference_mode():
            tensors = [self._tensor(name, arrays) for name in self._network.inputs]
            outputs = self._module(*tensors)
            kind = torch.float64 if self._plan.dtype == "float64" else torch.float32
            host = [output.to("cpu", kind).numpy() for output in outputs]  # waits for the device
        return dict(zip(self._network.outputs, host, strict=True))

    def facts(self) -> Mapping[str, Json]:
        """Return what really runs, read back from the parameters and from torch."""
        with _exactly(self._plan.threads):
            flags = _flags()
        return {
            "engine": name,
            "device": " ".join(sorted(self._census["devices"])),
            "dtype": " ".join(sorted(self._census["dtypes"])),
            "threads": flags["threads"],
            "versions": versions("torch", "transformers", "timm", "numpy"),
            "fallbacks": [],
            "artefact": "",
            "census": self._census,
            "attention": self._attention,
            "emulated": self._plan.extra("emulate"),
            "flags": flags,
            "loading": dict(self._loading),
        }

    def close(self) -> None:
        """Free the module."""
        self._module = None

    def check(self) -> None:
        """Refuse parameters that are not where, or not what, the plan says.

        Raises:
            RefusedError: lists what was found.
        """
        dtypes, devices = self._census["dtypes"], self._census["devices"]
        kind = self._plan.device.partition(":")[0]
        if set(dtypes) != {self._plan.dtype} or {d.partition(":")[0] for d in devices} != {kind}:
            raise RefusedError(
                f"What was loaded is not what {self._plan} says.",
                found=f"parameters by dtype {dtypes}, by device {devices}",
            )

    def _tensor(self, name: str, arrays: Arrays) -> Any:
        import torch

        tensor = torch.from_numpy(arrays[name])
        if name == "pixel_values":
            return tensor.to(self._plan.device, getattr(torch, self._plan.dtype))
        return tensor.to(self._plan.device)


def _import_alone() -> None:
    """Import torch without the accelerators' packages, which it would load by itself.

    One that is there but broken would break the import, and so the CPU (case B094).
    """
    if "torch" in sys.modules:
        return
    with _stated("TORCH_DEVICE_BACKEND_AUTOLOAD", "0"):
        importlib.import_module("torch")


@contextmanager
def _stated(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextmanager
def _exactly(threads: int) -> Iterator[None]:
    """Compute float32 in float32, and the same way each time; then put torch back as it was.

    TF32 convolutions are torch's default on CUDA and look like a porting bug (case B107); bfloat16
    products of float32 matrices are one call away on a CPU.
    """
    with _ONE_AT_A_TIME:
        yield from _set_for_a_while(threads)


_ONE_AT_A_TIME = threading.RLock()
"""These settings are the process's, so threads that compute take turns."""


def _set_for_a_while(threads: int) -> Iterator[None]:
    before = _flags()
    _set({**before, **dict.fromkeys(_PRECISIONS, "ieee"), **_EXACT, "threads": threads})
    try:
        yield
    finally:
        _set(before)


_PRECISIONS = (
    "cuda.matmul",
    "cudnn.conv",
    "cudnn.rnn",
    "mkldnn.matmul",
    "mkldnn.conv",
    "mkldnn.rnn",
)
"""Where torch.backends keeps a precision for float32 arithmetic."""

_EXACT: Mapping[str, Json] = {
    "deterministic": True,
    "fill_uninitialized": False,  # no part of determinism here, and it takes time
}


def _flags() -> dict[str, Json]:
    """Return how torch computes now: {backend: float32 precision}, determinism, threads."""
    import torch

    backends = {name: attrgetter(name)(torch.backends) for name in _PRECISIONS}
    return {
        **{name: backend.fp32_precision for name, backend in backends.items()},
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "fill_uninitialized": torch.utils.deterministic.fill_uninitialized_memory,
        "mkldnn": torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled,
        "threads": torch.get_num_threads(),
    }


def _set(flags: Mapping[str, Json]) -> None:
    import torch

    for name in _PRECISIONS:
        attrgetter(name)(torch.backends).fp32_precision = flags[name]
    torch.use_deterministic_algorithms(flags["deterministic"], warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = flags["fill_uninitialized"]
    if torch.get_num_threads() != flags["threads"]:
        torch.set_num_threads(flags["threads"])


def _census(module: Any) -> dict[str, dict[str, int]]:
    """Count the parameters' elements by dtype and by device, as they are now."""
    dtypes: collections.Counter[str] = collections.Counter()
    devices: collections.Counter[str] = collections.Counter()
    for parameter in module.parameters():
        dtypes[str(parameter.dtype).removeprefix("torch.")] += parameter.numel()
        devices[str(parameter.device)] += parameter.numel()
    return {"dtypes": dict(dtypes), "devices": dict(devices)}


def _attention(module: Any) -> str:
    """Return the kind of attention that the configuration of the module says; "" if none."""
    kinds = {
        str(kind)
        for part in module.modules()
        if (kind := getattr(getattr(part, "config", None), "_attn_implementation", None))
    }
    return " ".join(sorted(kinds))


def _switch_attention(module: Any, kind: str) -> None:
    for part in module.modules():
        if hasattr(part, "set_attn_implementation"):
            part.set_attn_implementation(kind)
            return
    raise RefusedError(f"This model's attention cannot be switched to {kind!r}.")
