"""cast and cast_like: convert the element type."""

from __future__ import annotations

import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._kernels.fit import fit
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import Static, operator


def setup(data: BatchSpec, *, dtype: np.dtype) -> BatchSpec:
    return data.replace(dtype=dtype)


@operator(setup=setup, source="operators/generic/cast.cc")
def cast(data: Array, /, *, dtype: Static[np.dtype], out_shape: tuple[int, ...]) -> Array:
    """Converts elements to `dtype`. For integers, values are rounded half away from zero and saturated; NaN becomes 0.

    Args:
        data: any shape and type.
        dtype: type of the result.

    Returns: shape of `data`, `dtype`.

    Example: numbers = fn.cast(numbers, dtype=types.UINT8)
    """
    return fit(saturate_cast(data, dtype), out_shape)


def setup_like(data: BatchSpec, like: BatchSpec) -> BatchSpec:
    return data.replace(dtype=like.dtype)


@operator(setup=setup_like, source="operators/generic/cast.cc")
def cast_like(data: Array, like: Array, /, *, out_shape: tuple[int, ...]) -> Array:
    """Converts elements to the type of a second input, as `cast` does.

    Args:
        data: any shape and type.
        like: tensor whose type the result takes.

    Returns: shape of `data`, dtype of `like`.

    Example: numbers = fn.cast_like(numbers, halves)
    """
    return fit(saturate_cast(data, like.dtype), out_shape)
