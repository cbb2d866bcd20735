"""Variance and standard deviation along axes, about a mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan
from jdali._errors import check_samples
from jdali._kernels.fit import fit
from jdali._kernels.reduced_axes import reduced_spec, resolve_axes
from jdali._operators.record import Static, operator
from jdali.ops.reductions._sum import count, masked_sum


def _setup(name: str) -> Callable[..., Plan]:
    def setup(
        data: BatchSpec, mean: BatchSpec, *, axes: Any, axis_names: str | None, keep_dims: bool
    ) -> Plan:
        reduced = resolve_axes(name, data, axes, axis_names)
        kept, dropped = (reduced_spec(data, reduced, keep, np.dtype(np.float32)) for keep in (True, False))
        if mean.ndim:
            wanted = kept if mean.ndim == data.ndim else dropped
            alike = mean.ndim == wanted.ndim
            check_samples(
                (mean.extents != wanted.extents).any(axis=1) if alike else np.ones(mean.batch_size, bool),
                lambda i: (
                    f"{name}: the mean has extent {tuple(mean.extents[i].tolist())}; it must be a scalar or "
                    f"have the reduced extent {tuple(dropped.extents[i].tolist())}"
                ),
                argument="mean",
            )
        return Plan((kept if keep_dims else dropped,), static={"axes": reduced})

    return setup


def _variance(
    data: Array, mean: Array, axes: tuple[int, ...] | None, keep_dims: bool, ddof: int, extent: Array
) -> Array:
    axes = tuple(range(data.ndim)) if axes is None else axes
    if not axes:  # DALI reports no spread if nothing is reduced
        return jnp.zeros(data.shape, jnp.float32)
    center = mean.astype(jnp.float32)
    if center.ndim:
        if center.ndim != data.ndim:
            center = jnp.expand_dims(center, axes)
        center = fit(center, [1 if a in axes else n for a, n in enumerate(data.shape)])
    squares = jnp.square(data.astype(jnp.float32) - center)
    total = masked_sum(squares, extent, axes, keep_dims)
    return total * (1 / (count(extent, axes) - ddof))


@operator(
    setup=_setup("reductions.variance"),
    name="reductions.variance",
    source="operators/generic/reduce/reduce_with_mean_input.h",
)
def reduce_variance(
    data: Array,
    mean: Array,
    /,
    *,
    axes: Static[tuple[int, ...] | None] = None,
    axis_names: Static[str | None] = None,
    keep_dims: Static[bool] = False,
    ddof: Static[int] = 0,
    extent: tuple[Array, ...],
    out_shape: tuple[int, ...] | None = None,
) -> Array:
    """Sums the squared distances from `mean`, divided by the number of elements less `ddof`.

    Args:
        data: any shape, numbers or bool.
        mean: scalar, or of the reduced shape (reduced axes dropped, or kept with size 1).
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        ddof: degrees of freedom lost, 0 or more.
        extent: int32 [ndim] each, true sizes of `data` and `mean`.
        out_shape: static, padded shape to return; None: the reduced shape.

    Returns: variances, float32.

    Example:
        mean = fn.reductions.mean(numbers)
        variance = fn.reductions.variance(numbers, mean)
    """
    result = _variance(data, mean, axes, keep_dims, ddof, extent[0])
    return result if out_shape is None else fit(result, out_shape)


@operator(
    setup=_setup("reductions.std_dev"),
    name="reductions.std_dev",
    source="operators/generic/reduce/reduce_with_mean_input.h",
)
def reduce_std_dev(
    data: Array,
    mean: Array,
    /,
    *,
    axes: Static[tuple[int, ...] | None] = None,
    axis_names: Static[str | None] = None,
    keep_dims: Static[bool] = False,
    ddof: Static[int] = 0,
    extent: tuple[Array, ...],
    out_shape: tuple[int, ...] | None = None,
) -> Array:
    """Computes the square root of the variance about `mean`.

    Args:
        data: any shape, numbers or bool.
        mean: scalar, or of the reduced shape (reduced axes dropped, or kept with size 1).
        axes: axes to reduce, negative ones from the back, [] for none; None: all.
        axis_names: the axes by their letters in the layout, in place of `axes`.
        keep_dims: keep reduced axes with size 1.
        ddof: degrees of freedom lost, 0 or more.
        extent: int32 [ndim] each, true sizes of `data` and `mean`.
        out_shape: static, padded shape to return; None: the reduced shape.

    Returns: standard deviations, float32.

    Example:
        mean = fn.reductions.mean(numbers)
        deviation = fn.reductions.std_dev(numbers, mean)
    """
    result = jnp.sqrt(_variance(data, mean, axes, keep_dims, ddof, extent[0]))
    return result if out_shape is None else fit(result, out_shape)
