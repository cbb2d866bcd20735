"""CLAHE: histogram equalization tile by tile, with limited contrast."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches.extent import BatchSpec, Plan
from jdali._errors import check_samples
from jdali._operators.record import PerSample, Static, operator
from jdali.ops.image._border import with_margin
from jdali.ops.image._histogram import BINS
from jdali.ops.image._lab import lab_to_rgb, rgb_to_lab
from jdali.ops.tensor._fit import fit

_UNLIMITED = np.iinfo(np.int32).max


# --- setup --------------------------------------------------------------------------------------
def setup(
    images: BatchSpec, *, bins: int, clip_limit: float, luma_only: bool, tiles_x: int, tiles_y: int
) -> Plan:
    if images.dtype != np.uint8:
        raise ValueError(f"clahe: images are {images.dtype}, they must be uint8; cast them")
    for name, count in (("tiles_x", tiles_x), ("tiles_y", tiles_y)):
        if count < 1:
            raise ValueError(f"clahe: {name} is {count}, it must be at least 1")
    if bins < 1 or bins & (bins - 1):
        raise ValueError(f"clahe: bins is {bins}, it must be a power of 2")
    channels = images.extents[:, 2]
    check_samples(
        (channels != 1) & (channels != 3),
        lambda i: f"clahe: images must have 1 or 3 channels, got {channels[i]}",
    )
    tiles = np.array([tiles_y, tiles_x])
    sizes = images.extents[:, :2]
    # Where one axis is not a multiple of its tiles, the other gets a margin as well, of as many pixels as it has tiles.
    whole = (sizes % tiles == 0).all(axis=1)[:, None]
    size = np.where(whole, sizes, sizes + tiles - sizes % tiles) // tiles
    area = size.prod(axis=1)
    limit = np.maximum(np.float64(np.float32(clip_limit)) * area / BINS, 1) if clip_limit > 0 else _UNLIMITED
    colour = luma_only & (channels == 3)
    return Plan(
        (images,),
        params={
            "_tile": size.astype(np.int32),
            "_limit": np.broadcast_to(np.minimum(limit, _UNLIMITED), len(area)).astype(np.int32),
            "_scale": np.float32(BINS - 1) / np.maximum(area, 1).astype(np.float32),
        },
        static={"_luma": (bool(colour.any()), bool(colour.all()))},
    )


# --- run ----------------------------------------------------------------------------------------
@operator(setup=setup, layouts=("HWC",), source="operators/image/clahe/clahe.cc")
def clahe(
    image: Array,
    /,
    *,
    tiles_x: Static[int],
    tiles_y: Static[int],
    clip_limit: Static[float],
    bins: Static[int] = 256,
    luma_only: Static[bool] = True,
    _tile: PerSample[Array | None] = None,
    _limit: PerSample[int | None] = None,
    _scale: PerSample[float | None] = None,
    _luma: Static[tuple[bool, bool] | None] = None,
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Equalizes the histogram of each tile of an image, with limited contrast (CLAHE).

    In each tile, counts of the histogram above `clip_limit` times the mean count are cut off, and what was cut is
    spread evenly over all values. A pixel becomes what the four nearest tiles make of its value, weighted by their
    distance. Images whose size is no multiple of the tiles are mirrored at the right and at the bottom.

    Args:
        image: RGB or gray, HWC, CHW or HW, or sequences of these; uint8.
        tiles_x: number of tiles along the width, at least 1.
        tiles_y: number of tiles along the height, at least 1.
        clip_limit: largest count, in mean counts; at least 1 pixel. 0 or less: no limit.
        bins: a power of 2, without effect: there are 256, as in DALI's CPU kernel.
        luma_only: of RGB, equalize L* of CIE L*a*b*, in 8 bits; or else each channel by itself.

    Returns: shape, type and layout of the image.

    Parity: bit for bit, with OpenCV too. DALI's process ends at `tiles_x=0`.
    """
    assert _tile is not None
    assert _luma is not None
    if not image.size:
        return jnp.zeros(out_shape, image.dtype)
    tiles = (tiles_y, tiles_x)
    arguments = (jnp.asarray(_tile), jnp.asarray(_limit), jnp.asarray(_scale), extent)
    return fit(_equalized(tiles, _luma, image, *arguments), out_shape)


