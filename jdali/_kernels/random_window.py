"""Draws a random window of an image by its share of the area and its aspect ratio."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Protocol

import jax
import jax.numpy as jnp
from jax import Array

from jdali._numerics.random import integer, split, uniform
from jdali._numerics.rounding import round_half_away

ASPECT_RATIOS = (3 / 4, 4 / 3)


class WindowFunction(Protocol):
    """`random_window` with bound static arguments. It is hashable, so that `SampleKeys.map` compiles it only once."""

    def __call__(self, key: Array, extent: Array, /) -> tuple[Array, Array]: ...


def random_window(
    key: Array,
    extent: Array,
    /,
    *,
    random_area: tuple[float, float] = (0.08, 1.0),
    random_aspect_ratio: tuple[float, float] = ASPECT_RATIOS,
    num_attempts: int = 10,
) -> tuple[Array, Array]:
    """Draws a window: area uniform, aspect ratio log-uniform, position uniform.

    The first valid attempt is taken. An attempt is valid if its window fits into the image and its aspect ratio is in range
    after the sides are rounded to pixels. Without a valid attempt, the largest window with an aspect ratio in range is
    taken, shrunk to at most the largest area. This window is also taken if it does not reach the smallest area.

    Args:
        key: typed JAX key.
        extent: int32 [2], (height, width) of the image; an image without pixels gives an empty window.
        random_area: smallest and largest area, as a share of the image's area.
        random_aspect_ratio: smallest and largest width / height.
        num_attempts: static, number of attempts, at least 1.

    Returns: int32 [2] anchor (y, x) and int32 [2] size (height, width). The window lies inside the image.
    """
    # Keys of the area, of the aspect ratio, and of the position along either axis.
    words = jax.random.key_data(key)
    keys = split((words[0], words[1]), 4)
    extent = jnp.asarray(extent, jnp.int32)
    size = extent.astype(jnp.float32)
    limits = jnp.stack(
        [jnp.asarray(random_area, jnp.float32), jnp.log(jnp.asarray(random_aspect_ratio, jnp.float32))]
    )
    drawn = uniform((keys[0][:2], keys[1][:2]), num_attempts, limits[:, :1], limits[:, 1:])
    area, aspect = drawn[0] * (size[0] * size[1]), jnp.exp(drawn[1])
    sides = jnp.stack([jnp.sqrt(area / aspect), jnp.sqrt(area * aspect)], axis=1)
    sides = jnp.maximum(round_half_away(sides), 1).astype(jnp.int32)
    rounded = sides[:, 1].astype(jnp.float32) / sides[:, 0].astype(jnp.float32)
    low, high = (jnp.float32(a) for a in random_aspect_ratio)
    fits = (sides <= extent).all(axis=1) & (rounded >= low) & (rounded <= high)

    fallback, hopeless = _largest_window(size, random_area, random_aspect_ratio)
    found = fits.any() & ~hopeless
    shape = jnp.where(found, sides[jnp.argmax(fits)], fallback)
    has_pixels = (extent > 0).all()
    shape = jnp.where(has_pixels, shape, 0)
    free = jnp.where(has_pixels, jnp.maximum(extent - shape, 0), 0)
    return integer((keys[0][2:], keys[1][2:]), free + 1), shape


def _largest_window(
    size: Array, random_area: tuple[float, float], random_aspect_ratio: tuple[float, float]
) -> tuple[Array, Array]:
    """Computes the window to take if no attempt is valid.

    Returns: the window's size, int32 [2]; bool [], True if no attempt can be valid.
    """
    height, width = size[0], size[1]
    low, high = (jnp.float32(a) for a in random_aspect_ratio)
    least = width * height * jnp.float32(random_area[0])
    widest = jnp.maximum(jnp.trunc(height * high), 1)  # width of a window as high as the image
    highest = jnp.maximum(jnp.trunc(width * (1 / low)), 1)  # height of a window as wide as the image
    too_wide = height * widest < least
    too_high = width * highest < least
    ratio = width / height
    # The largest window with an allowed aspect ratio; this is the whole image if the image's ratio is allowed.
    window = jnp.where(
        ratio > high,
        jnp.stack([height, widest]),
        jnp.where(ratio < low, jnp.stack([highest, width]), size),
    )
    largest = jnp.float32(random_area[1]) * width * height
    shrink = jnp.sqrt(jnp.minimum(jnp.float32(1), largest / (window[0] * window[1])))
    window = jnp.maximum(jnp.trunc(window * shrink), 1)
    impossible = jnp.where(too_wide, jnp.stack([height, widest]), jnp.stack([highest, width]))
    hopeless = too_wide | too_high
    return jnp.where(hopeless, impossible, window).astype(jnp.int32), hopeless


@functools.lru_cache(maxsize=64)
def _bound(
    random_area: tuple[float, float], random_aspect_ratio: tuple[float, float], num_attempts: int
) -> WindowFunction:
    return functools.partial(
        random_window,
        random_area=random_area,
        random_aspect_ratio=random_aspect_ratio,
        num_attempts=num_attempts,
    )


def window_function(
    name: str,
    random_area: Sequence[float],
    random_aspect_ratio: Sequence[float],
    num_attempts: int,
) -> WindowFunction:
    """Returns `random_window` with these arguments bound; equal arguments give the same object, as `SampleKeys.map` requires."""
    for argument, limits in (("random_area", random_area), ("random_aspect_ratio", random_aspect_ratio)):
        if len(limits) != 2 or not 0 < limits[0] <= limits[1]:
            raise ValueError(
                f"{name}: Provided empty range: {argument} must be (least, largest) with 0 < least <= largest, got {limits}"
            )
    if num_attempts < 1:
        raise ValueError(f"{name}: num_attempts must be at least 1, got {num_attempts}")
    area_low, area_high = map(float, random_area)
    aspect_low, aspect_high = map(float, random_aspect_ratio)
    return _bound((area_low, area_high), (aspect_low, aspect_high), int(num_attempts))
