"""A float32 module and a precision in; the same module, rounding as that precision would, out.

What honest arithmetic of a precision looks like, without a device that has it: the yardstick of
every lossy class. Weights are rounded once, and what each part computes at every call; sums stay
float32, as accelerators keep them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

__all__ = ["PRECISIONS", "emulate", "mantissa"]

Tensor: TypeAlias = Any
Rounding: TypeAlias = Callable[[Tensor], Tensor]

PRECISIONS = ("tf32", "hf32", "float16", "bfloat16", "int8")
_MANTISSA = {"tf32": 10, "hf32": 11}  # bits; float32 has 23
_LEVELS = 127


def emulate(module: Any, precision: str) -> None:
    """Make a float32 module round as a precision does, in place.

    float16, bfloat16: every weight and buffer, and the output of every part. tf32, hf32: weight,
    input and output of linear and convolution parts. int8: weights of those per output channel,
    symmetric, and their inputs per tensor, by the smallest and largest number in it.
    """
    import torch

    products = [m for m in module.modules() if isinstance(m, torch.nn.Linear | torch.nn.Conv2d)]
    with torch.no_grad():
        if precision in ("float16", "bfloat16"):
            narrow = _cast(getattr(torch, precision))
            for tensor in (*module.parameters(), *module.buffers()):
                tensor.copy_(narrow(tensor))
            for part in module.modules():
                if not any(part.children()):
                    part.register_forward_hook(_after(narrow))
            return
        weights, inputs = _OF_PRODUCTS[precision]
        for part in products:
            part.weight.copy_(weights(part.weight))
            part.register_forward_pre_hook(_before(inputs))
            if precision != "int8":
                part.register_forward_hook(_after(inputs))


def _cast(dtype: Any) -> Rounding:
    def rounded(tensor: Tensor) -> Tensor:
        return tensor.to(dtype).to(tensor.dtype) if tensor.is_floating_point() else tensor

    return rounded


def mantissa(bits: int) -> Rounding:
    """Return a rounding of float32 to so many bits of mantissa, to the nearest."""
    dropped = 23 - bits

    def rounded(tensor: Tensor) -> Tensor:
        import torch

        raw = tensor.contiguous().view(torch.int32)
        half = 1 << (dropped - 1)
        return ((raw + half) & ~((1 << dropped) - 1)).view(torch.float32)

    return rounded


def _per_channel(weight: Tensor) -> Tensor:
    flat = weight.reshape(len(weight), -1)
    scale = (flat.abs().amax(dim=1, keepdim=True) / _LEVELS).clamp(min=1e-12)
    return (flat / scale).round().mul(scale).reshape(weight.shape)


def _per_tensor(tensor: Tensor) -> Tensor:
    low, high = tensor.amin().clamp(max=0.0), tensor.amax().clamp(min=0.0)
    scale = ((high - low) / (2 * _LEVELS + 1)).clamp(min=1e-12)
    zero = (-low / scale).round()
    levels = ((tensor / scale).round() + zero).clamp(0, 2 * _LEVELS + 1)
    return (levels - zero) * scale


_OF_PRODUCTS: Mapping[str, tuple[Rounding, Rounding]] = {
    **{name: (mantissa(bits), mantissa(bits)) for name, bits in _MANTISSA.items()},
    "int8": (_per_channel, _per_tensor),
}
"""How weights and inputs of linear and convolution parts are rounded."""


def _after(rounding: Rounding) -> Callable[[Any, Any, Any], Any]:
    def hook(_: Any, __: Any, output: Any) -> Any:
        return rounding(output) if hasattr(output, "is_floating_point") else output

    return hook


def _before(rounding: Rounding) -> Callable[[Any, tuple[Any, ...]], tuple[Any, ...]]:
    def hook(_: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(rounding(x) if x.is_floating_point() else x for x in inputs)

    return hook
