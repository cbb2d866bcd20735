from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec, Plan, reflect_101
from jdali._errors import check_samples
from jdali._kernels.border import with_margin
from jdali._kernels.by_platform import Keep, by_platform, kept, loop, rows_of_block
from jdali._kernels.debayer_vng import SMALLEST, At, by_gradients
from jdali._kernels.fit import fit
from jdali._kernels.packed_pixels import packed, unpacked
from jdali._numerics.platform import one_program
from jdali._numerics.rounding import varying_like
from jdali._operators.record import PerFrame, PerSample, Static, operator, wrong_length

_ALGORITHMS = ("bilinear_ocv", "edgeaware_ocv", "vng_ocv", "gray_ocv")
# Luma weights 0.299, 0.587, 0.114 of red, green and blue in units of 2^-14, as in OpenCV.
_RED, _GREEN, _BLUE = 4899, 9617, 1868
# Number of pixels in a block of rows.
_BLOCK = 1 << 14
# Images with at most this number of pixels are computed without a loop, because a loop is not worth its compile time.
_SMALL = 1 << 12

# Rows and columns that have red pixels: bool [N, 1] and [1, W].
Sites: TypeAlias = tuple[Array, Array]
# Function that computes the channels of the result from neighbouring pixels and the positions of red pixels.
Colours: TypeAlias = Callable[[At, Sites], list[Array]]


def setup(images: BatchSpec, *, blue_position: np.ndarray, algorithm: str) -> Plan:
    algorithm = algorithm.lower()
    if algorithm == "default_npp":
        raise ValueError(
            "debayer: default_npp algorithm is not supported on CPU. Here, nor on any other device: it must be one of "
            + ", ".join(_ALGORITHMS)
        )
    if algorithm not in _ALGORITHMS:
        raise ValueError(
            f"debayer: Unsupported debayer algorithm was specified: `{algorithm}`. It must be one of {', '.join(_ALGORITHMS)}"
        )
    if images.dtype not in (np.uint8, np.uint16):
        raise ValueError(
            f"debayer: Unsupported input type for debayer operator: {images.dtype}. It must be uint8 or uint16; cast it"
        )
    if algorithm == "vng_ocv" and images.dtype != np.uint8:
        raise ValueError(
            f"debayer: VNG debayering only supported with UINT8. Images are {images.dtype}; cast them"
        )
    if blue_position.shape[1:] not in ((), (1,), (2,)):
        raise ValueError(f"debayer: {wrong_length('blue_position', 2, blue_position[0].size, 0)}")
    blue = np.broadcast_to(blue_position.reshape(len(blue_position), -1), (len(blue_position), 2))
    _refuse(
        (blue < 0) | (blue > 1),
        "The `blue_position` position must lie within 2x2 tile, got:",
        blue,
        "blue_position",
    )
    sizes, channels = images.extents[:, :2], images.extents[:, 2:]
    _refuse(
        channels != 1,
        "The debayer operator expects grayscale (i.e. single channel) images, got channels:",
        channels,
    )
    _refuse(
        sizes % 2 == 1,
        "The height and width of the image to debayer must be even. However, a sample has",
        sizes,
    )
    colours = np.full((len(sizes), 1), 1 if algorithm == "gray_ocv" else 3, sizes.dtype)
    output = BatchSpec(np.concatenate([sizes, colours], axis=1), images.dtype, "HWC")
    return Plan((output,), params={"_red": blue.astype(np.int32)}, static={"_algorithm": algorithm})


def _refuse(wrong: np.ndarray, message: str, values: np.ndarray, argument: str | None = None) -> None:
    def text(sample: int) -> str:
        return f"debayer: {message} {' x '.join(map(str, values[sample].tolist()))}"

    check_samples(wrong.any(axis=1), text, argument=argument)


