from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan
from jdali._errors import check_samples
from jdali._kernels.border import with_margin
from jdali._kernels.by_platform import by_rows
from jdali._kernels.fit import fit
from jdali._kernels.histogram import BINS, tile_histograms
from jdali._kernels.lab import lab_to_rgb, rgb_to_lab
from jdali._kernels.packed_pixels import packed, unpacked, unpacked_channels
from jdali._numerics.platform import one_program
from jdali._numerics.positions import rounded
from jdali._operators.record import PerSample, Static, operator

_UNLIMITED = np.iinfo(np.int32).max


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
    # If the size of one axis is not a multiple of its number of tiles, both axes get a margin. On an axis whose size is a
    # multiple, the margin is one pixel per tile.
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


@operator(setup=setup, layouts=("HWC",), wide_vectors=True, source="operators/image/clahe/clahe.cc")
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

    In each tile, histogram counts are clipped at `clip_limit` times the mean count, and the excess is spread evenly
    over all values. A pixel is interpolated between the results of the four nearest tiles. Images whose size is not a
    multiple of the number of tiles are mirrored at the right and the bottom.

    Args:
        image: RGB or gray, HWC, CHW or HW, or sequences of these; uint8.
        tiles_x: number of tiles along the width, at least 1.
        tiles_y: number of tiles along the height, at least 1.
        clip_limit: largest count, in multiples of the mean count. The limit is never below 1 pixel. 0 or less: no limit.
        bins: a power of 2, without effect: histograms have 256 bins, as in DALI's CPU kernel.
        luma_only: for RGB, True: equalize L* of CIE L*a*b*, in 8 bits; False: each channel by itself.

    Returns: shape, type and layout of the image.

    Parity: results equal DALI's and OpenCV's bit for bit. In DALI, `tiles_x=0` ends the process.

    Example: images = fn.clahe(images, tiles_x=8, tiles_y=8, clip_limit=3.0)
    """
    assert _tile is not None
    assert _luma is not None
    if not image.size:
        return jnp.zeros(out_shape, image.dtype)
    tiles = (tiles_y, tiles_x)
    arguments = (jnp.asarray(_tile), jnp.asarray(_limit), jnp.asarray(_scale), extent)
    return fit(_equalized(tiles, _luma, image, *arguments), out_shape)


@one_program(static_argnums=(0, 1))
def _equalized(
    tiles: tuple[int, int], luma: tuple[bool, bool], image: Array, tile: Array, limit: Array, scale: Array, extent: Array
) -> Array:  # fmt: skip
    """Equalizes uint8 [H, W, C]; `luma` has two flags: whether any image is equalized by lightness, and whether all are."""

    def tables(values: Array) -> Array:
        return _tables(tiles, values, tile, limit, scale, extent[:2])

    def made(make: Callable[..., Array], values: Array, *all_tables: Array) -> Array:
        operands = (values, extent, tile, *all_tables)
        return by_rows(functools.partial(make, tiles), *operands, shape=image.shape, dtype=image.dtype)

    some, all_of_them = luma
    if not all_of_them:
        each = made(_each_channel, image, *tables(image))
        if not some:
            return each
    lab = by_rows(_lab, image[:, :, :3], extent, shape=image.shape[:2], dtype=jnp.uint32)
    colours = made(
        functools.partial(_lightness, image.shape[2]),
        lab,
        *tables((lab & 0xFF).astype(jnp.uint8)[:, :, None]),
    )
    return colours if all_of_them else jnp.where(extent[2] == 3, colours, each)


def _each_channel(
    tiles: tuple[int, int],
    image: Array,
    first: Array,
    keep: Any,
    tile: Array,
    *tables: Array,
) -> Array:
    planes = [keep(_looked_up(tiles, image[:, :, c], first, tables[c], tile)) for c in range(image.shape[2])]
    return unpacked(packed(planes), len(planes)) if len(planes) <= 4 else jnp.stack(planes, axis=-1)


def _lab(image: Array, first: Array, keep: Any) -> Array:
    """Converts [rows, W, 3] to L*a*b*, packed into uint32 [rows, W]: L in the lowest 8 bits, followed by a and b."""
    del first
    return packed(rgb_to_lab(image, keep))


def _lightness(
    channels: int, tiles: tuple[int, int], lab: Array, first: Array, keep: Any, tile: Array, tables: Array,
) -> Array:  # fmt: skip
    """Equalizes the lightness of `_lab`'s result, and converts it to RGB [rows, W, channels]."""
    lightness, a, b = unpacked_channels(lab, 3)
    equalized = keep(_looked_up(tiles, lightness, first, tables, tile))
    return fit(
        unpacked(packed(lab_to_rgb(equalized.astype(jnp.int32), a, b, keep)), 3), (*lab.shape, channels)
    )


