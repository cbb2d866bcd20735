from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan, mask_padding
from jdali._kernels.fit import fit
from jdali._kernels.reduced_axes import reduced_spec, reduction_options, resolve_axes
from jdali._numerics.rounding import narrowed
from jdali._numerics.sums import fixed_sum
from jdali._operators.record import Static, also_takes, operator


def sum_dtype(dtype: np.dtype) -> np.dtype:
    """Returns DALI's default type of a sum: for integers, 64 bits with the same signedness; for floats, the same type."""
    if jnp.issubdtype(dtype, jnp.floating):
        return dtype
    return np.dtype(np.int64 if dtype.kind == "i" else np.uint64)


def masked_sum(value: Array, extent: Array, axes: tuple[int, ...], keep_dims: bool) -> Array:
    """Sums the elements inside of `extent`, in the type of `value`."""
    return fixed_sum(mask_padding(value, extent, 0), axes, keep_dims=keep_dims)


def count(extent: Array, axes: tuple[int, ...]) -> Array:
    """Returns the number of elements from which one result is computed, float32."""
    sizes = extent.astype(jnp.uint32)
    # The product is an integer. If it were a float, XLA might compute the callers' `count(...) - ddof` as -0, not 0.
    total = jnp.uint32(1)
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
@also_takes(reduction_options)
def reduce_sum(
    data: Array,
    /,
    *,
    dtype: Static[np.dtype | None] = None,
    extent: Array,
    out_shape: tuple[int, ...],
    **options: Any,
) -> Array:
    """Sums the elements along axes. The accumulator has the type of the output; integers wrap around.

    Args:
        data: any shape, numbers or bool.
        dtype: type of the sum and of its accumulator; None: INT64 for signed and UINT64 for unsigned
            integers, the input's type for floats.

    Returns: sums, `dtype`; 0 where nothing is summed.

    Example: total = fn.reductions.sum(numbers, axes=[0])
    """
    out = narrowed(dtype or sum_dtype(np.dtype(data.dtype)))
    return fit(masked_sum(data.astype(out), extent, options["axes"], options["keep_dims"]), out_shape)
