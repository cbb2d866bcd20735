"""Sum of the elements along axes."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan, mask_padding
from jdali._kernels.fit import fit
from jdali._kernels.reduced_axes import reduced_spec, resolve_axes
from jdali._numerics.sums import fixed_sum
from jdali._operators.record import Static, operator


def sum_dtype(dtype: np.dtype) -> np.dtype:
    """Returns DALI's default type of a sum: the 64-bit integer of the same sign, floats as they are."""
    if jnp.issubdtype(dtype, jnp.floating):
        return dtype
    return np.dtype(np.int64 if dtype.kind == "i" else np.uint64)


def masked_sum(value: Array, extent: Array, axes: tuple[int, ...], keep_dims: bool) -> Array:
    """Sums what lies inside of `extent`, in the dtype of `value`."""
    return fixed_sum(mask_padding(value, extent, 0), axes, keep_dims=keep_dims)


def count(extent: Array, axes: tuple[int, ...]) -> Array:
    """Counts the elements that one result is computed from, float32."""
    sizes = extent.astype(jnp.uint32)
    total = jnp.uint32(1)  # of whole numbers: the number less `ddof` is 0 where it should be, and not -0
    for axis in axes:
        total = total * sizes[axis]
    return total.astype(jnp.float32)


def setup(
    data: BatchSpec, *, axes: Any, axis_names: str | None, keep_dims: bool, dtype: np.dtype | None
) -> Plan:
    reduced = resolve_axes("reductions.sum", data, axes, axis_names)
    out = dtype or sum_dtype(data.dtype)
    return Plan((reduced_spec(data, reduced, keep_dims, out),), static={"axes": reduced, "dtype": out})


@operator(setup=setup, name="reductions.sum", source="operators/generic/reduce/sum.h")
def reduce_sum(
    data: Array,
    /,
    *,
    axes: Static[tuple[int, ...] | None] = None,
    axis_names: Static[str | None] = None,
    keep_dims: Static[bool] = False,
    dtype: Static[np.dtype | None] = None,
    extent: Array,
    out_shape: tuple[int, ...] | None = None,
) -> Array:
    """Adds up the elements along axes; the accumulator has the output's type and wraps around in it.

    Args:
        data: any shape, numbers or bool.
        axes: axes to sum over, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep summed axes with size 1.
        dtype: type of the sum and of its accumulator; None: INT64 for signed and UINT64 for unsigned
            integers, the input's for floats.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.

    Returns: sums, `dtype`; 0 where nothing is summed.

    Example: total = fn.reductions.sum(numbers, axes=[0])
    """
    axes = tuple(range(data.ndim)) if axes is None else axes
    out = np.dtype(dtype or sum_dtype(np.dtype(data.dtype)))
    total = masked_sum(data.astype(out), extent, axes, keep_dims)
    return total if out_shape is None else fit(total, out_shape)
