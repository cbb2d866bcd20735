"""Resamples one sample axis by axis, with the algorithm for its platform, and defines the derivative.

A CPU runs `resample_taps`, whose work depends on the true sizes, or `resample_small` for small arrays. A GPU runs
`resample_whole`, which computes the same bits. On a TPU, where a gather is slow, each axis is multiplied by a dense
weight matrix. The derivative is the same matrix product, because resampling is linear in the image.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.custom_batching import custom_vmap

from jdali._batches import Rising
from jdali._kernels.by_platform import by_platform, differentiable
from jdali._kernels.resample_filters import FILTER, NN, Reach, dense_reach, dense_weights, nearest_elements
from jdali._kernels.resample_taps import resample_small, resample_taps
from jdali._kernels.resample_whole import resample_whole
from jdali._kernels.take_window import take_grid
from jdali._numerics.platform import one_program
from jdali._numerics.rounding import saturate_cast
from jdali._system.jax_internals import is_mapped
from jdali._system.jax_modes import usual_modes

# An image is small if input size × output size is at most this number along each axis.
_SMALL = 48 * 48


def resample(
    image: Array,
    filters: Array,
    extent: Array,
    out_extent: Array,
    out_shape: tuple[int, ...],
    *,
    dtype: np.dtype,
    nearest: bool | None = False,
    reach: Rising | None = None,
) -> Array:
    """Resamples all axes but the last; see `resample_filters` for the meaning of `filters`.

    Args:
        image: [*shape, C], padded; channels past those of `out_shape` are dropped.
        filters: float32 [d, 5].
        extent: int32 [d], true size of `image` without C.
        out_extent: int32 [d], true size of the result without C.
        out_shape: padded shape of the result.
        dtype: type of the result; integers are rounded half away from zero and saturated.
        nearest: static; True: all filters are NN (nearest neighbour), so elements are copied; False: no filter is NN;
            None: `filters` decides at run time.
        reach: static, see `Reach`; None: the filters are not known on the host.

    Returns: `dtype` [*out_shape]; past `out_extent` the values are unspecified.
    """
    if 0 in image.shape or 0 in out_shape:
        return jnp.zeros(out_shape, dtype)
    image, out_shape = image[..., : out_shape[-1]], out_shape[:-1]
    if nearest:
        picked: Array = _pick(image, filters, extent, tuple(out_shape), np.dtype(dtype))
        return picked
    small = all(n * m <= _SMALL for n, m in zip(image.shape, out_shape, strict=False))
    room = int(Reach.ANY if reach is None else reach.value)
    result: Array = _weighted(
        image, filters, extent, out_extent, tuple(out_shape), np.dtype(dtype), small, room
    )
    if nearest is None:
        picked = _pick(image, filters, extent, tuple(out_shape), np.dtype(dtype))
        return jnp.where((filters[:, FILTER] == NN).all(), picked, result)
    return result


@one_program(static_argnums=(3, 4))
def _pick(image: Array, filters: Array, extent: Array, out_shape: tuple[int, ...], dtype: np.dtype) -> Array:
    def taken(image: Array, filters: Array, extent: Array) -> Array:
        last = len(out_shape) - 1
        indices = [
            nearest_elements(filters[axis], extent[axis], count, last_axis=axis == last)
            for axis, count in enumerate(out_shape)
        ]
        return saturate_cast(take_grid(image, indices, mode="promise_in_bounds"), dtype)

    # On a CPU, samples are gathered one after the other, because a gather that also indexes the samples takes twice as long.
    return by_platform(taken, taken)(image, filters, extent)


def _dense(
    image: Array,
    filters: Array,
    extent: Array,
    out_shape: tuple[int, ...],
    matrix: Callable[[Array, Array, int, int], Array] = dense_weights,
) -> Array:
    """Resamples by matrix products: float32 [*out_shape, C]. The result is linear in `image`, so JAX can transpose it.

    Args:
        image, filters, extent, out_shape: see `resample`.
        matrix: computes the matrix of an axis, as `dense_weights` does.
    """
    value = image.astype(jnp.float32)
    for axis, count in enumerate(out_shape):
        weights = matrix(filters[axis], extent[axis], value.shape[axis], count)
        if jnp.issubdtype(image.dtype, jnp.floating):  # padding may hold NaN
            row = jnp.arange(value.shape[axis], dtype=jnp.int32) < extent[axis]
            value = jnp.where(jnp.expand_dims(row, [a for a in range(value.ndim) if a != axis]), value, 0)
        # By default, TPUs and newer GPUs round the operands to fewer bits.
        value = jnp.tensordot(weights, value, axes=(1, axis), precision=lax.Precision.HIGHEST)
        value = jnp.moveaxis(value, 0, axis)
    return value


def _dense_of_any(image: Array, filters: Array, extent: Array, out_shape: tuple[int, ...]) -> Array:
    """Applies `_dense` to pixels that may be NaN or infinite. Only outputs whose window covers such a pixel become NaN."""
    if not jnp.issubdtype(image.dtype, jnp.floating):
        return _dense(image, filters, extent, out_shape)
    finite = jnp.isfinite(image)
    result = _dense(jnp.where(finite, image, 0), filters, extent, out_shape)
    touched = _dense((~finite).astype(jnp.float32), filters, extent, out_shape, dense_reach)
    return jnp.where(touched > 0, jnp.float32(jnp.nan), result)


@one_program(static_argnums=(4, 5, 6, 7))
def _weighted(
    image: Array,
    filters: Array,
    extent: Array,
    out_extent: Array,
    out_shape: tuple[int, ...],
    dtype: np.dtype,
    small: bool,
    reach: int,
) -> Array:
    """Resamples by weighted sums of elements; a small array is not split into tiles."""

    def dense(image: Array, filters: Array, extent: Array, out_extent: Array) -> Array:
        del out_extent  # values past the true size are unspecified
        return saturate_cast(_dense_of_any(image, filters, extent, out_shape), dtype)

    def whole(image: Array, filters: Array, extent: Array, out_extent: Array) -> Array:
        del out_extent
        return resample_whole(image, filters, extent, out_shape, dtype, reach)

    def taps(image: Array, filters: Array, extent: Array, out_extent: Array) -> Array:
        batch = _batched_taps(out_shape, dtype, reach)
        return batch(image[None], filters[None], extent[None], out_extent[None])[0]

    def few(image: Array, filters: Array, extent: Array, out_extent: Array) -> Array:
        del out_extent
        return saturate_cast(resample_small(image, filters, extent, out_shape, reach), dtype)

    def derivative(primals: tuple[Array, ...], tangents: tuple[Any, ...]) -> tuple[Array, object]:
        image, filters, extent, _ = primals
        out = run(*primals)
        if not jnp.issubdtype(dtype, jnp.floating):
            return out, np.zeros(out.shape, jax.dtypes.float0)
        if not jnp.issubdtype(image.dtype, jnp.floating):
            return out, jnp.zeros_like(out)
        return out, _dense(tangents[0], filters, extent, out_shape).astype(dtype)

    run = differentiable(few if small else taps, whole, derivative, tpu=dense)
    return run(image, filters, extent, out_extent)


@functools.lru_cache(maxsize=256)
def _batched_taps(out_shape: tuple[int, ...], dtype: np.dtype, reach: int) -> Callable[..., Array]:
    """Wraps `resample_taps` so that `vmap` extends its batch axis and does not vectorize its loops.

    In a vectorized loop, every sample takes as many iterations as the largest one.
    """

    @custom_vmap
    def batch(images: Array, filters: Array, extents: Array, out_extents: Array) -> Array:
        return resample_taps(images, filters, extents, out_extents, out_shape, dtype, reach)

    @custom_vmap
    def mapped(images: Array, *_: Array) -> Array:  # traced only to find the shape of the result
        return lax.full((len(images), *out_shape, images.shape[-1]), 0, dtype)

    @usual_modes()
    def merge(axis_size: int, in_batched: list[bool], *arrays: Array) -> tuple[Array, bool]:
        flat = []
        for array, batched in zip(arrays, in_batched, strict=True):
            if not batched:
                array = jnp.broadcast_to(array, (axis_size, *array.shape))
            flat.append(array.reshape(-1, *array.shape[2:]))
        result = call(*flat)
        return result.reshape(axis_size, -1, *result.shape[1:]), True

    batch.def_vmap(merge)
    mapped.def_vmap(merge)

    def call(*arrays: Array) -> Array:
        result: Array = (mapped if any(map(is_mapped, arrays)) else batch)(*arrays)
        return result

    return call
