"""gaussian_blur: a separable filter, axis by axis, computed on a CPU as products with banded matrices.

Rows along an axis are computed in blocks. A block is the product of two matrices. One contains the window, mirrored at
the borders; the other contains the input rows that the block needs. This takes more multiplications than a sum over the
window, but is faster on a CPU for windows of three elements and more.

On accelerators, memory limits the speed, so a window of at most `_TAPS` elements is summed in one pass over the axis.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec, Plan, reflect_101
from jdali._errors import check_samples
from jdali._kernels.by_platform import by_platform, loop
from jdali._kernels.fit import fit
from jdali._kernels.spatial_axes import spatial_axes
from jdali._kernels.take_window import take_grid
from jdali._numerics.platform import of_whole_batch, one_program
from jdali._numerics.rounding import saturate_cast, varying_like
from jdali._numerics.sums import fixed_sum
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

# Number of rows of one matrix product. A smaller number wastes less work for small windows, but more for large windows.
BLOCK = 32
# Maximum number of lines (along the filtered axis) in one matrix product; its operands then stay in the cache.
LINES = 4096
# Largest padded window, in elements, that an accelerator sums in one pass; XLA compiles larger sums too slowly.
_TAPS = 33
# Images with at most this number of elements are computed without a loop, because a loop is not worth its compile time.
SMALL = 1 << 16


def data_axes(layout: str, ndim: int) -> tuple[int, ...]:
    """Returns the axes to blur: all except channels and frames, or all without a layout. Raises for more than three axes."""
    axes = tuple(a for a in range(ndim) if not layout or layout[a] not in "CF")
    if not 1 <= len(axes) <= 3 or len(set(layout)) < len(layout):
        return tuple(range(*spatial_axes("gaussian_blur", layout, ndim)))
    return axes


def radius_bucket(radius: int) -> int:
    """Rounds a radius up to a value for which programs are compiled: 0, 4, 8, 16, ..."""
    return max(4, 1 << (radius - 1).bit_length()) if radius else 0


def setup(
    images: BatchSpec, *, dtype: np.dtype | None, sigma: Any, window_size: Any, layout: str,
    frames: np.ndarray | None = None,
) -> Plan:  # fmt: skip
    axes = data_axes(layout, images.ndim)
    count = images.batch_size
    window = _per_axis("window_size", window_size, count, len(axes))
    params = {}
    # If all window sizes are known, a traced sigma is needed only for the weights, which the compiled program computes.
    if is_traced(sigma) and (window > 0).all():
        _check_lengths("sigma", sigma.extents, len(axes))
    else:
        sigmas = _per_axis("sigma", sigma, count, len(axes)).astype(np.float32)
        _refuse(
            sigmas < 0,
            "`sigma` must have non-negative values, got {value:g} for sample: {sample}, axis: {axis}.",
            sigmas,
            "sigma",
            frames,
        )
        neither = (sigmas == 0) & (window == 0)
        _refuse(
            neither,
            "`sigma` and `window_size` shouldn't be 0 at the same time for sample: {sample}, axis: {axis}.",
            sigmas,
            "sigma",
            frames,
        )
        window = np.where(window == 0, 2 * np.ceil(3 * sigmas).astype(np.int32) + 1, window)
        # OpenCV's rule for the sigma of a window, as in DALI (gaussian_blur.h).
        default = ((window - 1) // 2 - 1).astype(np.float32) * np.float32(0.3) + np.float32(0.8)
        params["sigma"] = np.where(sigmas == 0, default, sigmas)
    negative = "`window_size` must have non-negative values, got {value} for sample: {sample}, axis : {axis}."
    _refuse(window < 0, negative, window, "window_size", frames)
    even = "Kernel window should have odd length, got: {value}. It is window_size of sample: {sample}, axis: {axis}."
    _refuse(window % 2 == 0, even, window, "window_size", frames)
    params["window_size"] = window.astype(np.int32)
    largest = window.max(axis=0) if count else np.ones(len(axes), np.int64)
    radii = tuple(radius_bucket(int(w) // 2) for w in largest)
    out = images.replace(dtype=dtype or images.dtype)
    return Plan((out,), params=params, static={"_radii": radii})


def _per_axis(name: str, values: object, count: int, axes: int) -> np.ndarray:
    """Broadcasts an argument with one value, or one per axis, to [N, axes]."""
    array = np.asarray(values)
    _check_lengths(name, extents_of(array), axes)
    if array.dtype == object:
        return np.stack([np.broadcast_to(value, (axes,)) for value in array])
    return np.broadcast_to(array.reshape(count, -1), (count, axes)) if count else np.zeros((0, axes))


def _check_lengths(name: str, extents: np.ndarray | None, axes: int) -> None:
    """Raises unless an argument has one value, or one per axis. `extents` are its shapes, [N, 0] or [N, 1]."""
    lengths = np.ones(0) if extents is None else extents.prod(axis=1)
    wrong = (lengths != 1) & (lengths != axes)
    check_samples(
        wrong,
        lambda i: f"gaussian_blur: {wrong_length(name, axes, int(lengths[i]), i)}",
        argument=name,
    )


def _refuse(
    bad: np.ndarray, message: str, values: np.ndarray, argument: str, frames: np.ndarray | None
) -> None:
    def text(row: int, axis: int) -> str:
        shown = message.format(value=values[row, axis], sample=sample_of(row, frames), axis=axis)
        return f"gaussian_blur: {shown}"

    check_samples(bad, text, argument=argument)


def size_arguments(arguments: Mapping[str, object]) -> tuple[str, ...]:
    """Implements `setup_needs`: `sigma` is needed on the host only if it determines the size of the window."""
    window = arguments.get("window_size")
    if isinstance(window, (int, list, tuple, np.ndarray, np.integer)):
        values = np.asarray(window)
        if values.size and bool((values > 0).all()):
            return ("window_size",)
    return ("sigma", "window_size")


@operator(
    setup=setup,
    setup_needs=size_arguments,
    nanoseconds=6.0,
    source="operators/image/convolution/gaussian_blur.h:60",
)
def gaussian_blur(
    image: Array,
    /,
    *,
    dtype: Static[np.dtype | None] = None,
    sigma: PerFrame[tuple[float, ...] | list[float]] = (0.0,),
    window_size: PerFrame[tuple[int, ...] | list[int]] = (0,),
    _sigma_extent: PerSample[Array | None] = None,
    _radii: Static[tuple[int, ...] | None] = None,
    extent: Array,
    out_shape: tuple[int, ...],
    layout: str,
) -> Array:
    """Blurs with a Gaussian window; images are mirrored at their borders without repeating the outermost element.

    weight(k) is proportional to exp(-k² / (2 · sigma²)), for |k| ≤ (window_size - 1) / 2.

    Args:
        image: any layout; all axes but C and F are blurred.
        dtype: output type; None: the input's.
        sigma: standard deviation in elements, one for all blurred axes, or one per axis in the order of the layout;
            0: ((window_size - 1) / 2 - 1) · 0.3 + 0.8.
        window_size: odd number of elements, one for all blurred axes, or one per axis; 0: 2 · ceil(3 · sigma) + 1.

    Returns: shape of `image`, `dtype`, rounded half away from zero and saturated.

    Parity: float16 images are blurred in float32 and rounded after the last axis; DALI rounds to float16 after each.

    Bits: the order of the sums depends on the padded shape and on the largest window of the batch. Results of the same image
    may therefore differ by 2⁻²³ · window_size · (largest value) for each axis, and integers by 1 where a value is close to a
    half. See `Pipeline(exact_shapes=True)`.

    Example:
        images = fn.gaussian_blur(images, sigma=3.0)
        images = fn.gaussian_blur(images, sigma=6.0)
    """
    axes = data_axes(layout, image.ndim)
    assert _radii is not None
    blur = _Blur(axes, _radii, np.dtype(dtype or image.dtype))
    sigmas = _spread(jnp.asarray(sigma, jnp.float32), _sigma_extent, len(axes))
    windows = jnp.broadcast_to(jnp.asarray(window_size, jnp.int32), (len(axes),))
    result: Array = _blur(blur, image, sigmas, windows // 2, extent)
    return fit(result, out_shape)


def _spread(values: Array, extent: Array | None, axes: int) -> Array:
    """Broadcasts one value, or one per axis, to [axes]; `extent` is the number of values if `values` is padded."""
    if extent is None:
        return jnp.broadcast_to(values, (axes,))
    return jnp.where(extent[0] == 1, values[0], fit(values, (axes,)))


@dataclasses.dataclass(frozen=True)
class _Blur:
    """Static arguments of a blur, which select its compiled program."""

    axes: tuple[int, ...]
    radii: tuple[int, ...]  # `radius_bucket` of the radius along each axis
    dtype: np.dtype


_Way: TypeAlias = Literal["loop", "matrices", "taps"]


@one_program(static_argnums=0)
def _blur(blur: _Blur, image: Array, sigmas: Array, radii: Array, extent: Array) -> Array:
    def run(way: _Way, image: Array, sigmas: Array, radii: Array, extent: Array) -> Array:
        values, guarded = image, bool(jnp.issubdtype(image.dtype, jnp.floating))
        todo = [i for i in reversed(range(len(blur.axes))) if blur.radii[i]]
        if way == "taps":
            todo.reverse()  # else XLA writes a sum of shifted columns transposed, then transposes it back
            values = _with_margins(values, {blur.axes[i]: blur.radii[i] for i in todo}, extent)
        for i in todo:
            axis, reach = blur.axes[i], blur.radii[i]
            weights = _weights(sigmas[i], radii[i], reach)
            out = blur.dtype if i == todo[-1] else np.dtype(np.float32)
            if way == "taps" and len(weights) <= _TAPS:
                made = _pass_of_taps(values, axis, weights, radii[i], out, guarded)
                # Without the barrier, the next pass may compute this pass again for each tap.
                values = lax.optimization_barrier(made)
                continue
            bands = _bands(weights, radii[i], extent[axis], image.shape[axis])
            one_pass = _pass_loop if way == "loop" else _pass_whole
            values = one_pass(values, axis, bands, extent, out, guarded)
        return saturate_cast(values, blur.dtype)

    if not image.size:
        return saturate_cast(image, blur.dtype)
    if image.size <= SMALL:
        return run("matrices", image, sigmas, radii, extent)
    loops, matrices, taps = (functools.partial(run, way) for way in get_args(_Way))
    return by_platform(loops, taps, functools.partial(jax.jvp, matrices))(image, sigmas, radii, extent)


def _weights(sigma: Array, radius: Array, reach: int) -> Array:
    """Computes weights with sum 1, float32 [2·reach + 1], 0 beyond `radius`. Their bits do not depend on `reach`."""
    k = jnp.arange(reach + 1, dtype=jnp.int32)
    distance = k.astype(jnp.float32) / sigma
    side = jnp.where(k <= radius, jnp.exp(-0.5 * distance * distance), 0)
    side = side / (side[0] + 2 * fixed_sum(side[1:], (0,)))
    return jnp.concatenate([side[:0:-1], side])


class _Bands(NamedTuple):
    """The filter along an axis as matrices, one for each block of rows.

    Attributes:
        matrices: float32 [blocks, block, reached].
        rows: int32 [blocks], first output row of each block.
        starts: int32 [blocks], first input row of each block.
        radius: int32, radius of the window.
        size: int32, true size of the axis.
        taps: int32 [2·reach + 1], offsets of the padded window's elements from its middle.
    """

    matrices: Array
    rows: Array
    starts: Array
    radius: Array
    size: Array
    taps: Array

    def window(self, block: Array) -> Array:
        """Makes a block's matrix with 1 for each element of the window, even where the weight underflows to 0."""
        inside = (jnp.abs(self.taps) <= self.radius).astype(jnp.float32)
        return _band(
            inside, self.taps, self.rows[block], self.starts[block], self.size, self.matrices.shape[1:]
        )


