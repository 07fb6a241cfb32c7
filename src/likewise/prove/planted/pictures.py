"""Faults of the picture input: channels, scale, preparation of another family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from likewise.prove.planted._fault import PICTURE, Fault, in_task, spoilt
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


FAULTS = (
    Fault("P01", "blue and red swapped", in_task(_pixels(lambda p: p[::-1])), PICTURE),
    Fault(
        "P02",
        "mean and deviation of another family",
        in_task(_pixels(lambda p: p * 0.9 + 0.1)),
        PICTURE,
        precisions=("float32", "float16", "bfloat16", "int8"),
    ),
    Fault("P07", "pixels from 0 to 255", in_task(_pixels(lambda p: p * 255)), PICTURE),
    Fault(
        "P09",
        "mirrored, as by a wrong EXIF rotation",
        in_task(_pixels(lambda p: p[:, :, ::-1])),
        PICTURE,
    ),
)
