"""Helpers of audio operators: a check of the input's type, and a reshape that broadcasts vectors along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np
from jax import Array

from jdali._batches import BatchSpec


def require_float32(name: str, spec: BatchSpec) -> None:
    """Raises an error unless the input is float32, the only type that DALI's audio operators take."""
    if spec.dtype != np.float32:
        encoded = spec.dtype == np.uint8 and spec.ndim == 1
        todo = (
            "cast it first, or if it is an encoded file, decode it: fn.decoders.audio"
            if encoded
            else "cast it first"
        )
        raise ValueError(
            f"{name}: Unsupported data type: {spec.dtype}. It must be float32; {todo}. Calling type does not match "
            f"buffer data type, requested type: float32 current buffer type: {spec.dtype}"
        )


def along_axis(values: Array, axis: int, ndim: int) -> Array:
    shape: list[Any] = [1] * ndim
    shape[axis] = -1
    return values.reshape(shape)