def _bands(weights: Array, radius: Array, size: Array, padded: int) -> _Bands:
    """Makes the matrices of the filter along an axis.

    Args:
        weights: [2·reach + 1].
        radius: int32, radius of the window; at most `reach`.
        size: true size of the axis.
        padded: padded size of the axis.
    """
    reach = len(weights) // 2
    block = min(BLOCK, padded)
    reached = min(block + 2 * reach, padded)
    count = -(-padded // block)
    rows = jnp.minimum(jnp.arange(count, dtype=jnp.int32) * block, padded - block)
    starts = jnp.clip(rows - reach, 0, padded - reached)
    taps = jnp.arange(-reach, reach + 1, dtype=jnp.int32)
    matrices = jax.vmap(lambda row, start: _band(weights, taps, row, start, size, (block, reached)))(
        rows, starts
    )
    return _Bands(matrices, rows, starts, radius, size, taps)


def _band(
    weights: Array, taps: Array, row: Array, start: Array, size: Array, shape: tuple[int, ...]
) -> Array:
    """Makes the matrix [block, reached] of a block. The block's output begins at `row`, and its input at `start`."""
    own = jnp.arange(shape[0], dtype=jnp.int32)[:, None]
    columns = reflect_101(row + own + taps, size) - start
    # Windows of rows past the true size may extend past the input; these elements are dropped.
    return jnp.zeros(shape, jnp.float32).at[own, columns].add(weights, mode="drop")


def _product(matrix: Array, values: Array) -> Array:
    """Multiplies [block, reached] and [o, reached, i]: [o, block, i]."""
    return jnp.einsum("bk,oki->obi", matrix, values.astype(jnp.float32), precision=lax.Precision.HIGHEST)


# A matrix product multiplies elements outside of a row's window by 0, and 0 times NaN or infinity is NaN. Columns with
# elements that are not finite are therefore computed again, each element from its window only.


def _finite(made: Array) -> Array:
    """Marks the columns of a product that were computed from finite operands only.

    Each element of a column is computed from all operands of the column, so it is enough to check the first element.
    """
    return jnp.isfinite(made[:, :1])


def _guarded_product(made: Array, values: Array, *, bands: _Bands, block: Array) -> Array:
    """Replaces the columns of a product that are not finite by the columns that `_by_window` computes."""
    return jnp.where(_finite(made), made, _by_window(bands, block, values.astype(jnp.float32)))


def _by_window(bands: _Bands, block: Array, values: Array) -> Array:
    """Computes `_product` so that NaN and infinity affect only elements whose window contains them."""
    finite = _product(bands.matrices[block], jnp.where(jnp.isfinite(values), values, 0))
    window, no_number = bands.window(block), jnp.isnan(values)
    above, below = (_product(window, no_number | (values == limit)) > 0 for limit in (jnp.inf, -jnp.inf))
    return jnp.select([above & below, above, below], [jnp.nan, jnp.inf, -jnp.inf], finite)


def _pass_loop(values: Array, axis: int, bands: _Bands, extent: Array, out: np.dtype, guarded: bool) -> Array:
    """Filters one axis, block by block; the loops end at the true sizes."""
    shape = values.shape
    flat = (math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))
    values = values.reshape(flat)
    _, block, reached = bands.matrices.shape
    inner = min(flat[2], LINES)
    outer = min(flat[0], max(1, LINES // (inner * block)))
    # The axes before `axis` are merged into one, and so are the axes after it. The loop can skip only the padding of the first
    # axis of each group.
    needed_outer = extent[0] * (flat[0] // shape[0]) if axis else 1
    needed_inner = extent[axis + 1] * (flat[2] // shape[axis + 1]) if axis + 1 < len(shape) else 1

    def one(o: Array, b: Array, i: Array, result: Array) -> Array:
        o = jnp.minimum(o * outer, flat[0] - outer)
        i = jnp.minimum(i * inner, flat[2] - inner)
        part = lax.dynamic_slice(values, (o, bands.starts[b], i), (outer, reached, inner))
        part = _without_padding(part, bands.starts[b], extent[axis])
        made = _product(bands.matrices[b], part)
        if guarded:
            # There is a branch for each block, because one branch for all blocks would copy their results.
            mended = functools.partial(_guarded_product, bands=bands, block=b)
            made = lax.cond(_finite(made).all(), lambda made, _: made, mended, made, part)
        return lax.dynamic_update_slice(result, saturate_cast(made, out), (o, bands.rows[b], i))

    def over_inner(o: Array, b: Array, result: Array) -> Array:
        return loop(-(-needed_inner // inner), lambda i, r: one(o, b, i, r), result)

    def over_blocks(o: Array, result: Array) -> Array:
        return loop((extent[axis] + block - 1) // block, lambda b, r: over_inner(o, b, r), result)

    start = varying_like(jnp.zeros(flat, out), values, extent, *bands)
    result = loop(-(-needed_outer // outer), over_blocks, start)
    return result.reshape(shape)


def _with_margins(values: Array, radii: Mapping[int, int], extent: Array) -> Array:
    """Extends axes by mirror images on both sides, except axes whose window in `radii` has more than `_TAPS` elements."""
    indices: list[Array | None] = [None] * values.ndim
    for axis, reach in radii.items():
        if 2 * reach < _TAPS:
            index = jnp.arange(-reach, values.shape[axis] + reach, dtype=jnp.int32)
            indices[axis] = reflect_101(index, extent[axis])
    # The barriers make XLA gather only once. Otherwise, the next pass would look up each index again for each tap.
    made: Array = lax.optimization_barrier(take_grid(values, lax.optimization_barrier(indices), mode="clip"))
    return made


def _pass_of_taps(
    values: Array, axis: int, weights: Array, radius: Array, out: np.dtype, guarded: bool
) -> Array:
    """Filters one axis, which has a margin of the window's reach, as the sum of shifted copies."""
    reach = len(weights) // 2
    shape = (*values.shape[:axis], values.shape[axis] - 2 * reach, *values.shape[axis + 1 :])
    step = math.prod(shape[axis + 1 :])
    lines = values.reshape(math.prod(shape[:axis]), -1)  # a shifted copy is one slice of each line
    # Scalars, because a GPU would launch a kernel for each slice of an array.
    taps = lax.optimization_barrier(list(weights))

    def term(k: int) -> Array:
        value = lax.slice_in_dim(lines, k * step, k * step + shape[axis] * step, axis=1)
        product = taps[k] * value.astype(jnp.float32)
        if not guarded:
            return product
        # Infinite values and NaN are added without a weight, because a weight in the window may underflow to 0, and
        # 0 · infinity is NaN.
        product = jnp.where(jnp.isfinite(value), product, value.astype(jnp.float32))
        return jnp.where(abs(k - reach) <= radius, product, 0)

    total = functools.reduce(jnp.add, map(term, range(2 * reach + 1)))
    return saturate_cast(total, out).reshape(shape)


def _pass_whole(
    values: Array, axis: int, bands: _Bands, extent: Array, out: np.dtype, guarded: bool
) -> Array:
    """Filters one axis, all blocks at once."""
    shape = values.shape
    values = values.reshape(math.prod(shape[:axis]), shape[axis], -1)
    values = _without_padding(values, jnp.int32(0), extent[axis])
    count, block, width = bands.matrices.shape
    reached = bands.starts[:, None] + jnp.arange(width, dtype=jnp.int32)
    blocks = jnp.arange(count, dtype=jnp.int32)

    def filtered(b: Array, part: Array) -> Array:
        made = _product(bands.matrices[b], part)
        if not guarded:
            return made
        every = of_whole_batch(_finite(made).all())
        return lax.cond(
            every, lambda made: made, lambda made: _guarded_product(made, part, bands=bands, block=b), made
        )

    parts = jax.vmap(filtered, in_axes=(0, 1), out_axes=1)(blocks, values[:, reached])
    # The last block overlaps the previous one, so rows are selected by their index in their block.
    index = jnp.arange(shape[axis], dtype=jnp.int32)
    which = index // block
    return saturate_cast(parts[:, which, index - bands.rows[which]].reshape(shape), out)


def _without_padding(values: Array, start: Array, size: Array) -> Array:
    """Sets rows (axis 1) past the true size to 0, because they may contain NaN, and 0 · NaN is NaN."""
    if not jnp.issubdtype(values.dtype, jnp.floating):
        return values
    index = start + jnp.arange(values.shape[1], dtype=jnp.int32)
    return jnp.where((index < size)[:, None], values, 0)