@functools.partial(jax.jit, static_argnums=(0, 1))  # one program also for eager callers
def _equalized(
    tiles: tuple[int, int], luma: tuple[bool, bool], image: Array, tile: Array, limit: Array, scale: Array, extent: Array
) -> Array:  # fmt: skip
    """uint8 of [H, W, C]; `luma` says whether some images, and whether all, have their lightness equalized."""

    def plane(values: Array) -> Array:
        tables = _tables(tiles, values, tile, limit, scale, extent[:2])
        return _looked_up(tiles, values, tables, tile, scale * jnp.float32(-0.0))

    some, all_of_them = luma
    if not all_of_them:
        each = jnp.stack([plane(image[:, :, c]) for c in range(image.shape[2])], axis=-1).astype(jnp.uint8)
        if not some:
            return each
    lightness, a, b = rgb_to_lab(image[:, :, :3])
    colours = fit(lab_to_rgb(plane(lightness), a, b), image.shape)
    return colours if all_of_them else jnp.where(extent[2] == 3, colours, each)


def _tables(
    tiles: tuple[int, int], values: Array, tile: Array, limit: Array, scale: Array, size: Array
) -> Array:
    """float32 [tiles · 256]: what each value becomes in each tile, of [H, W]."""
    wide = values
    for axis in (0, 1):
        wide = with_margin(wide, axis, size[axis], (0, tiles[axis]), "reflect_101")
    rows, columns = (
        jnp.arange(wide.shape[axis], dtype=jnp.int32) // jnp.maximum(tile[axis], 1) for axis in (0, 1)
    )
    inside = (rows < tiles[0])[:, None] & (columns < tiles[1])
    which = rows[:, None] * tiles[1] + columns
    place = jnp.where(inside, which * BINS + wide.astype(jnp.int32), 0)
    counts = jnp.zeros(tiles[0] * tiles[1] * BINS, jnp.int32).at[place].add(inside.astype(jnp.int32))
    counts = counts.reshape(-1, BINS)
    excess = jnp.maximum(counts - limit, 0).sum(axis=1, keepdims=True, dtype=jnp.int32)
    left = excess % BINS
    # What cannot be spread evenly goes to values at equal steps.
    step = jnp.maximum(BINS // jnp.maximum(left, 1), 1)
    value = jnp.arange(BINS, dtype=jnp.int32)
    extra = (value % step == 0) & (value // step < left)
    counts = jnp.minimum(counts, limit) + excess // BINS + extra
    below = jnp.cumsum(counts, axis=1, dtype=jnp.int32).astype(jnp.float32)
    return jnp.clip(jnp.round(below * scale), 0, BINS - 1).reshape(-1)  # half to even


def _looked_up(tiles: tuple[int, int], values: Array, tables: Array, tile: Array, minus_zero: Array) -> Array:
    """int32 [H, W]: each value by the tables of the four nearest tiles.

    `minus_zero`, which the compiler does not know to be -0, keeps it from fusing products with sums, in user's
    programs as well: here many values are as good as halves.
    """
    (top, bottom, down), (left, right, across) = (
        _nearest(values.shape[axis], tile[axis], tiles[axis], minus_zero) for axis in (0, 1)
    )

    def made_by(row: Array, column: Array) -> Array:
        place = (row[:, None] * tiles[1] + column) * BINS + values.astype(jnp.int32)
        return tables.at[place].get(mode="promise_in_bounds")

    def mixed(one: Array, other: Array, weight: Array) -> Array:
        return (one * (1 - weight) + minus_zero) + (other * weight + minus_zero)

    upper, lower = (mixed(made_by(row, left), made_by(row, right), across) for row in (top, bottom))
    value = mixed(upper, lower, down[:, None])
    return jnp.clip(jnp.round(value), 0, BINS - 1).astype(jnp.int32)  # half to even


def _nearest(count: int, size: Array, tiles: int, minus_zero: Array) -> tuple[Array, Array, Array]:
    """For each pixel of an axis the tiles before and behind it, and the weight of the latter."""
    inverse = 1 / jnp.maximum(size, 1).astype(jnp.float32)
    place = (jnp.arange(count, dtype=jnp.float32) * inverse + minus_zero) - jnp.float32(0.5)
    first = jnp.floor(place)
    tile = first.astype(jnp.int32)
    return jnp.clip(tile, 0, tiles - 1), jnp.clip(tile + 1, 0, tiles - 1), place - first
