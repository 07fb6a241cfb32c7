"""Faults of the picture input: channels, scale, preparation of another family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from likewise.prove.planted import _parts
from likewise.prove.planted._fault import (
    PICTURE,
    Fault,
    Module,
    absent,
    in_module,
    in_task,
    spoilt,
)
from likewise.types import Item, Row, Task

if TYPE_CHECKING:
    from likewise.types import Floats


def _pixels(change: Callable[[Floats], Floats]) -> Callable[[Task], Task]:
    def spoil(task: Task) -> Task:
        def encode(items: Sequence[Item]) -> list[Row]:
            return [row if row.problem else _changed(row, change) for row in task.encode(items)]

        spoilt_task: Task = spoilt(task, encode=encode)
        return spoilt_task

    return spoil


def _changed(row: Row, change: Callable[[Floats], Floats]) -> Row:
    pixels = change(row.arrays["pixel_values"])
    return replace(row, arrays={"pixel_values": np.ascontiguousarray(pixels, np.float32)})


def _prepared(**changes: object) -> Callable[[Task], Task]:
    """Return a spoiler of how pictures are prepared; what the task says of itself stays."""

    def spoil(task: Task) -> Task:
        pictures = task.pictures  # type: ignore[attr-defined]  # picture tasks alone
        own = pictures.preprocessing
        if all(getattr(own, name) == value for name, value in changes.items()):
            raise absent(f"other {' or '.join(changes)}")
        other = replace(pictures, preprocessing=replace(own, **changes))
        spoilt_task: Task = spoilt(task, encode=other.encode)
        return spoilt_task

    return spoil


def _moved(pixels: Floats) -> Floats:
    return np.roll(pixels, 1, axis=2)


def _grey(pixels: Floats) -> Floats:
    return np.repeat(pixels.mean(axis=0, keepdims=True), 3, axis=0)


def _doubled_coarsely(pixels: Floats) -> Floats:
    """As a resize without antialias leaves it: every other pixel, twice."""
    return pixels[:, ::2, ::2].repeat(2, axis=1).repeat(2, axis=2)[:, : pixels.shape[1]]


def _levels(pixels: Floats) -> Floats:
    """As a second JPEG compression leaves it: sixteen levels a unit."""
    return (pixels * 16).round() / 16


def _no_bias(module: Module) -> None:
    part = next((c for c in _parts.convolutions(module) if c.bias is not None), None)
    if part is None or not part.bias.any():
        raise absent("bias of a convolution")
    part.bias.zero_()


def _stale(module: Module) -> None:
    import torch

    weight = _parts.convolutions(module)[len(_parts.convolutions(module)) // 2].weight
    drawn = torch.randn(weight.shape, generator=torch.Generator().manual_seed(4))
    weight.add_(drawn * 0.01 * weight.abs().mean())


def _turned(module: Module) -> None:
    weight = _parts.convolutions(module)[0].weight
    weight.copy_(weight.transpose(2, 3).clone())


def _filters_swapped(module: Module) -> None:
    part = _parts.convolutions(module)[-1]
    part.weight.copy_(part.weight.roll(1, dims=0).clone())


def _statistics_lost(module: Module) -> None:
    import torch

    found = [m for m in module.modules() if getattr(m, "running_var", None) is not None]
    if not found:
        raise absent("running statistics")
    assert isinstance(found[0].running_var, torch.Tensor)
    found[0].running_mean.zero_()
    found[0].running_var.fill_(1.0)


def _no_layer_scale(module: Module) -> None:
    found = [p for n, p in module.named_parameters() if n.rpartition(".")[2] in ("gamma", "ls1")]
    if not found:
        raise absent("layer scale")
    for parameter in found:
        parameter.fill_(1.0)


FAULTS = (
    Fault(
        "P03",
        "bilinear for bicubic",
        in_task(_prepared(interpolation="bilinear")),
        PICTURE,
        coarsest="bfloat16",
    ),
    Fault(
        "P04",
        "resized without antialias",
        in_task(_pixels(_doubled_coarsely)),
        PICTURE,
        needs="an even size",
    ),
    Fault("P05", "squashed, not cropped", in_task(_prepared(crop_mode="squash")), PICTURE),
    Fault("P06", "cropped at another share", in_task(_prepared(crop_pct=0.8)), PICTURE),
    Fault("P08", "one pixel to the right", in_task(_pixels(_moved)), PICTURE),
    Fault("P10", "grey for colour", in_task(_pixels(_grey)), PICTURE),
    Fault("P12", "compressed once more", in_task(_pixels(_levels)), PICTURE, coarsest="bfloat16"),
    Fault("P13", "nearest for bicubic", in_task(_prepared(interpolation="nearest")), PICTURE),
    Fault("C01", "bias of a convolution dropped", in_module(_no_bias), PICTURE),
    Fault(
        "C02",
        "a convolution stale, from an older checkpoint",
        in_module(_stale),
        PICTURE,
        coarsest="float16",
    ),
    Fault("C03", "kernels of the first convolution turned", in_module(_turned), PICTURE),
    Fault(
        "C04", "filters of the last convolution moved by one", in_module(_filters_swapped), PICTURE
    ),
    Fault(
        "W23",
        "running statistics not loaded",
        in_module(_statistics_lost),
        PICTURE,
        needs="batch normalisation",
    ),
    Fault(
        "G10",
        "layer scale ignored",
        in_module(_no_layer_scale),
        PICTURE,
        needs="a layer scale: ConvNeXt",
    ),
    Fault("P01", "blue and red swapped", in_task(_pixels(lambda p: p[::-1])), PICTURE),
    Fault(
        "P02",
        "mean and deviation of another family",
        in_task(_pixels(lambda p: p * 0.9 + 0.1)),
        PICTURE,
    ),
    Fault("P07", "pixels from 0 to 255", in_task(_pixels(lambda p: p * 255)), PICTURE),
    Fault(
        "P09",
        "mirrored, as by a wrong EXIF rotation",
        in_task(_pixels(lambda p: p[:, :, ::-1])),
        PICTURE,
    ),
)
