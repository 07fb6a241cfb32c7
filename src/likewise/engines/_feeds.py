"""A batch and what a runtime declares, in; the arrays to feed it, by name and type, out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import RefusedError
from likewise.types import Network

if TYPE_CHECKING:
    from likewise.types import Array, Arrays

__all__ = ["feeds", "refuse_unknown"]

_SUPPLIED = "token_type_ids"
"""Zero segment ids are what a tokenizer without segments means, so a graph that wants them gets
them (case B088)."""


def refuse_unknown(declared: Mapping[str, str], outputs: tuple[str, ...], network: Network) -> None:
    """Refuse a graph that wants inputs nobody has, or lacks outputs that the task needs.

    Args:
        declared: {input: numpy dtype}, as the graph says.
        outputs: the graph's.
        network: the task's.

    Raises:
        RefusedError: lists them.
    """
    strange = [name for name in declared if name not in {*network.inputs, _SUPPLIED}]
    if strange:
        raise RefusedError(
            "The graph wants inputs that likewise does not know.",
            found=f"{', '.join(strange)}; given are {', '.join(network.inputs)}",
            fix="export it with these input names, or let likewise export it",
        )
    missing = [name for name in network.outputs if name not in outputs]
    if missing:
        raise RefusedError(
            "The graph does not give what the task needs.",
            found=f"outputs {', '.join(outputs)}, but no {', '.join(missing)}",
            fix="export it with the head of its task, or let likewise export it",
        )


def feeds(declared: Mapping[str, str], inputs: Arrays, network: Network) -> Arrays:
    """Return the arrays that the runtime declares, each in the type it declares (case B087).

    Inputs of the network that the graph does not use are left out.

    Raises:
        RefusedError: an input has a name that is none of the network's, or one is missing.
    """
    strange = [name for name in inputs if name not in network.inputs]
    if strange:
        raise RefusedError(
            "The batch has inputs that this network does not take.",
            found=f"{', '.join(strange)}; it takes {', '.join(network.inputs)}",
        )
    return {name: _array(name, inputs).astype(kind, copy=False) for name, kind in declared.items()}


def _array(name: str, inputs: Arrays) -> Array:
    if name in inputs:
        return inputs[name]
    if name == _SUPPLIED and "input_ids" in inputs:
        return np.zeros_like(inputs["input_ids"])
    raise RefusedError(
        "The batch lacks an input.", found=f"{', '.join(inputs) or 'nothing'}, but no {name}"
    )
