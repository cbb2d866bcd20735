"""Computes variance and standard deviation along axes, about a given mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan
from jdali._errors import check_samples
from jdali._kernels.fit import fit
from jdali._kernels.reduced_axes import reduced_spec, reduction_options, resolve_axes
from jdali._operators.record import Static, also_takes, operator
from jdali.ops.reductions._sum import count, masked_sum


@also_takes(reduction_options)
def _options(*, ddof: Static[int] = 0, **_: object) -> None:
    """Declares the arguments of variance and std_dev.

    Args:
        ddof: degrees of freedom subtracted from the number of elements, 0 or more.
    """


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
    data: Array, mean: Array, extent: Array, *, axes: tuple[int, ...], keep_dims: bool, ddof: int, **_: object
) -> Array:
    if not axes:  # as in DALI, the variance is 0 if no axis is reduced
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
@also_takes(_options)
def reduce_variance(
    data: Array, mean: Array, /, *, extent: tuple[Array, ...], out_shape: tuple[int, ...], **options: Any
) -> Array:
    """Computes the variance about `mean`: the sum of squared distances, divided by the number of elements minus `ddof`.

    Args:
        data: any shape, numbers or bool.
        mean: scalar, or a tensor of the reduced shape, with reduced axes dropped or of size 1.

    Returns: variances, float32.

    Example:
        mean = fn.reductions.mean(numbers)
        variance = fn.reductions.variance(numbers, mean)
    """
    return fit(_variance(data, mean, extent[0], **options), out_shape)


@operator(
    setup=_setup("reductions.std_dev"),
    name="reductions.std_dev",
    source="operators/generic/reduce/reduce_with_mean_input.h",
)
@also_takes(_options)
def reduce_std_dev(
    data: Array, mean: Array, /, *, extent: tuple[Array, ...], out_shape: tuple[int, ...], **options: Any
) -> Array:
    """Computes the standard deviation about `mean`: the square root of `reductions.variance`.

    Args:
        data: any shape, numbers or bool.
        mean: scalar, or a tensor of the reduced shape, with reduced axes dropped or of size 1.

    Returns: standard deviations, float32.

    Example:
        mean = fn.reductions.mean(numbers)
        deviation = fn.reductions.std_dev(numbers, mean)
    """
    return fit(jnp.sqrt(_variance(data, mean, extent[0], **options)), out_shape)
