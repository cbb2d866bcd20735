"""Checks the arguments of transforms, and converts them for the kernels."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from jdali import types


class InterpolationMode(enum.Enum):
    """Lists the filters of a resize; arguments may also be members of torchvision's own enumeration."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


_KERNELS = {
    InterpolationMode.NEAREST: types.INTERP_NN,
    InterpolationMode.BILINEAR: types.INTERP_LINEAR,
    InterpolationMode.BICUBIC: types.INTERP_CUBIC,
    InterpolationMode.LANCZOS: types.INTERP_LANCZOS3,
}

# Pillow's filters by number; torchvision accepts these numbers too.
_BY_NUMBER = ("NEAREST", "LANCZOS", "BILINEAR", "BICUBIC", "BOX", "HAMMING")

BORDERS = {"constant": "pad", "edge": "clamp", "reflect": "reflect_101", "symmetric": "reflect_1001"}
"""Maps each padding mode of torchvision to the `out_of_bounds_policy` of `slice`."""


def interpolation(value: Any) -> types.DALIInterpType:
    """Returns the kernel of a resize for an interpolation mode of jdali, torchvision or Pillow.

    Raises:
        ValueError: `value` is not an interpolation mode.
        NotImplementedError: the mode has no kernel, as in DALI.
    """
    by_number = isinstance(value, int) and 0 <= value < len(_BY_NUMBER)
    name = str(_BY_NUMBER[value] if by_number else getattr(value, "name", None))
    if name not in InterpolationMode.__members__:
        raise ValueError(
            f"interpolation should be an InterpolationMode or a number of Pillow's, got {value!r}"
        )
    mode = InterpolationMode[name]
    if mode not in _KERNELS:
        raise NotImplementedError(f"Interpolation mode {mode} is not supported; use BILINEAR or LANCZOS")
    return _KERNELS[mode]


def size_of_crop(size: int | Sequence[int]) -> tuple[int, int]:
    """Returns (height, width) of a window."""
    values = _integers("size", size)
    if len(values) not in (1, 2):
        raise ValueError(f"size must have 1 or 2 elements, got {len(values)}")
    if min(values) <= 0:
        raise ValueError(f"size must be positive, got {size}")
    return values[0], values[-1]


def size_of_resize(size: int | Sequence[int] | None, max_size: int | None) -> tuple[int, ...] | None:
    """Returns (height, width) or (shorter edge,). Returns None if `size` is None: `max_size` is then the longer edge."""
    if size is None:
        if max_size is None:
            raise ValueError("Must provide max_size if size is None.")
    else:
        size = _integers("size", size)
        if len(size) not in (1, 2):
            raise ValueError(f"size sequence must have length 1 or 2, got {len(size)}")
        if min(size) <= 0:
            raise ValueError(f"size must be positive, got {size}")
        if len(size) == 2 and max_size is not None:
            raise ValueError(
                "max_size should only be passed if size specifies the length of the smaller edge"
            )
        if max_size is not None and max_size < size[0]:
            raise ValueError(f"max_size = {max_size} must not be smaller than the requested size = {size[0]}")
    if max_size is not None and max_size <= 0:
        raise ValueError(f"max_size must be positive, got {max_size}")
    return size


def padding(value: int | Sequence[int]) -> tuple[int, int, int, int]:
    values = _integers("padding", value)
    if len(values) not in (1, 2, 4):
        raise ValueError(
            f"Padding must be an int or a sequence of length 1, 2 or 4, got {len(values)} elements"
        )
    if min(values) < 0:
        raise ValueError(f"Values padding must be non-negative numbers, got {value}")
    left, top, *rest = values if len(values) > 1 else values * 2
    right, bottom = rest or (left, top)
    return left, top, right, bottom


def border(padding_mode: str) -> str:
    """Returns the `out_of_bounds_policy` of `slice` for a padding mode."""
    if padding_mode not in BORDERS:
        raise ValueError(f"Invalid padding mode, expected one of {list(BORDERS)}, got {padding_mode!r}")
    return BORDERS[padding_mode]


def fill_values(fill: object) -> list[float]:
    """Returns a list with one fill value, or with a fill value for each channel."""
    values = np.atleast_1d(np.asarray(0 if fill is None else fill))
    if values.dtype.kind not in "biuf" or values.ndim != 1 or not len(values):
        raise TypeError(f"fill must be a number, a sequence of numbers or None, got {fill!r}")
    return [float(v) for v in values]


def probability(p: float) -> float:
    if not isinstance(p, (int, float)) or not 0 <= p <= 1:
        raise ValueError(f"p should be a floating point value in the interval [0.0, 1.0]. Got: {p!r}")
    return float(p)


def kernel_size(value: int | Sequence[int]) -> tuple[int, int]:
    """Returns the size of a Gaussian window as (width, height), torchvision's order."""
    values = _integers("kernel_size", value)
    if len(values) not in (1, 2) or any(v <= 0 or v % 2 == 0 for v in values):
        raise ValueError(f"Kernel size should be one or two odd positive numbers, got {value}")
    return values[0], values[-1]


def increasing(name: str, value: object, *, positive: bool = False) -> tuple[float, float]:
    """Checks that min <= max; returns (min, max). A single number is used as min and as max."""
    if isinstance(value, str) or not isinstance(value, (int, float, Sequence)):
        raise TypeError(f"{name} must be a number or a (min, max) sequence, got {type(value).__name__}")
    ends = (value, value) if isinstance(value, (int, float)) else tuple(value)
    if len(ends) != 2:
        raise ValueError(f"{name} sequence must have exactly 2 elements (min, max), got {len(ends)}")
    if ends[0] > ends[1]:
        raise ValueError(f"Values {name} should be (min, max), got {value}")
    if positive and ends[0] <= 0:
        raise ValueError(f"Values {name} must be positive numbers, got {value}")
    return float(ends[0]), float(ends[1])


def jitter(name: str, value: float | Sequence[float]) -> tuple[float, float]:
    """Returns the range (min, max) of a factor. A single number means (max(0, 1 - value), 1 + value)."""
    if isinstance(value, (int, float)):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be non-negative, got {value}")
        return max(0.0, 1.0 - value), 1.0 + value
    low, high = increasing(name, value)
    if low < 0:
        raise ValueError(f"{name} values must be non-negative numbers, got {value}")
    return low, high


def hue(value: float | Sequence[float]) -> tuple[float, float]:
    """Returns the range (min, max) of a hue rotation, in full turns. A single number means (-value, value)."""
    low, high = (-value, value) if isinstance(value, (int, float)) else increasing("hue", value)
    if not -0.5 <= low <= high <= 0.5:
        raise ValueError(f"hue values should be between [-0.5, 0.5], but got {value}")
    return float(low), float(high)


def channel_values(name: str, value: object) -> np.ndarray:
    """Returns a value for each channel, float32 [C]."""
    if isinstance(value, (str, int, float)) or not hasattr(value, "__len__"):
        raise TypeError(f"{name} must be a sequence, got {type(value).__name__}")
    values = np.asarray(value, np.float32)
    if name == "std" and (values == 0).any():
        raise ValueError("std must not be 0")
    return values


def _integers(name: str, value: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(value, int):
        return (value,)
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} must be int, list or tuple, got {type(value).__name__}")
    if any(not isinstance(v, int) for v in value):
        raise ValueError(f"{name} values must be integers, got {value}")
    return tuple(value)
