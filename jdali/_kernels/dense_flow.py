"""Dense optical flow between two images: Lucas and Kanade's method on a pyramid, with a vector for each pixel.

At each level the flow w is improved step by step. A step assumes that the neighbourhood of a pixel moves as one, and
finds the vector w' that best explains how the images differ in the neighbourhood. With the gradient g of the later
image, the difference d = earlier(q + w(q)) - later(q) and weights k of the neighbours q, the step solves

    (sum of k g gᵀ + ridge) w' = sum of k (g gᵀ w - g d) + ridge w

(B. D. Lucas and T. Kanade, 1981). Each neighbour q enters with its own vector w(q), as in G. Farnebäck, 2003, so the fixed
point is exact even where vectors differ. Neighbours with a large difference, such as occluded ones, count less (M. J. Black
and P. Anandan, 1996). A median after each level removes outliers.

Sums have a fixed order, and the images end at their true size, so padding changes no bit of the flow.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._numerics.rounding import varying_like

# The ridge (see the module's docstring), for image values from 0 to 1. It keeps the previous vector where the image has no
# texture, and is well above the rounding errors of 8-bit values.
_RIDGE = 3e-5
# Difference between the images at which a neighbour's weight is halved, for values from 0 to 1.
_UNEXPLAINED = 0.06
# Size of the shorter side at the coarsest level, pixels.
_LEAST_SIDE = 12
# Radius and standard deviation of the neighbourhood, pixels.
_RADIUS, _SIGMA = 5, 2.2

# Pairs of positions to compare and exchange, which move the median of nine values to position 4 (J. L. Smith, 1996).
_MEDIAN_OF_NINE = (
    (1, 2), (4, 5), (7, 8), (0, 1), (3, 4), (6, 7), (1, 2), (4, 5), (7, 8), (0, 3), (5, 8), (4, 7), (3, 6), (1, 4),
    (2, 5), (4, 7), (4, 2), (6, 4), (4, 2),
)  # fmt: skip


class PyramidLevel(NamedTuple):
    """One level of the pyramids of two images: float32 [H, W] each, with the true size `extent`, int32 [2]."""

    earlier: Array
    later: Array
    extent: Array


def level_count(height: int, width: int) -> int:
    count, side = 1, min(height, width)
    while (side + 1) // 2 >= _LEAST_SIDE:
        count, side = count + 1, (side + 1) // 2
    return count


# Jitted, because in eager calls it would take minutes to dispatch the small operations one by one.
@functools.partial(jax.jit, static_argnames=("steps", "finest"))
def dense_flow(
    earlier: Array, later: Array, extent: Array, start: Array, *, steps: int, finest: int
) -> Array:
    """Finds each pixel of the later image in the earlier image: `later[p] = earlier[p + flow[p]]`.

    Args:
        earlier, later: float32 [H, W], from 0 to 1.
        extent: int32 [2], their true size.
        start: float32 [H, W, 2], an initial guess of the flow.
        steps: number of improvements at each level.
        finest: finest level at which the flow is improved before it is upsampled; 0 is full resolution.

    Returns: float32 [H, W, 2], (x, y) in pixels.
    """
    levels, starts = [PyramidLevel(earlier, later, extent)], [start]
    for _ in range(max(level_count(*earlier.shape) - 1, finest)):
        last = levels[-1]
        # Images and flow are joined to one array, which halves the compile time.
        fine = jnp.concatenate([last.earlier[..., None], last.later[..., None], starts[-1]], axis=-1)
        half = _halved(fine, last.extent)
        levels.append(PyramidLevel(half[..., 0], half[..., 1], (last.extent + 1) // 2))
        starts.append(half[..., 2:] / 2)
    # The coarsest level is chosen by the true size, so that padding does not change it.
    deepest = sum(
        ((level.extent.min() >= _LEAST_SIDE).astype(jnp.int32) for level in levels[1:]), jnp.int32(0)
    )
    deepest = jnp.maximum(deepest, finest)
    flow = starts[-1]
    for number in range(len(levels) - 1, finest - 1, -1):
        if number < len(levels) - 1:
            grown = _doubled(flow, levels[number + 1].extent, levels[number].later.shape)
            flow = jnp.where(number < deepest, grown, starts[number])
        flow = _refined(levels[number], flow, steps)
    for number in range(finest - 1, -1, -1):
        flow = _doubled(flow, levels[number + 1].extent, levels[number].later.shape)
    return flow


def _refined(level: PyramidLevel, flow: Array, steps: int) -> Array:
    """Improves the flow of a level in `steps` steps, then applies the median."""
    gradient = jnp.stack([_derivative(level.later, level.extent, axis) for axis in (1, 0)], axis=-1)
    gradient = lax.optimization_barrier(gradient)
    height, width = level.later.shape
    rows, columns = jnp.arange(height)[:, None], jnp.arange(width)[None]
    valid = (rows < level.extent[0]) & (columns < level.extent[1])

    def step(flow: Array, _: None) -> tuple[Array, None]:
        x, y = columns + flow[..., 0], rows + flow[..., 1]
        inside = (x >= 0) & (x <= level.extent[1] - 1) & (y >= 0) & (y <= level.extent[0] - 1)
        difference = _sampled(level.earlier, x, y, level.extent) - level.later
        weight = jnp.where(valid & inside, 1 / (1 + (difference / _UNEXPLAINED) ** 2), 0)
        gx, gy = gradient[..., 0], gradient[..., 1]
        along = gx * flow[..., 0] + gy * flow[..., 1] - difference
        terms = jnp.stack([gx * gx, gx * gy, gy * gy, gx * along, gy * along], axis=-1)
        # Values past the extent may be NaN, and 0 · NaN is NaN.
        terms = jnp.where(valid[..., None], weight[..., None] * terms, 0)
        # Without the barrier, XLA fuses the terms into the sums, and computes and compiles them once for each use.
        terms = lax.optimization_barrier(terms)
        xx, xy, yy, bx, by = jnp.moveaxis(_neighbourhood(terms), -1, 0)
        xx, yy = xx + _RIDGE, yy + _RIDGE
        bx, by = bx + _RIDGE * flow[..., 0], by + _RIDGE * flow[..., 1]
        determinant = xx * yy - xy * xy
        solved = jnp.stack([(yy * bx - xy * by) / determinant, (xx * by - xy * bx) / determinant], axis=-1)
        return solved, None

    start = varying_like(jnp.where(valid[..., None], flow, 0), level.later, level.earlier)
    flow, _ = lax.scan(step, start, length=steps)
    return _median(lax.optimization_barrier(flow), level.extent)


def _sampled(picture: Array, x: Array, y: Array, extent: Array) -> Array:
    """Interpolates linearly at coordinates in pixels; the outermost pixels repeat past the border."""
    x, y = jnp.clip(x, 0, extent[1] - 1), jnp.clip(y, 0, extent[0] - 1)
    left, top = jnp.floor(x), jnp.floor(y)
    across, down = x - left, y - top
    column, row = left.astype(jnp.int32), top.astype(jnp.int32)
    right, below = jnp.minimum(column + 1, extent[1] - 1), jnp.minimum(row + 1, extent[0] - 1)
    flat, width = picture.reshape(-1), picture.shape[1]
    values = [_taken(flat, width * i + j, 0) for i in (row, below) for j in (column, right)]
    upper = values[0] * (1 - across) + values[1] * across
    lower = values[2] * (1 - across) + values[3] * across
    return upper * (1 - down) + lower * down


def _taken(values: Array, index: Array, axis: int) -> Array:
    """Takes elements along an axis; indices are clipped, because JAX's other modes take longer to compile."""
    return jnp.take(values, index, axis=axis, mode="clip")


