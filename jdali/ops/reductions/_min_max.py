"""Smallest and largest element along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan, mask_padding
from jdali._kernels.fit import fit
from jdali._kernels.reduced_axes import reduced_spec, resolve_axes
from jdali._operators.record import Static, operator


def _setup(name: str) -> Callable[..., Plan]:
    def setup(data: BatchSpec, *, axes: Any, axis_names: str | None, keep_dims: bool) -> Plan:
        reduced = resolve_axes(name, data, axes, axis_names)
        return Plan((reduced_spec(data, reduced, keep_dims, data.dtype),), static={"axes": reduced})

    return setup


def _prepare(data: Array, extent: Array, neutral: object) -> Array:
    """Replaces padding and NaN by `neutral`: DALI's comparisons pass over NaN."""
    if jnp.issubdtype(data.dtype, jnp.floating):
        data = jnp.where(jnp.isnan(data), jnp.asarray(neutral, data.dtype), data)
    return mask_padding(data, extent, neutral)


def _limits(dtype: Any) -> tuple[Any, Any]:
    """Returns the smallest and largest finite value, of that dtype."""
    if dtype == np.bool_:
        return np.False_, np.True_
    floating = jnp.issubdtype(dtype, jnp.floating)
    info: Any = jnp.finfo(dtype) if floating else np.iinfo(dtype)  # type: ignore[no-untyped-call]
    return np.asarray(info.min, dtype), np.asarray(info.max, dtype)


@operator(setup=_setup("reductions.min"), name="reductions.min", source="operators/generic/reduce/reduce.h")
def reduce_min(
    data: Array,
    /,
    *,
    axes: Static[tuple[int, ...] | None] = None,
    axis_names: Static[str | None] = None,
    keep_dims: Static[bool] = False,
    extent: Array,
    out_shape: tuple[int, ...] | None = None,
) -> Array:
    """Finds the smallest element along axes; NaN is passed over.

    Args:
        data: any shape and type.
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.

    Returns: minima, dtype of `data`; its largest finite value where there is nothing to reduce.

    Example: smallest = fn.reductions.min(numbers, axes=[1])
    """
    _, largest = _limits(data.dtype)
    axes = tuple(range(data.ndim)) if axes is None else axes
    result = jnp.min(_prepare(data, extent, largest), axis=axes, keepdims=keep_dims, initial=largest)
    return result if out_shape is None else fit(result, out_shape)


@operator(setup=_setup("reductions.max"), name="reductions.max", source="operators/generic/reduce/reduce.h")
def reduce_max(
    data: Array,
    /,
    *,
    axes: Static[tuple[int, ...] | None] = None,
    axis_names: Static[str | None] = None,
    keep_dims: Static[bool] = False,
    extent: Array,
    out_shape: tuple[int, ...] | None = None,
) -> Array:
    """Finds the largest element along axes; NaN is passed over.

    Args:
        data: any shape and type.
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        extent: int32 [ndim], true size of `data`.
        out_shape: static, padded shape to return; None: the reduced shape.

    Returns: maxima, dtype of `data`; its smallest finite value where there is nothing to reduce.

    Example: largest = fn.reductions.max(numbers, axes=[1])
    """
    smallest, _ = _limits(data.dtype)
    axes = tuple(range(data.ndim)) if axes is None else axes
    result = jnp.max(_prepare(data, extent, smallest), axis=axes, keepdims=keep_dims, initial=smallest)
    return result if out_shape is None else fit(result, out_shape)