@operator(setup=setup, layouts=("HW", "HWC"), source="operators/image/color/debayer_cpu.cc")
def debayer(
    image: Array,
    /,
    *,
    blue_position: PerFrame[tuple[int, ...]],
    algorithm: Static[str] = "bilinear_ocv",
    _algorithm: Static[str] = "",
    _red: PerSample[Array | None] = None,
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Interpolates the missing colours of images from a sensor behind a Bayer filter.

    The filter repeats a tile of 2 x 2 pixels: one red, one blue and two green. Algorithms:

    * "bilinear_ocv": the mean of the 2 or 4 nearest pixels of a colour, halves rounded up.
    * "edgeaware_ocv": like "bilinear_ocv", but green is interpolated along the direction in which it changes less.
    * "vng_ocv" (variable number of gradients): the pixel's value plus the mean difference between the missing colour
      and the pixel's colour. Of 8 directions, the mean covers only those in which the image changes little. Images of
      fewer than 8 pixels along an axis use "bilinear_ocv".
    * "gray_ocv": 0.299 R + 0.587 G + 0.114 B of the "bilinear_ocv" colours, rounded once.

    "vng_ocv" mirrors the image at its borders. With the other algorithms, border pixels get the colours of their inner
    neighbours, and images of 2 pixels along an axis, which have only border pixels, become 0.

    Args:
        image: one channel, of even height and width: HW, HWC, or sequences of these; uint8 or uint16, uint8 for
            "vng_ocv".
        blue_position: (y, x) of the blue pixel in the tile, 0 or 1 each; a single value is used for both. As in OpenCV,
            the tile begins at the second row and the second column of the image. With (0, 0), the rows of the
            tile are BG and GR, so the first pixel of the image is red.
        algorithm: name of an algorithm, in upper or lower case.

    Returns: HWC, or FHWC, of the image's type: RGB, or one channel for "gray_ocv".

    Parity: results equal DALI's bit for bit. "default_npp" exists only in DALI's GPU kernel.

    Example: colour = fn.debayer(plane, blue_position=[0, 0])
    """
    assert _red is not None
    flat = image[:, :, 0] if image.ndim == 3 else image
    return fit(_debayered(_algorithm, flat, jnp.asarray(_red), extent[:2]), out_shape)


@one_program(static_argnums=0)
def _debayered(algorithm: str, image: Array, red: Array, size: Array) -> Array:
    """Computes [H, W, C] from [H, W]. On a CPU, rows are computed in blocks that stay in the cache."""
    height, width = image.shape
    channels = 1 if algorithm == "gray_ocv" else 3
    if min(image.shape) < 3:
        return jnp.zeros((height, width, channels), image.dtype)
    rows = rows_of_block(image.shape, _BLOCK)
    # VNG uses bilinear interpolation for images that are too small.
    colours = _COLOURS.get(algorithm, _COLOURS["bilinear_ocv"])

    def blocks(image: Array, red: Array, size: Array) -> Array:
        once = jnp.minimum(size[0], 1)

        def keep(values: Any) -> Any:
            return kept(values, once)

        def all_of_them(rows_of: Callable[..., Array], wide: Array) -> Array:
            def block(i: Array, result: Array) -> Array:
                first = jnp.minimum(i * rows, height - rows)
                made = rows_of(wide, red, size, first, rows)
                side = jnp.int32(width - made.shape[1]) // 2
                return lax.dynamic_update_slice(result, made, (first, side, jnp.int32(0)))

            start = varying_like(jnp.zeros((height, width, channels), image.dtype), image, red, size)
            return loop((size[0] + rows - 1) // rows, block, start)

        def interpolated(image: Array) -> Array:
            made = all_of_them(functools.partial(_interpolated, colours, keep), image)
            # The left and the right border. XLA would copy the whole image if it fused these writes.
            inner, outer = (jnp.int32(1), size[1] - 2), (jnp.int32(0), size[1] - 1)
            strips = keep([lax.dynamic_slice_in_dim(made, column, 1, axis=1) for column in inner])
            for column, strip in zip(outer, strips, strict=True):
                made = keep(lax.dynamic_update_slice_in_dim(made, strip, column, axis=1))
            return made

        def by_gradients(image: Array) -> Array:
            return all_of_them(functools.partial(_by_gradients, keep), _with_margin(image, size))

        return _of_size(algorithm, image, size, interpolated, by_gradients)

    def whole(image: Array, red: Array, size: Array) -> Array:
        def by_gradients(image: Array) -> Array:
            wide = _with_margin(image, size)
            return _by_gradients(lambda values: values, wide, red, size, jnp.int32(0), height)

        interpolated = functools.partial(_interpolated_at_once, colours, red=red, size=size)
        return _of_size(algorithm, image, size, interpolated, by_gradients)

    return (whole if image.size <= _SMALL else by_platform(blocks, whole))(image, red, size)


def _of_size(
    algorithm: str, image: Array, size: Array,
    interpolated: Callable[[Array], Array], by_gradients: Callable[[Array], Array],
) -> Array:  # fmt: skip
    """Calls `by_gradients` if the algorithm is VNG and the image is large enough, else `interpolated`."""
    if algorithm in _COLOURS or min(image.shape) < SMALLEST:
        return interpolated(image)
    return lax.cond((size >= SMALLEST).all(), by_gradients, interpolated, image)


def _with_margin(image: Array, size: Array) -> Array:
    return with_margin(image, 1, size[1], (2, 2), "reflect_101")


def _interpolated_at_once(colours: Colours, image: Array, red: Array, size: Array) -> Array:
    """Interpolates a whole image: [H, W, C]. Border pixels get the colours of their inner neighbours."""
    rows, columns = (
        jnp.clip(jnp.arange(length, dtype=jnp.int32), 1, jnp.maximum(size[axis] - 2, 1))
        for axis, length in enumerate(image.shape)
    )

    def at(y: int, x: int) -> Array:
        index = (rows + y)[:, None], (columns + x)[None]
        return image.at[index].get(mode="promise_in_bounds", wrap_negative_indices=False)

    made = [jnp.where((size > 2).all(), value, 0) for value in colours(at, _sites(rows, columns, red))]
    return jnp.stack(made, axis=-1)


def _interpolated(
    colours: Colours, keep: Keep, image: Array, red: Array, size: Array, first: Array, count: int
) -> Array:
    """Interpolates rows of the result from `first` on, without the first and the last column: [count, W - 2, C].

    Channels are computed separately and then interleaved, which is much faster than unpacking them from 32-bit words.

    Args:
        colours: computes colours from neighbouring pixels.
        keep: see `Keep`.
        image: [H, W].
        red: int32 [2], see `_sites`.
        size: int32 [2], true size of the image.
    """
    width = image.shape[1] - 2
    # Rows at the borders repeat the next row.
    rows = jnp.clip(first + jnp.arange(count, dtype=jnp.int32), 1, size[0] - 2)
    lines = keep([_lines(image, rows + y) for y in (-1, 0, 1)])

    def at(y: int, x: int) -> Array:
        return lines[1 + y][:, 1 + x : 1 + x + width]

    sites = keep(_sites(rows, 1 + jnp.arange(width, dtype=jnp.int32), red))
    made = colours(at, sites)
    return jnp.stack(keep([jnp.where((size > 2).all(), value, 0) for value in made]), axis=-1)


def _lines(wide: Array, rows: Array) -> Array:
    """Takes rows of an image; rows outside of it are unspecified."""
    return wide.at[jnp.clip(rows, 0, wide.shape[0] - 1)].get(mode="promise_in_bounds")


def _sites(rows: Array, columns: Array, red: Array) -> Sites:
    """Marks the rows, [N, 1], and columns, [1, W], that have red pixels; the other rows and columns have blue pixels."""
    return ((rows - red[0]) % 2 == 0)[:, None], ((columns - red[1]) % 2 == 0)[None]


def _rgb(green: Callable[..., Array], at: At, sites: Sites) -> list[Array]:
    """Computes red, green and blue. `green` interpolates green from the pixels above, below, left and right."""
    rows, columns = sites
    dtype = at(0, 0).dtype
    up, down, left, right, diagonal, own = _neighbours(at, jnp.int16 if dtype == jnp.uint8 else jnp.int32)
    across, along, corners = (left + right + 1) >> 1, (up + down + 1) >> 1, (diagonal + 2) >> 2

    def colour(rows: Array, columns: Array) -> Array:
        return jnp.where(rows, jnp.where(columns, own, across), jnp.where(columns, along, corners))

    greens = jnp.where(rows == columns, green(up, down, left, right), own)
    return [value.astype(dtype) for value in (colour(rows, columns), greens, colour(~rows, ~columns))]


def _mean(up: Array, down: Array, left: Array, right: Array) -> Array:
    return (up + down + left + right + 2) >> 2


def _mean_along_edge(up: Array, down: Array, left: Array, right: Array) -> Array:
    steep = jnp.abs(left - right) > jnp.abs(up - down)
    return jnp.where(steep, up + down + 1, left + right + 1) >> 1


def _gray(at: At, sites: Sites) -> list[Array]:
    """Computes the luma alone."""
    dtype = at(0, 0).dtype
    # Sums of four 16-bit values times 14-bit weights need all 32 bits.
    up, down, left, right, diagonal, own = _neighbours(at, jnp.int16 if dtype == jnp.uint8 else jnp.uint32)
    rows, columns = sites
    vertical, horizontal, four, diagonal, own = (
        value.astype(jnp.uint32)
        for value in (up + down, left + right, up + down + left + right, diagonal, own)
    )
    beside, across = (jnp.where(lines, _RED, _BLUE).astype(jnp.uint32) for lines in (rows, ~rows))
    # Luma in units of 2^-16 for red and blue pixels, and of 2^-15 for green pixels.
    other = 4 * own * beside + four * _GREEN + diagonal * (_RED + _BLUE - beside)
    green = horizontal * beside + vertical * across + 2 * own * _GREEN
    gray = jnp.where(rows == columns, (other + (1 << 15)) >> 16, (green + (1 << 14)) >> 15)
    return [gray.astype(dtype)]


def _neighbours(at: At, dtype: Any) -> tuple[Array, ...]:
    """Reads, for each pixel, the pixels above, below, left and right, the sum of its diagonal neighbours, and itself."""

    def value(y: int, x: int) -> Array:
        return at(y, x).astype(dtype)

    diagonal = value(-1, -1) + value(-1, 1) + value(1, -1) + value(1, 1)
    return value(-1, 0), value(1, 0), value(0, -1), value(0, 1), diagonal, value(0, 0)


_COLOURS: dict[str, Colours] = {
    "bilinear_ocv": functools.partial(_rgb, _mean),
    "edgeaware_ocv": functools.partial(_rgb, _mean_along_edge),
    "gray_ocv": _gray,
}


def _by_gradients(keep: Keep, wide: Array, red: Array, size: Array, first: Array, count: int) -> Array:
    """Interpolates by variable numbers of gradients. `wide` is the image with a margin of two columns on both sides."""
    rows = first + jnp.arange(-2, count + 2, dtype=jnp.int32)
    values = _lines(wide, reflect_101(rows, size[0])).astype(jnp.int16)
    sites = keep(_sites(rows[2:-2], jnp.arange(wide.shape[1] - 4, dtype=jnp.int32), red))
    return unpacked(packed(by_gradients(values, sites, size[1], keep)), 3)
