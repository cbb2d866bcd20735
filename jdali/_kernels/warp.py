"""Samples an image or a volume at arbitrary points, for all warping operators.

Points are in pixels, x to the right, y down; pixel i of an axis covers [i, i+1) and has its centre at
i + 0.5. Arithmetic is float32.

A CPU computes the output tile by tile, one sample after the other, in a loop that ends at the true size, so padding
costs no work. Accelerators compute all of the padded output at once.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections import abc
from collections.abc import Callable, Sequence
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali import types
from jdali._batches import BatchSpec, reflect_101, size_text
from jdali._errors import check_samples
from jdali._kernels.by_platform import Keep, by_platform, loop
from jdali._kernels.fit import fit
from jdali._kernels.packed_pixels import (
    Elements,
    Packed,
    Pixels,
    Plain,
    Squares,
    packs,
    unpacked,
    unpacked_at_once,
)
from jdali._numerics.platform import one_program
from jdali._numerics.positions import rounded
from jdali._numerics.rounding import np_round_half_away, saturate_cast, varying_like
from jdali._operators.record import is_traced
from jdali.types import DALIInterpType

# Height and width of a tile. Small tiles waste little at the edges of an output; tiles of this size make the overhead of the
# loop negligible (measured with benchmarks/rotate_kernel.py).
TILE = (32, 64)

# Function that maps (parameters, centres of output pixels) to points of the input. Centres and points are one array for
# each axis. Arrays of points have the shape [[D,] H, W[, C]], to which arrays of centres broadcast. Mappings must round
# their products, see `affine_points`.
Mapping = Callable[[Any, Sequence[Array]], Sequence[Array]]


# What follows a row abcd, by mode: "replicate" ddd..., "reflect" dcb..., "reflect_101" cba..., "wrap" abc...
Border = Literal["replicate", "reflect", "reflect_101", "wrap"]

# Packing saves time if the output has at least 1 / _PACKED_SHARE of the image's pixels.
_PACKED_SHARE = 8
_FAR = 1 << 30  # pixels; limit to which positions are clipped


def has_value(argument: Any) -> bool:
    """Returns True if a vector argument was passed: a tracer or a non-empty array (the default is empty)."""
    return argument is not None and (is_traced(argument) or np.size(argument) > 0)


def check_warp(
    name: str,
    images: BatchSpec,
    interp_type: DALIInterpType,
    allowed: Sequence[DALIInterpType] = (types.INTERP_NN, types.INTERP_LINEAR),
) -> None:
    """Raises an error if the interpolation is not in `allowed`, or if an image has no pixels."""
    if interp_type not in allowed:
        words = {types.INTERP_NN: "nearest", types.INTERP_LINEAR: "linear", types.INTERP_CUBIC: "cubic"}
        *first, last = (words[one] for one in allowed)
        names = f"{', '.join(first)} and {last}"
        raise ValueError(
            f"{name}: Only {names} interpolation is supported, got {DALIInterpType(interp_type).name}"
        )
    empty = (images.extents[:, :-1] == 0).any(axis=1)
    check_samples(empty, lambda _: f"{name}: the image has no pixels to sample")


def explicit_size(name: str, size: object, axes: int) -> np.ndarray:
    """Rounds the argument `size` to the nearest integers, at least 1: int64 [N, axes].

    Args:
        size: float [N, axes], without the channels.
        axes: number of axes the operator warps.
    """
    values = np.asarray(size, np.float32)
    if values.ndim != 2 or values.shape[1] != axes:
        raise ValueError(
            f'{name}: Argument "size" expected shape {axes} but got {size_text(values.shape[1:])} values, which can\'t be '
            "interpreted as the expected shape: output_size must specify same number of dimensions as the "
            "input (excluding channels)"
        )
    bad = ~((values > 0) & (values < 2**31 - 1)).all(axis=1)
    check_samples(
        bad,
        lambda i: f"{name}: Output size must be positive, and below 2**31, got {values[i].tolist()}",
        argument="size",
    )
    sizes: np.ndarray = np.maximum(np_round_half_away(values), 1).astype(np.int64)
    return sizes


def warped(images: BatchSpec, sizes: np.ndarray, dtype: np.dtype | None) -> BatchSpec:
    """Makes the spec of images after a warp to new sizes [N, axes]."""
    extents = np.concatenate([sizes, images.extents[:, -1:]], axis=1)
    return images.replace(extents=extents, dtype=dtype or images.dtype)


def affine_points(parameters: Any, centers: Sequence[Array]) -> list[Array]:
    """Maps centres to points by an affine transform: point = linear · (center - out_origin) + in_origin.

    Compilers may compute points twice, once for indices and once for weights. Products are `rounded`, so that both
    computations give the same bits.

    Args:
        parameters: linear [n, n], out_origin [n], in_origin [n], all in the order x, y(, z).
        centers: see `Mapping`.
    """
    linear, out_origin, in_origin = parameters
    n = len(centers)
    offsets = [rounded(centers[n - 1 - column]) - out_origin[column] for column in range(n)]
    points = []
    for row in reversed(range(n)):
        # x comes first, because in this order, XLA needs the fewest instructions for a row of pixels.
        products = [rounded(linear[row, column] * offsets[column]) for column in range(n)]
        points.append(functools.reduce(jnp.add, [*products, in_origin[row]]))
    return points


def warp(
    image: Array,
    mapping: Mapping,
    parameters: object,
    extent: Array,
    out_extent: Array,
    out_shape: Sequence[int],
    *,
    interp_type: DALIInterpType,
    fill_value: float | tuple[float, ...] | None,
    dtype: np.dtype | None,
    border: Border = "replicate",
) -> Array:
    """Warps an image by a mapping of its points. The result is differentiable in image and parameters.

    Args:
        image: [*space, C] with two or three axes of space.
        mapping: see `Mapping`; a function defined in a module, because it is part of the compile key.
        parameters: parameters of the mapping, a pytree of arrays.
        extent: int32 [len(space) + 1], true size of the image, at least 1.
        out_extent: int32 [len(space) + 1], true size of the result.
        out_shape: padded shape of the result, [*space, C].
        interp_type: INTERP_NN, INTERP_LINEAR, or for two axes INTERP_CUBIC.
        fill_value: value of points outside the image, one for all channels or one per channel, converted to the type of
            the output; None: `border` decides.
        dtype: type of the result; None: the image's.
        border: border mode without a `fill_value`.

    Returns: [*out_shape], rounded half away from zero and saturated.
    """
    sampling = _Sampling(
        mapping, tuple(out_shape[:-1]), interp_type, fill_value, np.dtype(dtype or image.dtype), border
    )
    # With layout CHW, image and result may be padded to different numbers of channels.
    image = fit(image, (*image.shape[:-1], out_shape[-1]))
    result: Array = _warp(sampling, image, parameters, extent, out_extent)
    return result


@dataclasses.dataclass(frozen=True)
class _Sampling:
    """Static arguments of a warp, which select its compiled program."""

    mapping: Mapping
    shape: tuple[int, ...]
    interp_type: DALIInterpType
    fill_value: float | tuple[float, ...] | None
    dtype: np.dtype
    border: Border

    @property
    def folds(self) -> bool:
        """True if the border mirrors or wraps the image, so that points outside of the image show pixels from inside."""
        return self.fill_value is None and self.border != "replicate"


@one_program(static_argnums=0)
def _warp(sampling: _Sampling, image: Array, parameters: object, extent: Array, out_extent: Array) -> Array:
    shape = sampling.shape
    tile = tuple(min(t, s) for t, s in zip(TILE, shape, strict=False))

    def whole(image: Array, parameters: object, extent: Array, _: Array, pixels: Any = Plain) -> Array:
        return _part(sampling, pixels(image), parameters, extent, (0,) * len(shape), shape)

    def whole_of_words(image: Array, parameters: object, extent: Array, out_extent: Array) -> Array:
        words = whole(image, parameters, extent, out_extent, Packed)
        return unpacked_at_once(words, image.shape[-1])

    def tiled(image: Array, parameters: object, extent: Array, out_extent: Array) -> Array:
        rows, columns = ((out_extent[axis] + size - 1) // size for axis, size in enumerate(tile))
        pack = _pays_to_pack(sampling, image)
        pixels = Packed(image, extent[0]) if pack else Plain(image)

        def made(y: Array, column: Array, out: Array, to: Array) -> Array:
            """Writes the tile at row y of the output into `out`, at row `to`."""
            # The last tile is moved back until it lies in the output, so some pixels are computed twice.
            x = jnp.minimum(column * tile[1], shape[1] - tile[1])
            part = _part(sampling, pixels, parameters, extent, (y, x), tile, lax.optimization_barrier)
            return lax.dynamic_update_slice(out, part, (to, x, zero)[: out.ndim])

        def line(row: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
            out, words = state
            y = jnp.minimum(row * tile[0], shape[0] - tile[0])
            if not pack:
                return loop(columns, lambda column, out: made(y, column, out, y), out), words
            words = loop(columns, lambda column, words: made(y, column, words, zero), words)
            return lax.dynamic_update_slice(out, unpacked(words, pixels.channels), (y, zero, zero)), words

        zero = jnp.int32(0)
        start = (
            jnp.zeros((*shape, image.shape[-1]), sampling.dtype),
            jnp.zeros((tile[0], shape[1]) if pack else 0, jnp.uint32),
        )
        operands = jax.tree.leaves((image, parameters, extent, out_extent))
        return loop(rows, line, varying_like(start, *operands))[0]

    if len(shape) != 2 or math.prod(shape) <= math.prod(TILE):
        return whole(image, parameters, extent, out_extent)
    default: Callable[..., Array]
    if sampling.interp_type == types.INTERP_NN:
        # Each point is used only once, so writing all points to memory first costs little.
        default = whole
    elif _packs(sampling, image):
        # Each point is computed once, not once for each channel. This takes 2/3 of the time on an H200.
        default = whole_of_words
    else:
        default = functools.partial(whole, pixels=Elements)
    derivative = functools.partial(jax.jvp, whole)
    squares = whole if sampling.folds else functools.partial(whole, pixels=Squares)
    return by_platform(tiled, default, derivative, squares)(image, parameters, extent, out_extent)


def _pays_to_pack(sampling: _Sampling, image: Array) -> bool:
    inside_only = sampling.fill_value is None and not sampling.folds
    needed = _PACKED_SHARE * math.prod(sampling.shape) >= math.prod(image.shape[:-1])
    return _packs(sampling, image) and needed and not inside_only


def _packs(sampling: _Sampling, image: Array) -> bool:
    return packs(image) and sampling.dtype == image.dtype


def _part(
    sampling: _Sampling,
    pixels: Pixels,
    parameters: Any,
    extent: Array,
    origin: Sequence[Any],
    shape: Sequence[int],
    keep: Keep = lambda points: points,
) -> Array:
    """Computes the part of an output that begins at `origin`: [*shape, C].

    `keep` is applied to the points, because JAX 0.12's XLA would otherwise compute them again for each channel.
    """
    centers, form = [], pixels.form(shape)
    for axis, start in enumerate(origin):
        sizes = [size if a == axis or a >= len(shape) else 1 for a, size in enumerate(form)]
        index = start + lax.broadcasted_iota(jnp.int32, sizes, axis)
        centers.append(index.astype(jnp.float32) + jnp.float32(0.5))
    points = keep([jnp.broadcast_to(p, form) for p in sampling.mapping(parameters, centers)])
    sample = {types.INTERP_NN: _nearest, types.INTERP_LINEAR: _linear, types.INTERP_CUBIC: _cubic}
    return sample[sampling.interp_type](sampling, pixels, points, extent)


def _floor(sampling: _Sampling, position: Array, last: Array) -> Array:
    """Rounds a position down to int32; clips it first, because far positions do not fit into int32."""
    low, high = (
        (jnp.float32(-_FAR), jnp.float32(_FAR)) if sampling.folds else (-2, (last + 2).astype(jnp.float32))
    )
    return jnp.floor(jnp.clip(position, low, high)).astype(jnp.int32)


def _inside(sampling: _Sampling, pixel: Array, last: Array) -> Array:
    """Maps any pixel to one inside the image, by the border mode."""
    if not sampling.folds:
        return jnp.clip(pixel, 0, last)
    size = last + 1
    if sampling.border == "wrap":
        return pixel % size
    if sampling.border == "reflect_101":
        return reflect_101(pixel, size)
    folded = pixel % (2 * size)
    return jnp.minimum(folded, 2 * size - 1 - folded)


def _fill(sampling: _Sampling, dtype: np.dtype, channels: int) -> Array | None:
    """Converts the fill value to `dtype`; returns None without a fill value."""
    if sampling.fill_value is None:
        return None
    # DALI stores the fill value in the output's type, and reads it in the input's type.
    values = saturate_cast(saturate_cast(jnp.float32(sampling.fill_value), sampling.dtype), dtype)
    return values if values.ndim == 0 or values.shape[0] == 1 else fit(values, (channels,))


def _nearest(sampling: _Sampling, pixels: Pixels, points: Sequence[Array], extent: Array) -> Array:
    indices, inside = [], []
    for axis, point in enumerate(points):
        last = extent[axis] - 1
        pixel = _floor(sampling, point, last)
        indices.append(_inside(sampling, pixel, last))
        inside.append((pixel >= 0) & (pixel <= last))
    result = pixels.read(indices)
    if pixels.dtype != sampling.dtype:  # packed pixels have the type of the result
        result = saturate_cast(result, sampling.dtype)
    fill = _fill(sampling, sampling.dtype, pixels.channels)
    return result if fill is None else pixels.filled(functools.reduce(jnp.logical_and, inside), result, fill)


def _linear(sampling: _Sampling, pixels: Pixels, points: Sequence[Array], extent: Array) -> Array:
    n = len(points)
    neighbours: list[tuple[Array, Array]] = []
    shares: list[Array] = []
    inside: list[tuple[Array, Array]] = []
    for axis, point in enumerate(points):
        last = extent[axis] - 1
        position = rounded(point) - jnp.float32(0.5)
        if sampling.fill_value is None and not sampling.folds:
            # Clipping the position repeats the border. No position is negative then, so truncation equals floor. Before
            # the first pixel, both neighbours are the first pixel. If the second pixel is NaN, weight 0 would give NaN.
            before = position < 0
            position = jnp.clip(position, 0, last.astype(jnp.float32))
            low = position.astype(jnp.int32)
            neighbours.append((low, jnp.minimum(jnp.where(before, low, low + 1), last)))
        else:
            low = _floor(sampling, position, last)
            position = jnp.clip(position, low.astype(jnp.float32), (low + 1).astype(jnp.float32))
            high = low + 1
            neighbours.append((_inside(sampling, low, last), _inside(sampling, high, last)))
            inside.append(((low >= 0) & (low <= last), (high >= 0) & (high <= last)))
        shares.append(pixels.aligned(position - low.astype(jnp.float32)))
    fill = _fill(sampling, pixels.dtype, pixels.channels)

    def filled(sides: tuple[int, ...], value: Array) -> Array:
        if fill is None:
            return value
        masks = [inside[axis][side] for axis, side in enumerate(sides)]
        return pixels.filled(functools.reduce(jnp.logical_and, masks), value, fill)

    def blend(corners: abc.Mapping[tuple[int, ...], Array]) -> Array:
        values = {sides: value.astype(jnp.float32) for sides, value in corners.items()}
        for axis in reversed(range(n)):
            share = shares[axis]
            blended = {}
            for sides in itertools.product((0, 1), repeat=axis):
                low_value, high_value = values[(*sides, 0)], values[(*sides, 1)]
                # As in DALI's sampler.h:190, the x axis uses two weights, and other axes add a share of the difference.
                if axis == n - 1:
                    blended[sides] = low_value * (1 - share) + high_value * share
                else:
                    blended[sides] = low_value + (high_value - low_value) * share
            values = blended
        return saturate_cast(values[()], sampling.dtype)

    return pixels.made(blend, {s: filled(s, value) for s, value in pixels.corners(neighbours).items()})


def _cubic(sampling: _Sampling, pixels: Pixels, points: Sequence[Array], extent: Array) -> Array:
    """Interpolates between four by four pixels with OpenCV's kernel."""
    fill = _fill(sampling, pixels.dtype, pixels.channels)
    taps: list[list[tuple[Array, Array, Array]]] = []  # by axis: pixel, whether it is inside, weight
    for axis, point in enumerate(points):
        last = extent[axis] - 1
        position = rounded(point) - jnp.float32(0.5)
        low = _floor(sampling, position, last)
        share = jnp.clip(position - low.astype(jnp.float32), 0, 1)
        taps.append([])
        for offset in (-1, 0, 1, 2):
            pixel = low + offset
            weight = pixels.aligned(_cubic_weight(jnp.abs(share - offset)))
            taps[axis].append((_inside(sampling, pixel, last), (pixel >= 0) & (pixel <= last), weight))

    def tap(row: int, column: int) -> Array:
        (y, y_inside, _), (x, x_inside, _) = taps[0][row], taps[1][column]
        value = pixels.read((y, x))
        return value if fill is None else pixels.filled(y_inside & x_inside, value, fill)

    def blend(values: abc.Mapping[tuple[int, int], Array]) -> Array:
        total = jnp.zeros((), jnp.float32)
        for row, (*_, row_weight) in enumerate(taps[0]):
            line = jnp.zeros((), jnp.float32)
            for column, (*_, column_weight) in enumerate(taps[1]):
                line = line + values[row, column].astype(jnp.float32) * column_weight
            total = total + line * row_weight
        return saturate_cast(total, sampling.dtype)

    return pixels.made(blend, {index: tap(*index) for index in np.ndindex(4, 4)})


def _cubic_weight(distance: Array) -> Array:
    """Computes Keys' kernel with a = -0.75, as in OpenCV, at a distance of 0 to 2."""
    a = -0.75
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return jnp.where(distance <= 1, near, far)
