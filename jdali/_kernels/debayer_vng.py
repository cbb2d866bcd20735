"""Demosaicing by variable numbers of gradients (VNG), in OpenCV's integer arithmetic.

E. Chang, S. Cheung, D. Pan: Color filter array recovery using a threshold-based variable number of gradients, 1999.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax.numpy as jnp
from jax import Array

from jdali._kernels.by_platform import Keep

# Minimum height and width of images for this method.
SMALLEST = 8
# Pixels that OpenCV processes in one vector; see `_scales`.
_VECTOR = 8
_UP, _DOWN, _LEFT, _RIGHT = (-1, 0), (1, 0), (0, -1), (0, 1)
_DIRECTIONS = (_UP, _DOWN, _LEFT, _RIGHT, (-1, 1), (1, -1), (-1, -1), (1, 1))

At = Callable[[int, int], Array]


def by_gradients(wide: Array, sites: tuple[Array, Array], width: Array, keep: Keep) -> list[Array]:
    """Computes RGB from a sensor's image.

    Each pixel has a gradient in each of 8 directions. A direction is chosen if its gradient is below the smallest
    gradient plus half of the largest gradient. Each of the n chosen directions adds two pixels to the sum of each
    colour. A missing colour is the pixel's value plus (sum of this colour - sum of the pixel's own colour) / (2n).

    Args:
        wide: int16 [H + 4, W + 4], values from 0 to 255, the image with a margin of 2 pixels.
        sites: bool [H, 1] and [1, W], rows and columns that hold red pixels.
        width: int32 [], true width of the image.
        keep: see `Keep`.

    Returns: uint8 [H, W], red, green and blue.
    """
    rows, columns = sites
    green = rows != columns
    wide = keep(wide)
    at = _pixels_around(wide, 2, green.shape)
    gradients = keep(_gradients(wide, green, keep))
    smallest, largest = functools.reduce(jnp.minimum, gradients), functools.reduce(jnp.maximum, gradients)
    threshold = keep(smallest + jnp.maximum(largest >> 1, 1))
    # Sums of the three colours; `own` is the pixel's colour. At a green pixel, `first` is the other colour in its row,
    # and `second` the other colour in its column. At red pixels, they are green and blue; at blue ones, green and red.
    own, first, second = (jnp.zeros(green.shape, jnp.int16) for _ in range(3))
    count = jnp.zeros(green.shape, jnp.int16)
    for (y, x), gradient in zip(_DIRECTIONS, gradients, strict=True):
        chosen = gradient < threshold
        terms = _straight(at, y, x, green) if y * x == 0 else _diagonal(at, y, x, green)
        own, first, second = (
            total + jnp.where(chosen, term, 0)
            for total, term in zip((own, first, second), terms, strict=True)
        )
        count = count + chosen
    own, first, second, count = keep((own, first, second, count))
    scale, centre = _scales(count, sites, width), at(0, 0)

    def colour(total: Array) -> Array:
        change = jnp.round((total - own).astype(jnp.float32) * scale).astype(jnp.int16)  # half to even
        return jnp.clip(centre + change, 0, 255)

    one, other = colour(first), colour(second)
    red = jnp.where(green, jnp.where(rows, one, other), jnp.where(rows, centre, other))
    blue = jnp.where(green, jnp.where(rows, other, one), jnp.where(rows, other, centre))
    return [value.astype(jnp.uint8) for value in (red, jnp.where(green, centre, one), blue)]


def _pixels_around(wide: Array, margin: int, shape: tuple[int, ...]) -> At:
    """Returns a function at(y, x) that returns, for each pixel, the pixel y rows below it and x columns to its right."""

    def at(y: int, x: int) -> Array:
        return wide[margin + y : margin + y + shape[0], margin + x : margin + x + shape[1]]

    return at


def _gradients(wide: Array, green: Array, keep: Keep) -> list[Array]:
    pixel = _pixels_around(wide, 1, (green.shape[0] + 2, green.shape[1] + 2))

    def change(one: tuple[int, int], other: tuple[int, int]) -> Array:
        return jnp.abs(pixel(*one) - pixel(*other))

    vertical = change((-1, -1), (1, -1)) + 2 * change(_UP, _DOWN) + change((-1, 1), (1, 1))
    horizontal = change((-1, -1), (-1, 1)) + 2 * change(_LEFT, _RIGHT) + change((1, -1), (1, 1))
    rising, falling = 2 * change((-1, 1), (1, -1)), 2 * change((-1, -1), (1, 1))
    rising_more = rising + change(_UP, _LEFT) + change(_DOWN, _RIGHT)
    falling_more = falling + change(_UP, _RIGHT) + change(_DOWN, _LEFT)
    vertical, horizontal, rising, falling, rising_more, falling_more = keep(
        (vertical, horizontal, rising, falling, rising_more, falling_more)
    )
    result = []
    for y, x in _DIRECTIONS:
        if y * x == 0:
            at = _pixels_around(vertical if y else horizontal, 1, green.shape)
            result.append(at(0, 0) + at(y, x))
            continue
        few, more = (rising, rising_more) if y != x else (falling, falling_more)
        at, at_more = _pixels_around(few, 1, green.shape), _pixels_around(more, 1, green.shape)
        four = at(0, 0) + at(y, 0) + at(0, x) + at(y, x)
        result.append(jnp.where(green, four, at_more(0, 0) + at_more(y, x)))
    return result


def _straight(at: At, y: int, x: int, green: Array) -> tuple[Array, Array, Array]:
    """Computes the terms that a horizontal or vertical direction adds to the three sums of `by_gradients`."""
    own, near = at(2 * y, 2 * x) + at(0, 0), 2 * at(y, x)
    far = at(2 * y + x, 2 * x + y) + at(2 * y - x, 2 * x - y)
    corners = at(y + x, x + y) + at(y - x, x - y)
    if y:
        return own, jnp.where(green, far, near), jnp.where(green, near, corners)
    return own, near, jnp.where(green, far, corners)


def _diagonal(at: At, y: int, x: int, green: Array) -> tuple[Array, Array, Array]:
    """Computes the terms that a diagonal direction adds to the three sums of `by_gradients`."""
    near = 2 * at(y, x)
    beside, above = at(0, x) + at(2 * y, x), at(y, 0) + at(y, 2 * x)
    return (
        jnp.where(green, near, at(2 * y, 2 * x) + at(0, 0)),
        jnp.where(green, beside, (beside + above) >> 1),
        jnp.where(green, above, near),
    )


def _scales(count: Array, sites: tuple[Array, Array], width: Array) -> Array:
    """Computes 1 / (2 count), float32; 0 where `count` is 0.

    OpenCV computes vectors of 8 pixels. Single pixels remain at the end of a row, and at the start of a row that begins
    with green. For them, 0.0714286 replaces 1/14. It is slightly larger, so halves are rounded away from zero.
    """
    rows, columns = sites
    single = (rows != columns[:, :1]).astype(jnp.int32)
    column = jnp.arange(count.shape[1], dtype=jnp.int32) - single
    alone = (column < 0) | (column >= (width - single) // _VECTOR * _VECTOR)
    scale = jnp.float32(0)
    for n in range(1, 9):
        scale = jnp.where(count == n, jnp.float32(1 / (2 * n)), scale)
    return jnp.where(alone & (count == 7), jnp.float32(0.0714286), scale)
