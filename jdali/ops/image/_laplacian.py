"""laplacian: sums the second derivatives along all axes, by one kernel, or axis by axis if the kernel is large."""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec, Plan
from jdali._errors import check_samples
from jdali._kernels.axis_windows import sum_of_windows
from jdali._kernels.by_platform import by_platform
from jdali._kernels.correlate import SumKind, correlate_axes, padded_taps
from jdali._kernels.spatial_axes import spatial_axes
from jdali._operators.record import (
    PerFrame,
    PerSample,
    Static,
    extents_of,
    is_traced,
    operator,
    sample_of,
    wrong_length,
)

# Largest size that DALI takes (laplacian.h), although its documentation states 23.
_LARGEST = 31
_FLOAT = np.dtype(np.float32)
# Largest kernel, in elements, that is applied at once; larger kernels are faster axis by axis.
_AT_ONCE = 49


def setup(
    data: BatchSpec, *, dtype: np.dtype | None, normalized_kernel: bool, scale: object, smoothing_size: object,
    window_size: object, layout: str, frames: np.ndarray | None = None,
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
    # The method depends only on the sample's own windows, so other samples of the batch do not change its result.
    large = sizes.prod(axis=1) > _AT_ONCE
    params: dict[str, Any] = {"_large": large}
    taps = None
    lengths = _lengths(windows, smooth)
    if not large.all() or not count:
        taps = tuple(padded_taps(int(n)) for n in sizes[~large].max(axis=0, initial=1))
        params |= {
            "_kernels": np.zeros((count, axes, *taps), np.float32),
            "_sizes": sizes,
            "_support": _supports(lengths, sizes, taps),
        }
    for sample in np.flatnonzero(~large):
        own = windows[sample], (windows if smooth is None else smooth)[sample]
        extent = tuple(map(slice, sizes[sample]))
        params["_kernels"][sample][(slice(None), *extent)] = _kernels(
            tuple(own[0].tolist()), None if smooth is None else tuple(own[1].tolist()), normalized_kernel,
            tuple(sizes[sample].tolist()),
        )  # fmt: skip
    if large.any():
        vectors, factors = _vectors(lengths, normalized_kernel)
        params |= {"_windows": vectors, "_lengths": lengths.astype(np.int32), "_factors": factors}
    out = data.replace(dtype=dtype or data.dtype)
    return Plan((out,), params=params, static={"_taps": taps})


def _lengths(windows: np.ndarray, smooth: np.ndarray | None) -> np.ndarray:
    """Returns the sizes of each derivative's windows along each axis, int64 [N, axes, axes]."""
    axes = windows.shape[1]
    others = windows[:, :, None] if smooth is None else smooth[:, None, :]
    return np.where(np.eye(axes, dtype=bool), windows[:, None, :], others)


def _supports(lengths: np.ndarray, sizes: np.ndarray, taps: tuple[int, ...]) -> np.ndarray:
    """Marks the kernel elements that lie in the window of a derivative, even where the kernel is 0: bool [N, *taps].

    Args:
        lengths: see `_lengths`.
        sizes: [N, axes], sizes of the kernel, in which windows are centred.
        taps: padded sizes of the kernel.
    """
    found = np.zeros((len(lengths), *taps), np.bool_)
    for own in np.moveaxis(lengths, 1, 0):
        window = np.ones((len(lengths), *[1] * len(taps)), np.bool_)
        for axis, size in enumerate(taps):
            along = np.abs(np.arange(size) - sizes[:, axis, None] // 2) <= own[:, axis, None] // 2
            others = tuple(1 + a for a in range(len(taps)) if a != axis)
            window = window & np.expand_dims(along, others)
        found |= window
    return found


def _vectors(lengths: np.ndarray, normalized: bool) -> tuple[np.ndarray, np.ndarray]:
    """Makes the windows of the derivatives, float32 [N, axes, axes, padded], and the factor of each derivative, [N, axes].

    Args:
        lengths: [N, axes, axes], see `_lengths`.
    """
    axes = lengths.shape[1]
    smoothing, derivatives = _all_windows(-(-(int(lengths.max()) + 1) // 8) * 8 - 1)
    vectors = np.where(np.eye(axes, dtype=bool)[..., None], derivatives[lengths], smoothing[lengths])
    exponents = axes + 2 - lengths.sum(axis=2) if normalized else np.zeros(lengths.shape[:2])
    return vectors, np.exp2(exponents).astype(np.float32)


@functools.cache
def _all_windows(padded: int) -> tuple[np.ndarray, np.ndarray]:
    """Makes centred smoothing windows and derivative windows of all odd sizes: two arrays, float32 [size, padded]."""
    smoothing, derivatives = np.zeros((2, padded + 1, padded), np.float32)
    for size in range(1, padded + 1, 2):
        middle = slice((padded - size) // 2, (padded + size) // 2)
        smoothing[size, middle] = _smoothing(size)
        if size > 1:
            derivatives[size, middle] = _derivative(size)
    return smoothing, derivatives


@functools.lru_cache(maxsize=256)
def _kernels(
    windows: tuple[int, ...], smooth: tuple[int, ...] | None, normalized: bool, sizes: tuple[int, ...]
) -> np.ndarray:
    """Makes the kernel of the derivative along each axis: float32 [axes, *sizes], with the kernels centred."""
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
    return np.array([math.comb(size - 1, k) for k in range(size)], np.float64)


def _derivative(size: int) -> np.ndarray:
    return np.convolve(_smoothing(size - 2), [1.0, -2.0, 1.0])


def _check_scale(scale: Any, axes: int, normalized: bool) -> None:
    extents = scale.extents if is_traced(scale) else extents_of(np.asarray(scale))
    lengths = np.ones(0) if extents is None else extents.prod(axis=1)
    wrong = (lengths != 1) & (lengths != axes)
    check_samples(
        wrong, lambda i: f"laplacian: {wrong_length('scale', axes, int(lengths[i]), i)}", argument="scale"
    )
    if normalized and (is_traced(scale) or any(np.any(np.asarray(one) != 1) for one in scale)):
        raise ValueError(
            "laplacian: Parameter ``scale`` cannot be specified when ``normalized_kernel`` is set to True"
        )


def _per_axis(
    name: str, values: object, count: int, axes: int, least: int, frames: np.ndarray | None
) -> np.ndarray:
    """Broadcasts an argument with one odd size, or one per axis, to int64 [N, axes]; raises for other values."""
    array = np.asarray(values)
    lengths = extents_of(array).prod(axis=1)
    wrong = (lengths != 1) & (lengths != axes)
    check_samples(
        wrong, lambda i: f"laplacian: {wrong_length(name, axes, int(lengths[i]), i)}", argument=name
    )
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


@operator(
    setup=setup,
    setup_needs=lambda arguments: ("window_size", "smoothing_size"),  # `scale` is only checked if it is known
    source="operators/image/convolution/laplacian.cc",
)
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
    _large: PerSample[Array | None] = None,
    _kernels: PerSample[Array | None] = None,
    _sizes: PerSample[Array | None] = None,
    _support: PerSample[Array | None] = None,
    _windows: PerSample[Array | None] = None,
    _lengths: PerSample[Array | None] = None,
    _factors: PerSample[Array | None] = None,
    _taps: Static[tuple[int, ...] | None] = None,
    extent: Array,
    out_shape: tuple[int, ...],
    layout: str,
) -> Array:
    """Sums second derivatives along all axes; data are mirrored at borders without repeating the outermost element.

    The derivative along an axis is a second difference, smoothed along all axes by binomial
    coefficients. With size 3, the difference is 1, -2, 1, and the smoothing along the other axes 1, 2, 1.

    Args:
        data: up to three axes besides C and F; integers, float16 or float32. Derivatives along C and F are not taken.
        dtype: type of the output, float32 or the data's; None: the data's.
        normalized_kernel: scale the derivative along an axis by 2^(n + 2 - s), where n is the number of axes and s the sum of
            the sizes of the derivative's windows; `scale` must then be 1.
        scale: factor of each derivative, one for all axes, or one per axis.
        smoothing_size: size of the smoothing along the other axes, odd, 1 to 31: one for all axes, or one per axis; 1:
            no smoothing; None: the `window_size` of the derivative.
        window_size: size of the derivative, odd, 3 to 31: one for all axes, or one per axis.

    Returns: shape of the data, `dtype`, rounded half away from zero and saturated.

    Parity: sums are computed in a different order. Floats may differ by a few rounding errors of the largest sum, and
    integers by 1 where a sum is close to a half.

    Example: images = fn.laplacian(images, window_size=5, dtype=types.UINT8, scale=0.2)
    """
    first, last = spatial_axes("laplacian", layout, data.ndim)
    axes = last - first
    if not data.size:
        return jnp.zeros(out_shape, dtype or data.dtype)
    scales = jnp.asarray(scale, jnp.float32)
    if _scale_extent is not None and scales.shape != (axes,):
        scales = jnp.where(_scale_extent[0] == 1, scales[0], jnp.resize(scales, (axes,)))
    scales = jnp.broadcast_to(scales, (axes,))
    values = data if data.dtype.itemsize < 4 or data.dtype == np.float32 else data.astype(jnp.float32)
    result = np.dtype(dtype or data.dtype)
    common = (first, last), SumKind("reflect_101", result), out_shape
    at_once, by_axis = functools.partial(_at_once, *common, _taps), functools.partial(_by_axis, *common)
    operands = jax.tree.map(
        jnp.asarray, (values, scales, (_kernels, _sizes, _support), (_windows, _lengths, _factors), extent)
    )
    if _windows is None:
        return at_once(*operands)
    if _kernels is None:
        return by_axis(*operands)

    def either(large: Array, *operands: object) -> Array:
        found: Array = lax.cond(large, by_axis, at_once, *operands)
        return found

    # A CPU computes one sample after the other, so only one branch runs for each sample.
    return by_platform(either, either)(jnp.asarray(_large), *operands)


def _at_once(
    axes: tuple[int, int], kind: SumKind, shape: tuple[int, ...], taps: tuple[int, ...] | None,
    data: Array, scales: Array, kernels: tuple[Array, Array, Array], windows: object, extent: Array,
) -> Array:  # fmt: skip
    """Correlates with one kernel, which is the sum of the kernels of all derivatives."""
    del windows
    assert taps is not None
    derivatives, sizes, support = kernels
    kernel = (derivatives * scales.reshape(-1, *[1] * len(scales))).sum(0)
    zero = jnp.zeros((), data.dtype)
    return correlate_axes(
        kind, axes, taps, data, kernel, zero, sizes // 2, extent, sizes, shape=shape, support=support
    )


def _by_axis(
    axes: tuple[int, int], kind: SumKind, shape: tuple[int, ...],
    data: Array, scales: Array, kernels: object, windows: tuple[Array, Array, Array], extent: Array,
) -> Array:  # fmt: skip
    """Computes each derivative by separable windows, axis by axis, and sums them."""
    del kernels
    vectors, lengths, factors = windows
    return sum_of_windows(axes, kind, data, vectors, lengths, scales * factors, extent, shape=shape)
