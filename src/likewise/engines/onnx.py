"""A model and a batch in; what ONNX Runtime computes from its graph on the CPU, out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.engines import _export
from likewise.engines._devices import versions
from likewise.engines._feeds import feeds, refuse_unknown
from likewise.engines._foreign import Foreign
from likewise.engines._refusals import Abilities, offer, refusal
from likewise.errors import RefusedError
from likewise.types import Json, Model, Network, Offer, Plan, Session

if TYPE_CHECKING:
    from likewise.types import Arrays

__all__ = ["name", "needs", "offers", "open", "open_file", "refuse"]

name = "onnx"
needs: tuple[str, ...] = ("onnxruntime",)

_ABILITIES = Abilities(
    engine=name,
    packages=("onnxruntime",),
    install="pip install likewise",
    dtypes=("float32",),
    graphs=("float32", "float16", "int8"),
)
_PROVIDER = "CPUExecutionProvider"
_KINDS = {
    "tensor(int64)": "int64",
    "tensor(int32)": "int32",
    "tensor(float)": "float32",
    "tensor(float16)": "float16",
    "tensor(double)": "float64",
    "tensor(bool)": "bool",
}


def offers() -> list[Offer]:
    """Return one offer per device; never raises."""
    return [offer(_ABILITIES)]


def refuse(model: Model, network: Network, plan: Plan) -> str | None:
    """Return why this plan cannot run as asked, or None."""
    return refusal(_ABILITIES, plan) or _export.reason_against(model, network, plan)


def open(model: Model, network: Network, plan: Plan) -> Session:
    """Open a session on the model's graph, exported now if that was not done yet.

    Raises:
        RefusedError: there is no graph, or what runs would not be what the plan says.
    """
    return _export.open_graph(model, network, plan, open_file)


def open_file(file: Path, network: Network, plan: Plan, foreign: Foreign | None) -> OnnxSession:
    """Open one graph as a plan says; ``foreign`` where it came with the model.

    Raises:
        RefusedError: the runtime cannot open it, or would run something else.
    """
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # likewise never phones home
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = plan.threads  # given, so no affinity is set (case B113)
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    # A memory plan for every new shape costs a third of the speed and grows (case B110).
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(file), options, providers=[_PROVIDER])
    except Exception as error:  # noqa: BLE001 - the runtime's errors share no class of their own
        raise RefusedError(f"ONNX Runtime cannot open {file}.", found=str(error)) from None
    if session.get_providers() != [_PROVIDER]:
        raise RefusedError(
            f"What was opened is not what {plan} says.",
            found=f"providers {', '.join(session.get_providers())}",
        )
    return OnnxSession(session, network, plan, file, foreign)


class OnnxSession:
    """An ONNX Runtime session on the CPU."""

    def __init__(
        self, session: Any, network: Network, plan: Plan, file: Path, foreign: Foreign | None
    ) -> None:
        self._session = session
        self._network = network
        self._plan = plan
        self._file = file
        self._foreign = foreign
        self._kinds = {node.name: _KINDS.get(node.type, node.type) for node in session.get_inputs()}
        self._given = {
            node.name: _KINDS.get(node.type, node.type) for node in session.get_outputs()
        }
        self._providers = session.get_providers()
        refuse_unknown(self._kinds, tuple(self._given), network)

    def run(self, inputs: Arrays) -> Arrays:
        """Compute one batch; outputs are float32."""
        if self._session is None:
            raise RefusedError("This session is closed.", fix="open the plan again")
        arrays = feeds(self._kinds, inputs, self._network)
        try:
            outputs = self._session.run(list(self._network.outputs), arrays)
        except Exception as error:  # noqa: BLE001 - the runtime's errors share no class of their own
            shapes = ", ".join(f"{k} {a.shape}" for k, a in arrays.items())
            raise RefusedError(
                "ONNX Runtime failed while computing a batch.", found=f"{error}; {shapes}"
            ) from None
        return dict(zip(self._network.outputs, outputs, strict=True))

    def facts(self) -> Mapping[str, Json]:
        """Return what really runs, read back from the session and from the export."""
        told = _export.facts(self._file) if self._foreign is None else {}
        if self._foreign is None:
            stored = {kind for kind in told["graph"]["weights"] if "float" in kind}
            effective = stored | {self._given[n] for n in self._network.outputs}
        else:
            effective = {self._foreign.dtype}
        return {
            "engine": name,
            "device": "cpu",
            "dtype": " ".join(sorted(effective)),
            "threads": self._plan.threads,
            "versions": versions("onnxruntime", "numpy"),
            "fallbacks": [],
            "artefact": str(self._file),
            "providers": self._providers,
            **told,
        }

    def close(self) -> None:
        """Free the session."""
        self._session = None
