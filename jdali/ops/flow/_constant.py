"""Operators for constants that need a node in the graph, because they are outputs or are on a device."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan, size_text
from jdali._kernels.fit import fit
from jdali._numerics.rounding import np_saturate_cast
from jdali._operators.record import PerSample, Static, operator


def setup(*, value: np.ndarray, layout_name: str) -> BatchSpec:
    extents = np.broadcast_to(np.array(value.shape[1:], np.int64), (len(value), value.ndim - 1))
    return BatchSpec(extents, value.dtype, layout_name)


@operator(setup=setup, name="_constant")
def constant(*, value: PerSample[object], layout_name: Static[str] = "") -> Array:
    """Returns the same array for every sample.

    Args:
        value: any shape and type.
        layout_name: layout of the array.
    """
    return jnp.asarray(value)


def setup_numbers(
    *,
    dtype: np.dtype | None,
    fdata: float | tuple[float, ...] | None,
    idata: int | tuple[int, ...] | None,
    layout: str,
    shape: int | tuple[int, ...] | None,
    batch_size: int,
) -> Plan:
    if (fdata is None) == (idata is None):
        raise ValueError(
            "constant: either `fdata` or `idata` must be present."
            if fdata is None
            else "constant: `fdata` and `idata` arguments are mutually exclusive"
        )
    numbers = np.atleast_1d(np.asarray(fdata, np.float32) if idata is None else np.asarray(idata, np.int64))
    target = np.dtype(np.float32 if idata is None else np.int32) if dtype is None else dtype
    sizes = numbers.shape if shape is None else tuple(np.atleast_1d(np.asarray(shape, np.int64)).tolist())
    if min(sizes, default=0) < 0 or numbers.size not in (1, int(np.prod(sizes))):
        raise ValueError(
            f"constant: The number of values does not match the shape specified: {numbers.size} for {size_text(sizes)}"
        )
    if layout and len(layout) != len(sizes):
        raise ValueError(
            f'constant: The requested layout "{layout}" has dimensionality which is incompatible with the requested output '
            f"shape, {size_text(sizes)}"
        )
    filled = np.broadcast_to(numbers.reshape(()), sizes) if numbers.size == 1 else numbers.reshape(sizes)
    values = np.broadcast_to(np_saturate_cast(filled, target), (batch_size, *sizes))
    return Plan((BatchSpec(np.full((batch_size, len(sizes)), sizes), target, layout),), {"_value": values})


@operator(setup=setup_numbers, name="constant", source="operators/generic/constant.cc")
def constant_of_numbers(
    *,
    dtype: Static[np.dtype | None] = None,
    fdata: Static[float | tuple[float, ...] | None] = None,
    idata: Static[int | tuple[int, ...] | None] = None,
    layout: Static[str] = "",
    shape: Static[int | tuple[int, ...] | None] = None,
    out_shape: tuple[int, ...],
    _value: PerSample[object] = None,
) -> Array:
    """Returns the same array of numbers for every sample; `types.Constant` also takes arrays.

    Args:
        dtype: type of the result; numbers round half away from zero and saturate. None: FLOAT for `fdata`, INT32 for
            `idata`.
        fdata: numbers in row-major order, or one number for all elements.
        idata: integers, in place of `fdata`; exactly one of `fdata` and `idata` is required.
        layout: layout of the result.
        shape: shape of the result; None: a vector of the numbers.

    Returns: [*shape].

    Example: numbers = fn.constant(fdata=[0.5, 1.5])
    """
    return fit(jnp.asarray(_value), out_shape)
