"""Computes the mean, the mean square and the root mean square along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan
from jdali._kernels.fit import fit
from jdali._kernels.reduced_axes import reduced_spec, reduction_options, resolve_axes
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import Static, also_takes, operator
from jdali.ops.reductions._sum import count, masked_sum


def _setup(name: str) -> Callable[..., Plan]:
    def setup(
        data: BatchSpec, *, axes: Any, axis_names: str | None, keep_dims: bool, dtype: np.dtype | None
    ) -> Plan:
        reduced = resolve_axes(name, data, axes, axis_names)
        out = dtype or np.dtype(np.float32)
        return Plan((reduced_spec(data, reduced, keep_dims, out),), static={"axes": reduced, "dtype": out})

    return setup


def _mean(value: Array, extent: Array, axes: tuple[int, ...], keep_dims: bool, **_: object) -> Array:
    """Computes the mean as float32; the sum is computed in the type of `value`."""
    total = masked_sum(value, extent, axes, keep_dims).astype(jnp.float32)
    return total * (1 / count(extent, axes))


def _finish(value: Array, dtype: np.dtype | None, out_shape: tuple[int, ...]) -> Array:
    """Converts a mean to `dtype`. Unlike other casts in DALI, the conversion to integers truncates the fraction."""
    out = np.dtype(dtype or np.float32)
    return fit(saturate_cast(jnp.trunc(value) if out.kind in "iu" else value, out), out_shape)


@operator(setup=_setup("reductions.mean"), name="reductions.mean", source="operators/generic/reduce/mean.h")
@also_takes(reduction_options)
def reduce_mean(
    data: Array,
    /,
    *,
    dtype: Static[np.dtype | None] = None,
    extent: Array,
    out_shape: tuple[int, ...],
    **options: Any,
) -> Array:
    """Computes the mean along axes; an integer result is rounded towards zero.

    Args:
        data: any shape, numbers or bool.
        dtype: type of the result; None: FLOAT.

    Returns: means, `dtype`; NaN where there is nothing to reduce.

    Parity: DALI accumulates in `dtype`, so its UINT8 mean of 200 and 200 is 72; here sums of small
    integers do not overflow.

    Example: mean = fn.reductions.mean(images, axes=[0, 1])
    """
    wide: Any = np.dtype(np.float32)
    if np.dtype(dtype or np.float32).kind in "iu" and data.dtype.kind in "iub":
        wide = data.dtype
        if wide.itemsize < 4:
            wide = jnp.uint32 if wide.kind in "ub" else jnp.int32
    return _finish(_mean(data.astype(wide), extent, **options), dtype, out_shape)


@operator(
    setup=_setup("reductions.mean_square"),
    name="reductions.mean_square",
    source="operators/generic/reduce/mean_square.h",
)
@also_takes(reduction_options)
def reduce_mean_square(
    data: Array,
    /,
    *,
    dtype: Static[np.dtype | None] = None,
    extent: Array,
    out_shape: tuple[int, ...],
    **options: Any,
) -> Array:
    """Computes the mean of the squares along axes; an integer result is rounded towards zero.

    Args:
        data: any shape, numbers or bool.
        dtype: type of the result; None: FLOAT.

    Returns: means of squares, `dtype`; NaN where there is nothing to reduce.

    Parity: DALI squares integers in 32 or 64 bits, which may overflow (UINT16 65535 gives a negative
    mean); here they are squared as floats.

    Example: squares = fn.reductions.mean_square(numbers, axes=[1])
    """
    return _finish(_mean(jnp.square(data.astype(jnp.float32)), extent, **options), dtype, out_shape)


@operator(
    setup=_setup("reductions.rms"),
    name="reductions.rms",
    source="operators/generic/reduce/root_mean_square.h",
)
@also_takes(reduction_options)
def reduce_rms(
    data: Array,
    /,
    *,
    dtype: Static[np.dtype | None] = None,
    extent: Array,
    out_shape: tuple[int, ...],
    **options: Any,
) -> Array:
    """Computes the square root of the mean of the squares along axes; an integer result is rounded towards zero.

    Args:
        data: any shape, numbers or bool.
        dtype: type of the result; None: FLOAT.

    Returns: roots, `dtype`; NaN where there is nothing to reduce.

    Parity: integers do not overflow; see `reductions.mean_square`.

    Example: rms = fn.reductions.rms(numbers, axes=[1])
    """
    squares = _mean(jnp.square(data.astype(jnp.float32)), extent, **options)
    return _finish(jnp.sqrt(squares), dtype, out_shape)