def _tables(
    tiles: tuple[int, int], values: Array, tile: Array, limit: Array, scale: Array, size: Array
) -> Array:
    """Makes lookup tables of equalized values, uint32 [C, *cells, 256], from `values`, uint8 [H, W, C].

    A cell is the area between the centres of four neighbouring tiles; at the border, tiles are repeated. For each cell
    and value, an entry packs the results of the tiles above left, above right, below left and below right, 8 bits each.
    """
    counts = tile_histograms(values, tiles, tile, size)
    excess = jnp.maximum(counts - limit, 0).sum(axis=-1, keepdims=True, dtype=jnp.int32)
    # Every value gets excess // BINS. The remainder goes to every `step`-th value. The step is computed in float32,
    # because CPUs have no vector division of integers; the results are exact.
    left = (excess % BINS).astype(jnp.float32)
    step = jnp.maximum(jnp.floor((BINS + 0.5) / jnp.maximum(left, 1)), 1)
    value = jnp.arange(BINS, dtype=jnp.float32)
    turn = jnp.floor((value + 0.5) / step)
    extra = (turn * step == value) & (turn < left)
    counts = jnp.minimum(counts, limit) + excess // BINS + extra
    sums = jnp.cumsum(counts, axis=-1, dtype=jnp.int32).astype(jnp.float32)
    made = jnp.clip(jnp.round(sums * scale), 0, BINS - 1).astype(jnp.uint8)  # half to even
    around = made.reshape(-1, *tiles, BINS)
    for axis, count in ((1, tiles[0]), (2, tiles[1])):  # repeat the tiles at the borders
        around = with_margin(around, axis, jnp.int32(count), (1, 1), "clamp")
    above, below = around[:, :-1], around[:, 1:]
    corners = [row[:, :, columns] for row in (above, below) for columns in (slice(-1), slice(1, None))]
    return packed(corners)


def _looked_up(tiles: tuple[int, int], values: Array, first: Array, tables: Array, tile: Array) -> Array:
    """Interpolates each value between the results of the four nearest tiles: uint8 [rows, W].

    Many results are close to a half, where a different last bit changes the final rounding. `rounded` keeps XLA from
    fusing the products into the sums.
    """
    (row, down), (column, across) = (
        _nearest(start + jnp.arange(count, dtype=jnp.int32), tile[axis], tiles[axis])
        for axis, (start, count) in enumerate(zip((first, jnp.int32(0)), values.shape, strict=True))
    )
    index = (row[:, None] * (tiles[1] + 1) + column) * BINS + values.astype(jnp.int32)
    words = tables.reshape(-1).at[index].get(mode="promise_in_bounds", wrap_negative_indices=False)
    one, other, third, fourth = (value.astype(jnp.float32) for value in unpacked_channels(words, 4))

    def mixed(one: Array, other: Array, weight: Array) -> Array:
        return rounded(one * (1 - weight)) + rounded(other * weight)

    value = mixed(mixed(one, other, across), mixed(third, fourth, across), down[:, None])
    return jnp.clip(jnp.round(value), 0, BINS - 1).astype(jnp.uint8)  # half to even


def _nearest(pixels: Array, size: Array, tiles: int) -> tuple[Array, Array]:
    """Finds the cell of `_tables` for each pixel along an axis, and the weight of the cell's second tile."""
    inverse = 1 / jnp.maximum(size, 1).astype(jnp.float32)
    position = rounded(pixels.astype(jnp.float32) * inverse) - jnp.float32(0.5)
    first = jnp.floor(position)
    return jnp.clip(first.astype(jnp.int32) + 1, 0, tiles), position - first
