"""Finds the smallest and largest element along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan, mask_padding
from jdali._kernels.fit import fit
from jdali._kernels.reduced_axes import reduced_spec, reduction_options, resolve_axes
from jdali._operators.record import also_takes, operator


def _setup(name: str) -> Callable[..., Plan]:
    def setup(data: BatchSpec, *, axes: Any, axis_names: str | None, keep_dims: bool) -> Plan:
        reduced = resolve_axes(name, data, axes, axis_names)
        return Plan((reduced_spec(data, reduced, keep_dims, data.dtype),), static={"axes": reduced})

    return setup


def _prepare(data: Array, extent: Array, neutral: object) -> Array:
    """Replaces padding by `neutral`, and also NaN, which DALI's comparisons ignore."""
    if jnp.issubdtype(data.dtype, jnp.floating):
        data = jnp.where(jnp.isnan(data), jnp.asarray(neutral, data.dtype), data)
    return mask_padding(data, extent, neutral)


def _limits(dtype: Any) -> tuple[Any, Any]:
    """Returns the smallest and largest finite value of a type, in that type."""
    if dtype == np.bool_:
        return np.False_, np.True_
    floating = jnp.issubdtype(dtype, jnp.floating)
    info: Any = jnp.finfo(dtype) if floating else np.iinfo(dtype)  # type: ignore[no-untyped-call]
    return np.asarray(info.min, dtype), np.asarray(info.max, dtype)


@operator(setup=_setup("reductions.min"), name="reductions.min", source="operators/generic/reduce/reduce.h")
@also_takes(reduction_options)
def reduce_min(data: Array, /, *, extent: Array, out_shape: tuple[int, ...], **options: Any) -> Array:
    """Finds the smallest element along axes, ignoring NaN.

    Args:
        data: any shape and type.

    Returns: minima, type of `data`; where there is nothing to reduce, the type's largest finite value.

    Example: smallest = fn.reductions.min(numbers, axes=[1])
    """
    _, largest = _limits(data.dtype)
    values = _prepare(data, extent, largest)
    result = jnp.min(values, axis=options["axes"], keepdims=options["keep_dims"], initial=largest)
    return fit(result, out_shape)


@operator(setup=_setup("reductions.max"), name="reductions.max", source="operators/generic/reduce/reduce.h")
@also_takes(reduction_options)
def reduce_max(data: Array, /, *, extent: Array, out_shape: tuple[int, ...], **options: Any) -> Array:
    """Finds the largest element along axes, ignoring NaN.

    Args:
        data: any shape and type.

    Returns: maxima, type of `data`; where there is nothing to reduce, the type's smallest finite value.

    Example: largest = fn.reductions.max(numbers, axes=[1])
    """
    smallest, _ = _limits(data.dtype)
    values = _prepare(data, extent, smallest)
    result = jnp.max(values, axis=options["axes"], keepdims=options["keep_dims"], initial=smallest)
    return fit(result, out_shape)
