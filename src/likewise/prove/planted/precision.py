"""Faults of precision: less than the plan says."""

from __future__ import annotations

from typing import Any

from likewise.engines._emulate import mantissa
from likewise.prove.planted import _parts
from likewise.prove.planted._fault import ALL, Fault, Module, in_module


def _computes_in_bfloat16(module: Module) -> None:
    import torch

    def narrowed(_: Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(x.bfloat16() if x.is_floating_point() else x for x in inputs)

    module.to(torch.bfloat16)
    module.register_forward_pre_hook(narrowed)


def _rounds_weights(module: Module) -> None:
    for parameter in module.parameters():
        parameter.copy_(parameter.half().to(parameter.dtype))


def _coarse_products(module: Module) -> None:
    """As tf32 does: 10 bits of mantissa into every product."""
    import torch

    rounded = mantissa(10)

    def before(_: Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(rounded(x) for x in inputs)

    for part in module.modules():
        if isinstance(part, torch.nn.Linear | torch.nn.Conv2d):
            part.weight.copy_(rounded(part.weight))
            part.register_forward_pre_hook(before)


def _per_tensor(module: Module) -> None:
    """Weights in 8 bits with one scale for the whole tensor."""
    for part in _products(module):
        scale = part.weight.abs().max() / 127
        part.weight.copy_((part.weight / scale).round() * scale)


def _saturated(module: Module) -> None:
    """Sums that stop at a bound, as 16-bit accumulators of 8-bit products do."""
    for part in _products(module):
        bound = part.weight.abs().sum(dim=tuple(range(1, part.weight.ndim))).median() * 0.25
        part.register_forward_hook(lambda _, __, y, b=bound: y.clamp(-b, b))


def _overflows(module: Module) -> None:
    """Infinite where an activation is among the largest: as float16 beyond 65,504."""
    import torch

    def hook(_: Module, __: Any, y: Any) -> Any:
        return torch.where(y.abs() > 4 * y.abs().mean(), torch.inf, y)

    _products(module)[len(_products(module)) // 2].register_forward_hook(hook)


def _one_norm_narrow(module: Module) -> None:
    import torch

    def hook(_: Module, __: Any, y: Any) -> Any:
        return y.to(torch.bfloat16).to(y.dtype)

    for part in _parts.norms(module)[:1]:
        part.register_forward_hook(hook)


def _products(module: Module) -> list[Module]:
    import torch

    return [m for m in module.modules() if isinstance(m, torch.nn.Linear | torch.nn.Conv2d)]


FAULTS = (
    Fault(
        "Q01",
        "overflow to infinity on large activations",
        in_module(_overflows),
        ALL,
        needs="an activation of four times the mean",
    ),
    Fault(
        "Q06",
        "weights in 8 bits, one scale a tensor",
        in_module(_per_tensor),
        ALL,
        coarsest="float16",
    ),
    Fault("Q07", "sums saturate", in_module(_saturated), ALL),
    Fault(
        "Q14", "one normalisation in bfloat16", in_module(_one_norm_narrow), ALL, coarsest="float32"
    ),
    Fault(
        "Q03",
        "float32 in name, bfloat16 in fact",
        in_module(_computes_in_bfloat16),
        ALL,
        coarsest="float16",
    ),
    Fault("Q05", "products in tf32", in_module(_coarse_products), ALL, coarsest="float32"),
    Fault(
        "Q13",
        "weights that went through float16",
        in_module(_rounds_weights),
        ALL,
        coarsest="float32",
    ),
)
