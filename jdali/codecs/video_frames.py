"""Pads sequences of video frames."""

from __future__ import annotations

import numpy as np

from jdali._errors import SampleError
from jdali.codecs.video_decoder import PADDING

_MODES = {
    "none": "none", "": "none", "constant": "constant", "edge": "edge", "repeat": "edge",
    "reflect_1001": "reflect_1001", "symmetric": "reflect_1001",
    "reflect_101": "reflect_101", "reflect": "reflect_101",
}  # fmt: skip


def padding_mode(name: str, mode: str) -> str:
    """Normalizes aliases of a `pad_mode`; `name` is the operator's name, for errors."""
    if mode not in _MODES:
        raise ValueError(
            f"{name}: Invalid pad_mode: {mode} Valid options are: {', '.join(filter(None, _MODES))}"
        )
    return _MODES[mode]


def pad(numbers: np.ndarray, count: int, mode: str) -> np.ndarray:
    """Replaces frame numbers outside of 0 to `count` - 1.

    Args:
        numbers: [n].
        count: number of the existing frames, at least one.
        mode: "constant" inserts `PADDING`; "edge" repeats the nearest frame; "reflect_1001" and "reflect_101" mirror
            the frames at the border, with or without repeating the border frame; "none" raises `SampleError`.
    """
    beyond = (numbers < 0) | (numbers >= count)
    if not beyond.any():
        return numbers
    if mode == "none":
        raise SampleError(f"frame {numbers[beyond][0]} is beyond the {count} frames (pad_mode is none)")
    if mode == "constant":
        return np.where(beyond, PADDING, numbers)
    if mode == "edge":
        return np.clip(numbers, 0, count - 1)
    if mode == "reflect_1001":
        offset = numbers % (2 * count)
        return np.where(offset >= count, 2 * count - 1 - offset, offset)
    period = max(2 * (count - 1), 1)
    offset = numbers % period
    return np.where(offset >= count, period - offset, offset)


def fill_values(name: str, fill_value: int | tuple[int, ...]) -> tuple[int, ...]:
    """Checks `fill_value`; returns one value or three. `name` is the operator's name, for errors."""
    values = fill_value if isinstance(fill_value, tuple) else (fill_value,)
    if not all(0 <= v <= 255 for v in values):
        raise ValueError(f"{name}: fill_value must be in range [0, 255], got {fill_value}")
    if len(values) not in (1, 3):
        raise ValueError(
            f"{name}: Fill value size must be 1 or equal to the number of channels. Got {len(values)} values for 3 channels"
        )
    return values