def _shifted(values: Array, offset: int, axis: int, size: Array) -> Array:
    """Takes `values[i + offset]` along an axis; the outermost elements repeat past the true size."""
    index = jnp.clip(jnp.arange(values.shape[axis]) + offset, 0, size - 1)
    return _taken(values, index, axis)


def _derivative(picture: Array, extent: Array, axis: int) -> Array:
    """Differentiates along an axis by a five-point formula, exact for polynomials up to degree four."""
    near = _shifted(picture, 1, axis, extent[axis]) - _shifted(picture, -1, axis, extent[axis])
    far = _shifted(picture, 2, axis, extent[axis]) - _shifted(picture, -2, axis, extent[axis])
    return (8 * near - far) / 12


def _halved(values: Array, extent: Array) -> Array:
    """Smooths by (1 4 6 4 1) / 16 along both axes, then takes every second row and column."""
    for axis in (0, 1):
        size = (values.shape[axis] + 1) // 2
        parts = [
            weight * _taken(values, jnp.clip(2 * jnp.arange(size) + offset, 0, extent[axis] - 1), axis)
            for offset, weight in zip(range(-2, 3), (0.0625, 0.25, 0.375, 0.25, 0.0625), strict=True)
        ]
        values = lax.optimization_barrier(_total(parts))
    return values


