"""A model of transformers or timm and a Network in; a module with that network's signature, out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from likewise.types import Network

__all__ = ["wrap"]


def wrap(inner: Any, network: Network) -> Any:
    """Return an nn.Module called with tensors in the order of ``network.inputs``.

    It returns a tuple of one tensor. For the head ``tokens`` a hook on the encoder picks, from
    the flattened (N·T, D) hidden state, the rows that were asked for, so that the head, the
    largest product of a fill-mask model, runs on those alone.
    """
    import torch

    picked = SimpleNamespace(rows=None)
    if network.head == "tokens":
        inner.base_model.register_forward_hook(lambda *call: _pick(call[2], picked.rows))

    class Networked(torch.nn.Module):  # type: ignore[misc]  # torch is not read by mypy
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, *tensors: Any) -> tuple[Any, ...]:
            feeds = dict(zip(network.inputs, tensors, strict=True))
            picked.rows = feeds.pop("rows", None)
            if network.head in ("picture", "picture_features"):
                return (self.inner(feeds["pixel_values"]),)
            output = self.inner(**feeds)
            picked.rows = None
            return (output.last_hidden_state if network.head == "hidden" else output.logits,)

    return Networked().eval()


def _pick(output: Any, rows: Any) -> Any:
    """Return the encoder's output with the rows asked for, (R, D), in place of (N, T, D)."""
    hidden = output[0]
    chosen = hidden.reshape(-1, hidden.shape[-1]).index_select(0, rows)
    if isinstance(output, tuple):
        return (chosen, *output[1:])
    output.last_hidden_state = chosen
    return output
