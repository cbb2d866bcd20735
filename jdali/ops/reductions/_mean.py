"""Mean, mean of squares and root of the mean of squares along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan
from jdali._kernels.fit import fit
from jdali._kernels.reduced_axes import reduced_spec, resolve_axes
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import Static, operator
from jdali.ops.reductions._sum import count, masked_sum


def _setup(name: str) -> Callable[..., Plan]:
    def setup(
        data: BatchSpec, *, axes: Any, axis_names: str | None, keep_dims: bool, dtype: np.dtype | None
    ) -> Plan:
        reduced = resolve_axes(name, data, axes, axis_names)
        out = dtype or np.dtype(np.float32)
        return Plan((reduced_spec(data, reduced, keep_dims, out),), static={"axes": reduced, "dtype": out})

    return setup


def _mean(value: Array, extent: Array, axes: tuple[int, ...] | None, keep_dims: bool) -> Array:
    """Computes the mean as float32; the sum is taken in the dtype of `value`."""
    axes = tuple(range(value.ndim)) if axes is None else axes
    total = masked_sum(value, extent, axes, keep_dims).astype(jnp.float32)
    return total * (1 / count(extent, axes))


def _finish(value: Array, dtype: np.dtype | None, out_shape: tuple[int, ...] | None) -> Array:
    """Converts a mean: DALI cuts its fraction off for integers, unlike all its other casts."""
    out = np.dtype(dtype or np.float32)
    result = saturate_cast(jnp.trunc(value) if out.kind in "iu" else value, out)
    return result if out_shape is None else fit(result, out_shape)


@operator(setup=_setup("reductions.mean"), name="reductions.mean", source="operators/generic/reduce/mean.h")
def reduce_mean(
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
    """Computes the mean along axes; an integer result is rounded toward zero.

    Args:
        data: any shape, numbers or bool.
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        dtype: type of the result; None: FLOAT.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.

    Returns: means, `dtype`; NaN where there is nothing to reduce.

    Parity: DALI accumulates in `dtype`, so its UINT8 mean of 200 and 200 is 72; here the sum of small
    integers does not overflow.

    Example: mean = fn.reductions.mean(images, axes=[0, 1])
    """
    if np.dtype(dtype or np.float32).kind in "iu" and data.dtype.kind in "iub":
        wide: Any = data.dtype
        if wide.itemsize < 4:
            wide = jnp.uint32 if wide.kind in "ub" else jnp.int32
        return _finish(_mean(data.astype(wide), extent, axes, keep_dims), dtype, out_shape)
    return _finish(_mean(data.astype(jnp.float32), extent, axes, keep_dims), dtype, out_shape)


@operator(
    setup=_setup("reductions.mean_square"),
    name="reductions.mean_square",
    source="operators/generic/reduce/mean_square.h",
)
def reduce_mean_square(
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
    """Computes the mean of the squares along axes; an integer result is rounded toward zero.

    Args:
        data: any shape, numbers or bool.
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        dtype: type of the result; None: FLOAT.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.

    Returns: means of squares, `dtype`; NaN where there is nothing to reduce.

    Parity: DALI squares integers in 32 or 64 bits and overflows there (UINT16 65535 gives a negative
    mean); here they are squared as floats.

    Example: squares = fn.reductions.mean_square(numbers, axes=[1])
    """
    return _finish(_mean(jnp.square(data.astype(jnp.float32)), extent, axes, keep_dims), dtype, out_shape)


@operator(
    setup=_setup("reductions.rms"),
    name="reductions.rms",
    source="operators/generic/reduce/root_mean_square.h",
)
def reduce_rms(
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
    """Computes the square root of the mean of the squares along axes; an integer result is rounded toward zero.

    Args:
        data: any shape, numbers or bool.
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        dtype: type of the result; None: FLOAT.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.

    Returns: roots, `dtype`; NaN where there is nothing to reduce.

    Parity: as `reductions.mean_square`, no overflow of integers.

    Example: rms = fn.reductions.rms(numbers, axes=[1])
    """
    squares = _mean(jnp.square(data.astype(jnp.float32)), extent, axes, keep_dims)
    return _finish(jnp.sqrt(squares), dtype, out_shape)