def _doubled(flow: Array, extent: Array, shape: tuple[int, ...]) -> Array:
    """Upsamples the flow of a level to the next finer level, whose padded shape is `shape`. `extent` is the flow's true size."""
    for axis in (0, 1):
        index = jnp.arange(shape[axis])
        low, high = (jnp.clip((index + more) // 2, 0, extent[axis] - 1) for more in (0, 1))
        flow = lax.optimization_barrier((_taken(flow, low, axis) + _taken(flow, high, axis)) / 2)
    return 2 * flow


def _neighbourhood(values: Array) -> Array:
    """Sums the neighbourhood of each element of [H, W, C] with Gaussian weights; values past the array are 0."""
    bell = np.exp(-0.5 * (np.arange(-_RADIUS, _RADIUS + 1) / _SIGMA) ** 2)
    weights = jnp.asarray((bell / bell.sum()).astype(np.float32))
    for axis in (0, 1):
        around = [(_RADIUS, _RADIUS) if a == axis else (0, 0) for a in range(values.ndim)]
        padded, size = jnp.pad(values, around), values.shape[axis]

        def add(k: Array, total: Array, padded: Array = padded, size: int = size, axis: int = axis) -> Array:
            return total + weights[k] * lax.dynamic_slice_in_dim(padded, k, size, axis=axis)

        # A loop compiles in a tenth of the time of the unrolled sum.
        values = lax.fori_loop(0, len(weights), add, jnp.zeros_like(values))
    return values


def _median(flow: Array, extent: Array) -> Array:
    """Takes the median of each component over 3 × 3 pixels."""
    rows = [_shifted(flow, offset, 0, extent[0]) for offset in (-1, 0, 1)]
    values = [_shifted(row, offset, 1, extent[1]) for row in rows for offset in (-1, 0, 1)]
    for a, b in _MEDIAN_OF_NINE:
        values[a], values[b] = jnp.minimum(values[a], values[b]), jnp.maximum(values[a], values[b])
    return values[4]


def cell_means(flow: Array, extent: Array, grid: int, shape: tuple[int, int]) -> Array:
    """Averages the flow over each cell of `grid` × `grid` pixels: [*shape, C]. Pixels past the extent do not count."""
    total, count = jnp.zeros((), flow.dtype), jnp.zeros((), flow.dtype)
    for down in range(grid):
        for across in range(grid):
            row, column = (
                grid * jnp.arange(n) + offset for n, offset in zip(shape, (down, across), strict=True)
            )
            inside = ((row < extent[0])[:, None] & (column < extent[1]))[..., None]
            taken = flow[jnp.clip(row, 0, extent[0] - 1)[:, None], jnp.clip(column, 0, extent[1] - 1)]
            total, count = total + jnp.where(inside, taken, 0), count + inside
    return total / jnp.maximum(count, 1)


def spread_cells(cells: Array, extent: Array, grid: int, shape: tuple[int, int]) -> Array:
    """Upsamples cells to pixels, by linear interpolation between the centres of the cells: [*shape, C].

    Args:
        cells: [rows, columns, C].
        extent: int32 [2], true size of the image in pixels.
        grid: side of a cell, pixels.
        shape: padded (height, width) of the image.
    """
    for axis in (0, 1):
        size = (extent[axis] + grid - 1) // grid
        position = jnp.clip((jnp.arange(shape[axis]) + 0.5) / grid - 0.5, 0, size - 1)
        low = jnp.floor(position).astype(jnp.int32)
        share = (position - low).reshape([-1 if a == axis else 1 for a in range(cells.ndim)])
        high = jnp.minimum(low + 1, size - 1)
        cells = _taken(cells, low, axis) * (1 - share) + _taken(cells, high, axis) * share
    return cells


def _total(parts: list[Array]) -> Array:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
