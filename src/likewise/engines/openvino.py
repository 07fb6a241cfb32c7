"""A model and a batch in; what OpenVINO computes from its ONNX graph on the CPU, out."""

from __future__ import annotations

import collections
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

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

name = "openvino"
needs: tuple[str, ...] = ("openvino",)

_ABILITIES = Abilities(
    engine=name,
    packages=("openvino",),
    install="pip install 'likewise[openvino]'",
    dtypes=("float32",),
    graphs=("float32", "int8"),
)
_KINDS = {"i64": "int64", "i32": "int32", "f32": "float32", "f64": "float64", "boolean": "bool"}
_DTYPES = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "f16": "float16"}


def offers() -> list[Offer]:
    """Return one offer per device; never raises."""
    return [offer(_ABILITIES)]


def refuse(model: Model, network: Network, plan: Plan) -> str | None:
    """Return why this plan cannot run as asked, or None."""
    return refusal(_ABILITIES, plan) or _export.reason_against(model, network, plan)


def open(model: Model, network: Network, plan: Plan) -> Session:
    """Compile the model's graph, exported now if that was not done yet.

    Raises:
        RefusedError: there is no graph, or what runs would not be what the plan says.
    """
    return _export.open_graph(model, network, plan, open_file)


def open_file(file: Path, network: Network, plan: Plan, foreign: Foreign | None) -> OpenvinoSession:
    """Open one graph as a plan says; ``foreign`` where it came with the model.

    Raises:
        RefusedError: the runtime cannot open it, or would run something else.
    """
    try:
        compiled = _openvino().Core().compile_model(str(file), "CPU", _settings(plan))
    except RuntimeError as error:
        raise RefusedError(f"OpenVINO cannot compile {file}.", found=str(error)) from None
    session = OpenvinoSession(compiled, network, plan, file, foreign)
    session.check()
    return session


def _openvino() -> Any:
    """Import OpenVINO without its telemetry, which reports every import to a server."""
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # None: absent
    import openvino

    return openvino


def _settings(plan: Plan) -> dict[str, Any]:
    # Left alone, OpenVINO computes in bfloat16 or float16 where the processor can (case B108).
    return {
        "INFERENCE_PRECISION_HINT": "f32",
        "EXECUTION_MODE_HINT": "ACCURACY",
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": "1",
        "INFERENCE_NUM_THREADS": plan.threads,
    }


class OpenvinoSession:
    """A compiled OpenVINO model and its one infer request."""

    def __init__(
        self, compiled: Any, network: Network, plan: Plan, file: Path, foreign: Foreign | None
    ) -> None:
        self._compiled = compiled
        self._request = compiled.create_infer_request()
        self._lock = threading.Lock()  # one request serves one caller at a time
        self._network = network
        self._plan = plan
        self._file = file
        self._foreign = foreign
        self._kinds = {
            port.get_any_name(): _KINDS.get(port.get_element_type().get_type_name(), "float32")
            for port in compiled.inputs
        }
        refuse_unknown(self._kinds, tuple(p.get_any_name() for p in compiled.outputs), network)

    def run(self, inputs: Arrays) -> Arrays:
        """Compute one batch; outputs are float32."""
        if self._request is None:
            raise RefusedError("This session is closed.", fix="open the plan again")
        arrays = feeds(self._kinds, inputs, self._network)
        try:
            with self._lock:
                self._request.infer(arrays, share_inputs=True)
                names = self._network.outputs
                return {n: np.array(self._request.get_tensor(n).data) for n in names}
        except RuntimeError as error:
            shapes = ", ".join(f"{k} {a.shape}" for k, a in arrays.items())
            raise RefusedError(
                "OpenVINO failed while computing a batch.", found=f"{error}; {shapes}"
            ) from None

    def facts(self) -> Mapping[str, Json]:
        """Return what really runs, read back from the compiled model and from the export."""
        told = _export.facts(self._file) if self._foreign is None else {}
        hint = self._property("INFERENCE_PRECISION_HINT")
        return {
            "engine": name,
            "device": " ".join(self._compiled.get_property("EXECUTION_DEVICES")).lower(),
            "dtype": "int8" if self._in_integers() else _DTYPES.get(hint, hint),
            "threads": int(self._compiled.get_property("INFERENCE_NUM_THREADS")),
            "versions": versions("openvino", "numpy"),
            "fallbacks": [],
            "artefact": str(self._file),
            "execution_mode": self._property("EXECUTION_MODE_HINT"),
            "streams": int(self._compiled.get_property("NUM_STREAMS")),
            "precisions": self._precisions(),
            **told,
        }

    def close(self) -> None:
        """Free the compiled model."""
        self._request = self._compiled = None

    def check(self) -> None:
        """Refuse a compiled model that computes in another precision than the plan says.

        Raises:
            RefusedError: names the precision that was read back.
        """
        reduced = sorted(set(self._precisions()) & {"bf16", "f16"})
        hint = self._property("INFERENCE_PRECISION_HINT")
        if hint != "f32" or reduced:
            raise RefusedError(
                f"What was compiled is not what {self._plan} says.",
                found=f"precision {hint}, operators in {', '.join(reduced) or 'it only'}",
            )

    def _in_integers(self) -> bool:
        """Tell whether operators of a quantised graph really run in 8 bits."""
        return self._foreign is not None and bool({"i8", "u8"} & set(self._precisions()))

    def _property(self, key: str) -> str:
        value = self._compiled.get_property(key)
        named = getattr(value, "get_type_name", None)
        return str(named() if named else getattr(value, "name", value))

    def _precisions(self) -> dict[str, int]:
        """Count the compiled operators by the precision they run in, as the plug-in reports it."""
        found: collections.Counter[str] = collections.Counter()
        for operator in self._compiled.get_runtime_model().get_ops():
            facts = operator.get_rt_info()
            if "runtimePrecision" in facts:
                found[str(facts["runtimePrecision"].astype(str)).lower()] += 1
        return dict(found)
