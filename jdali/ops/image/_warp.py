"""Sampling an image or a volume at arbitrary points: what all warping operators share.

Points are in pixels, x to the right, y down; pixel i of an axis covers [i, i+1) and has its centre at
i + 0.5. All arithmetic is float32.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali import types
from jdali._call import is_traced
from jdali._errors import SampleError
from jdali._extent import BatchSpec
from jdali._numeric import np_round_half_away, saturate_cast
from jdali.types import DALIInterpType


def is_given(argument: Any) -> bool:
    """Whether a vector argument whose default is empty was given; a tracer was."""
    return argument is not None and (is_traced(argument) or np.size(argument) > 0)


def check_warp(name: str, images: BatchSpec, interp_type: DALIInterpType) -> None:
    """Raises if an operator that samples images cannot do so."""
    if interp_type not in (types.INTERP_NN, types.INTERP_LINEAR):
        raise ValueError(f"{name}: interp_type must be INTERP_NN or INTERP_LINEAR, got {interp_type!r}")
    empty = (images.extents[:, :-1] == 0).any(axis=1)
    if empty.any():
        raise SampleError(f"{name}: the image has no pixels to sample", sample=int(empty.argmax()))


def explicit_size(name: str, size: Any, axes: int) -> np.ndarray:
    """int64 [N, axes] of the argument `size`: rounded to the nearest integer, at least 1.

    Args:
        name: of the operator.
        size: float [N, axes], without the channels.
        axes: number of axes the operator warps.
    """
    values = np.asarray(size, np.float32)
    if values.ndim != 2 or values.shape[1] != axes:
        raise ValueError(f"{name}: size must have {axes} values (no channels), got {values.shape[1:]}")
    bad = ~(values > 0).all(axis=1)
    if bad.any():
        i = int(bad.argmax())
        raise SampleError(
            f"{name}: size must be positive, got {values[i].tolist()}", sample=i, argument="size"
        )
    return np.maximum(np_round_half_away(values), 1).astype(np.int64)


def warped(images: BatchSpec, sizes: np.ndarray, dtype: np.dtype[Any] | None) -> BatchSpec:
    """Spec of images that were given new sizes [N, axes]."""
    extents = np.concatenate([sizes, images.extents[:, -1:]], axis=1)
    return images.replace(extents=extents, dtype=dtype or images.dtype)


def affine_points(matrix: Array, shape: Sequence[int]) -> list[Array]:
    """Points that an affine transform gives for all pixel centres of an output.

    Args:
        matrix: float32 [n, n+1], from output to input; rows and columns in the order x, y(, z).
        shape: the output's ([D,] H, W).

    Returns: the coordinate along each input axis ([D,] H, W), float32 [*shape].
    """
    n = len(shape)
    centres = [jnp.arange(size, dtype=jnp.float32) + jnp.float32(0.5) for size in shape]
    grid = [jnp.expand_dims(c, [a for a in range(n) if a != axis]) for axis, c in enumerate(centres)]
    points = []
    for row in reversed(range(n)):
        point = matrix[row, n]
        for axis in range(n):  # the slowest axis first: its part is the same for a whole line
            point = point + matrix[row, n - 1 - axis] * grid[axis]
        points.append(point)
    return points


def sample(
    image: Array,
    points: Sequence[Array],
    extent: Array,
    *,
    interp_type: DALIInterpType,
    fill_value: float | None,
    dtype: np.dtype[Any] | None,
) -> Array:
    """Values of an image at given points.

    Args:
        image: [*space, C].
        points: for each axis of space the float32 coordinates [*shape].
        extent: int32 [len(space) + 1], true size of the image, at least 1.
        interp_type: INTERP_NN or INTERP_LINEAR.
        fill_value: of the outside, converted to the output's type; None: the border is repeated.
        dtype: of the result; None: the image's.

    Returns: [*shape, C], rounded half away from zero and saturated.
    """
    out = np.dtype(dtype or image.dtype)
    if interp_type == types.INTERP_NN:
        return _nearest(image, points, extent, fill_value, out)
    return _linear(image, points, extent, fill_value, out)


def _take(image: Array, indices: Sequence[Array]) -> Array:
    # One gather of whole pixels: XLA keeps it inside the loop that blends them. The indices are clipped
    # by the caller; "promise_in_bounds" leaves out a second clip for each of them.
    return image.at[tuple(indices)].get(mode="promise_in_bounds")


def _nearest(
    image: Array, points: Sequence[Array], extent: Array, fill_value: float | None, out: np.dtype[Any]
) -> Array:
    indices, inside = [], []
    for axis, point in enumerate(points):
        last = extent[axis] - 1
        # Clipped before the conversion: what lies far outside is no int32.
        cell = jnp.floor(jnp.clip(point, -1, (last + 1).astype(jnp.float32))).astype(jnp.int32)
        indices.append(jnp.clip(cell, 0, last))
        inside.append((cell >= 0) & (cell <= last))
    result = saturate_cast(_take(image, indices), out)
    if fill_value is None:
        return result
    mask = jnp.expand_dims(_all(inside), -1)
    return jnp.where(mask, result, saturate_cast(jnp.float32(fill_value), out))


def _linear(
    image: Array, points: Sequence[Array], extent: Array, fill_value: float | None, out: np.dtype[Any]
) -> Array:
    n = len(points)
    cells: list[tuple[Array, Array]] = []
    shares: list[Array] = []
    inside: list[tuple[Array, Array]] = []
    for axis, point in enumerate(points):
        last = extent[axis] - 1
        edge = last.astype(jnp.float32)
        position = point - jnp.float32(0.5)
        if fill_value is None:
            # Clipping the position repeats the border; it never is negative, so truncation is floor.
            position = jnp.clip(position, 0, edge)
            low = position.astype(jnp.int32)
            cells.append((low, jnp.minimum(low + 1, last)))
            shares.append(position - low.astype(jnp.float32))
        else:
            position = jnp.clip(position, -2, edge + 2)
            floor = jnp.floor(position)
            low = floor.astype(jnp.int32)
            high = low + 1
            cells.append((jnp.clip(low, 0, last), jnp.clip(high, 0, last)))
            inside.append(((low >= 0) & (low <= last), (high >= 0) & (high <= last)))
            shares.append(position - floor)
    fill = None
    if fill_value is not None:
        # DALI holds the border in the output's type and reads it in the input's.
        fill = saturate_cast(saturate_cast(jnp.float32(fill_value), out), image.dtype)

    def corner(which: tuple[int, ...]) -> Array:
        value = _take(image, [cells[axis][side] for axis, side in enumerate(which)])
        if fill is not None:
            mask = _all([inside[axis][side] for axis, side in enumerate(which)])
            value = jnp.where(jnp.expand_dims(mask, -1), value, fill)
        return value.astype(jnp.float32)

    values = {which: corner(which) for which in itertools.product((0, 1), repeat=n)}
    # Along the last axis with two weights, along the others as a step from one to the other, as DALI does.
    share = jnp.expand_dims(shares[-1], -1)
    values = {
        w: values[(*w, 0)] * (1 - share) + values[(*w, 1)] * share
        for w in itertools.product((0, 1), repeat=n - 1)
    }
    for axis in reversed(range(n - 1)):
        share = jnp.expand_dims(shares[axis], -1)
        values = {
            w: values[(*w, 0)] + (values[(*w, 1)] - values[(*w, 0)]) * share
            for w in itertools.product((0, 1), repeat=axis)
        }
    return saturate_cast(values[()], out)


def _all(masks: Sequence[Array]) -> Array:
    result = masks[0]
    for mask in masks[1:]:
        result = result & mask
    return result
