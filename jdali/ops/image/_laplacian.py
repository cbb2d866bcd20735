"""Laplacian: the sum of second derivatives along all axes, as one correlation."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches.extent import BatchSpec, Plan
from jdali._errors import check_samples
from jdali._operators.argument_rules import extents_of, wrong_length
from jdali._operators.call import is_traced
from jdali._operators.frames import sample_of
from jdali._operators.record import PerFrame, PerSample, Static, operator
from jdali.ops.image._correlate import Kind, correlate_axes, padded_taps
from jdali.ops.image._spatial_axes import spatial_axes

# laplacian.h: sizes that DALI takes (its documentation says 23).
_LARGEST = 31
_FLOAT = np.dtype(np.float32)


# --- setup --------------------------------------------------------------------------------------
def setup(
    data: BatchSpec, *, dtype: np.dtype[Any] | None, normalized_kernel: bool, scale: Any, smoothing_size: Any,
    window_size: Any, layout: str, frames: np.ndarray | None = None,
) -> Plan:  # fmt: skip
    first, last = spatial_axes("laplacian", layout, data.ndim)
    count, axes = data.batch_size, last - first
    if data.dtype == np.float64 or data.dtype.kind not in "iuf":
        raise ValueError(
            f"laplacian: Unsupported data type: {data.dtype}. Supported are integers, float16 and float32; cast it"
        )
    if dtype not in (None, data.dtype, _FLOAT):
        raise ValueError(
            "laplacian: Output data type must be same as input, FLOAT or skipped (defaults to input type). Got "
            f"{dtype} for {data.dtype}"
        )
    windows = _per_axis("window_size", window_size, count, axes, 3, frames)
    smooth = None
    if smoothing_size is not None:
        smooth = _per_axis("smoothing_size", smoothing_size, count, axes, 1, frames)
    _check_scale(scale, axes, normalized_kernel)
    sizes = np.maximum(windows, windows.max(axis=1, keepdims=True) if smooth is None else smooth).astype(
        np.int32
    )
    if axes == 1:
        sizes = windows.astype(np.int32)
    taps = tuple(padded_taps(int(n)) for n in sizes.max(axis=0)) if count else (1,) * axes
    kernels = np.zeros((count, axes, *taps), np.float32)
    for sample, own in enumerate(zip(windows, windows if smooth is None else smooth, strict=True)):
        extent = tuple(map(slice, sizes[sample]))
        kernels[sample][(slice(None), *extent)] = _kernels(
            tuple(own[0].tolist()), None if smooth is None else tuple(own[1].tolist()), normalized_kernel,
            tuple(sizes[sample].tolist()),
        )  # fmt: skip
    out = data.replace(dtype=dtype or data.dtype)
    return Plan((out,), params={"_kernels": kernels, "_sizes": sizes}, static={"_taps": taps})


@functools.lru_cache(maxsize=256)
def _kernels(
    windows: tuple[int, ...], smooth: tuple[int, ...] | None, normalized: bool, sizes: tuple[int, ...]
) -> np.ndarray:
    """float32 [axes, *sizes]: for each axis the kernel of the derivative along it, in the middle."""
    found = np.zeros((len(windows), *sizes), np.float32)
    for axis, window in enumerate(windows):
        lengths = [window if a == axis or smooth is None else smooth[a] for a in range(len(windows))]
        vectors = [_derivative(n) if a == axis else _smoothing(n) for a, n in enumerate(lengths)]
        kernel = functools.reduce(np.multiply.outer, vectors)
        if normalized:
            kernel = kernel * 2.0 ** (len(windows) + 2 - sum(lengths))
        corner = [(size - n) // 2 for size, n in zip(sizes, lengths, strict=True)]
        middle = tuple(slice(c, c + n) for c, n in zip(corner, lengths, strict=True))
        found[axis][middle] = kernel
    return found


def _smoothing(size: int) -> np.ndarray:
    """Binomial coefficients."""
    return np.array([math.comb(size - 1, k) for k in range(size)], np.float64)


def _derivative(size: int) -> np.ndarray:
    """Second differences, smoothed."""
    return np.convolve(_smoothing(size - 2), [1.0, -2.0, 1.0])


def _check_scale(scale: Any, axes: int, normalized: bool) -> None:
    extents = scale.extents if is_traced(scale) else extents_of(np.asarray(scale))
    lengths = np.ones(0) if extents is None else extents.prod(axis=1)
    wrong = (lengths != 1) & (lengths != axes)
    check_samples(
        wrong, lambda i: f"laplacian: {wrong_length('scale', axes, lengths[i], i)}", argument="scale"
    )
    if normalized and (is_traced(scale) or any(np.any(np.asarray(one) != 1) for one in scale)):
        raise ValueError(
            "laplacian: Parameter ``scale`` cannot be specified when ``normalized_kernel`` is set to True"
        )


def _per_axis(
    name: str, values: Any, count: int, axes: int, least: int, frames: np.ndarray | None
) -> np.ndarray:
    """int64 [N, axes] of an argument that has one value or one for each axis: odd sizes."""
    array = np.asarray(values)
    lengths = extents_of(array).prod(axis=1)
    wrong = (lengths != 1) & (lengths != axes)
    check_samples(wrong, lambda i: f"laplacian: {wrong_length(name, axes, lengths[i], i)}", argument=name)
    rows = [np.broadcast_to(np.asarray(one).reshape(-1), (axes,)) for one in array]
    sizes = np.array(rows, np.int64).reshape(count, axes)
    bad = ((sizes < least) | (sizes > _LARGEST) | (sizes % 2 == 0)).any(axis=1)
    title = "Window size" if name == "window_size" else "Smoothing window size"
    check_samples(
        bad,
        lambda i: (
            f"laplacian: {title} must be an odd integer between {least} and {_LARGEST}, got {sizes[i].tolist()} for "
            f"sample: {sample_of(i, frames)}."
        ),
        argument=name,
    )
    return sizes


def size_arguments(given: Mapping[str, Any]) -> tuple[str, ...]:
    """What `setup` needs: `scale` is only checked, where it is known."""
    return ("window_size", "smoothing_size")


# --- run ----------------------------------------------------------------------------------------
@operator(setup=setup, setup_needs=size_arguments, source="operators/image/convolution/laplacian.cc")
def laplacian(
    data: Array,
    /,
    *,
    dtype: Static[np.dtype | None] = None,
    normalized_kernel: Static[bool] = False,
    scale: PerFrame[tuple[float, ...] | list[float]] = (1.0,),
    smoothing_size: PerFrame[tuple[int, ...] | list[int] | None] = None,
    window_size: PerFrame[tuple[int, ...] | list[int]] = (3,),
    _scale_extent: PerSample[Array | None] = None,
    _kernels: PerSample[Array | None] = None,
    _sizes: PerSample[Array | None] = None,
    _taps: Static[tuple[int, ...] | None] = None,
    extent: Array,
    out_shape: tuple[int, ...],
    layout: str,
) -> Array:
    """Sums second derivatives along all axes; the borders are mirrored without repeating the outermost element.

    The derivative along an axis is a second difference, smoothed along that axis and the others by binomial
    coefficients: of size 3 it is 1, -2, 1, and the smoothing 1, 2, 1.

    Args:
        data: up to three axes, and C and F, which are no axes to derive along; integers, float16 or float32.
        dtype: of the output: float32, or None: the data's.
        normalized_kernel: scale the derivative along an axis by 2^(n + 2 - s), with n the number of axes and s
            the sum of the sizes of its windows; `scale` must be 1 then.
        scale: factor of each derivative, one for all axes or one for each.
        smoothing_size: of the windows that smooth along the other axes, one for all axes or one for each, odd, 1 to 31; 1:
            none; None: the `window_size` of the derivative.
        window_size: of the derivative along each axis, one for all or one for each, odd, 3 to 31.

    Returns: shape of the data, `dtype`, rounded half away from zero and saturated.

    Parity: sums are in another order, so floats differ by some roundings of the largest sum, and integers by 1 where a
    sum lies that close to a half.
    """
    first, last = spatial_axes("laplacian", layout, data.ndim)
    axes = last - first
    assert _taps is not None
    if not data.size:
        return jnp.zeros(out_shape, dtype or data.dtype)
    scales = jnp.asarray(scale, jnp.float32)
    if _scale_extent is not None and scales.shape != (axes,):
        scales = jnp.where(_scale_extent[0] == 1, scales[0], jnp.resize(scales, (axes,)))
    scales = jnp.broadcast_to(scales, (axes,)).reshape(axes, *[1] * axes)
    kernel = (jnp.asarray(_kernels, jnp.float32) * scales).sum(0)
    sizes = jnp.asarray(_sizes, jnp.int32)
    kind = Kind("reflect_101", np.dtype(dtype or data.dtype))
    values = data if data.dtype.itemsize < 4 or data.dtype == np.float32 else data.astype(jnp.float32)
    zero = jnp.zeros((), values.dtype)
    return correlate_axes(
        kind, (first, last), _taps, values, kernel, zero, sizes // 2, extent, sizes, shape=out_shape
    )
