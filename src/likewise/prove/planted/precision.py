"""Faults of precision: less than the plan says."""

from __future__ import annotations

from typing import Any

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

    def rounded(x: Any) -> Any:
        bits = x.view(torch.int32)
        return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)

    def before(_: Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(rounded(x.contiguous()) for x in inputs)

    for part in module.modules():
        if isinstance(part, torch.nn.Linear | torch.nn.Conv2d):
            part.weight.copy_(rounded(part.weight.contiguous()))
            part.register_forward_pre_hook(before)


FAULTS = (
    Fault("Q03", "float32 in name, bfloat16 in fact", in_module(_computes_in_bfloat16), ALL),
    Fault("Q05", "products in tf32", in_module(_coarse_products), ALL),
    Fault("Q13", "weights that went through float16", in_module(_rounds_weights), ALL),
)
