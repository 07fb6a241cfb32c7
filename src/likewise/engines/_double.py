"""A float64 module on the CPU in; the same module with quick depthwise convolutions, out."""

from __future__ import annotations

from typing import Any

__all__ = ["quicken"]


def quicken(module: Any) -> int:
    """Replace depthwise convolutions by sums of shifted products; return how many.

    torch has no float64 kernel for them on a CPU: it convolves channel by channel, which takes
    most of the float64 truth of a ConvNeXt. The sum has the same terms, k x k for each pixel, so
    the result differs by rounding at 1e-16 (tests/engines/test_engines_double.py).
    """
    import torch

    quick = [m for m in module.modules() if isinstance(m, torch.nn.Conv2d) and _fits(m)]
    for convolution in quick:
        convolution.forward = _Shifted(convolution)
    return len(quick)


def _fits(convolution: Any) -> bool:
    import torch

    return (
        type(convolution)
        is torch.nn.Conv2d  # a subclass, as timm's Conv2dSame, pads in its own way
        and convolution.groups == convolution.in_channels == convolution.out_channels > 1
        and convolution.padding_mode == "zeros"
        and not isinstance(convolution.padding, str)
        and str(convolution.weight.dtype) == "torch.float64"
    )


class _Shifted:
    """The forward pass of one depthwise convolution."""

    def __init__(self, convolution: Any) -> None:
        self.convolution = convolution

    def __call__(self, pixels: Any) -> Any:
        import torch

        own = self.convolution
        (up, left), (down, right), (high, wide) = own.padding, own.stride, own.kernel_size
        tall, broad = own.dilation
        padded = torch.nn.functional.pad(pixels, (left, left, up, up))
        height = (padded.shape[-2] - tall * (high - 1) - 1) // down + 1
        width = (padded.shape[-1] - broad * (wide - 1) - 1) // right + 1
        shape = (pixels.shape[0], pixels.shape[1], height, width)
        weight = own.weight[:, 0, :, :, None, None]
        start = pixels.new_zeros(()) if own.bias is None else own.bias.view(1, -1, 1, 1)
        total = start.expand(shape).clone()
        for row in range(high):
            for column in range(wide):
                top, side = row * tall, column * broad
                part = padded[
                    ...,
                    top : top + down * (height - 1) + 1 : down,
                    side : side + right * (width - 1) + 1 : right,
                ]
                total.addcmul_(part, weight[:, row, column])
        return total
