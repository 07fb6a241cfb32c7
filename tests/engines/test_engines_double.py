"""The quick float64 convolution is torch's own, to the last digits."""

from __future__ import annotations

import pytest
import timm.layers
import torch

from likewise.engines._double import quicken

OPTIONS = [
    {"kernel_size": 7, "padding": 3},
    {"kernel_size": 3, "padding": 1, "stride": 2},
    {"kernel_size": (3, 5), "padding": (0, 2), "bias": False},
    {"kernel_size": 3, "padding": 2, "dilation": 2, "stride": (1, 2)},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_depthwise_convolution_gives_the_same_in_float64(options: dict[str, object]) -> None:
    torch.manual_seed(1)
    own = torch.nn.Sequential(torch.nn.Conv2d(6, 6, groups=6, **options)).double()
    pixels = torch.randn(2, 6, 19, 23, dtype=torch.float64)
    with torch.inference_mode():
        expected = own(pixels)
        assert quicken(own) == 1
        found = own(pixels)
    assert found.shape == expected.shape
    assert (found - expected).abs().max() < 1e-14


@pytest.mark.parametrize(
    "convolution",
    [
        torch.nn.Conv2d(6, 6, 3, groups=6),
        torch.nn.Conv2d(6, 12, 3, groups=6).double(),
        torch.nn.Conv2d(6, 6, 3).double(),
        torch.nn.Conv2d(6, 6, 3, groups=6, padding=1, padding_mode="reflect").double(),
        torch.nn.Conv2d(6, 6, 3, groups=6, padding="same").double(),
        timm.layers.Conv2dSame(6, 6, 3, groups=6).double(),
    ],
    ids=["float32", "multiplier", "full", "reflect", "same", "timm's own"],
)
def test_other_convolutions_are_left_alone(convolution: torch.nn.Conv2d) -> None:
    assert quicken(torch.nn.Sequential(convolution)) == 0
