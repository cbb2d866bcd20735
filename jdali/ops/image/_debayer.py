"""Debayer: colour pictures of what a sensor behind a Bayer filter gave."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches.extent import BatchSpec, Plan
from jdali._errors import check_samples
from jdali._operators.record import PerFrame, PerSample, Static, operator
from jdali.ops.image._border import with_margin
from jdali.ops.image._debayer_vng import SMALLEST, by_gradients
from jdali.ops.tensor._fit import fit

_ALGORITHMS = ("bilinear_ocv", "edgeaware_ocv", "vng_ocv", "gray_ocv")
# Luma weights 0.299, 0.587, 0.114 of red, green and blue in units of 2^-14, as in OpenCV.
_RED, _GREEN, _BLUE = 4899, 9617, 1868


# --- setup --------------------------------------------------------------------------------------
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
        raise ValueError(f"debayer: images are {images.dtype}, they must be uint8 or uint16; cast them")
    if algorithm == "vng_ocv" and images.dtype != np.uint8:
        raise ValueError(f"debayer: images are {images.dtype}, vng_ocv takes uint8 only; cast them")
    if blue_position.shape[1:] not in ((), (1,), (2,)):
        raise ValueError(f"debayer: blue_position must have 2 values, y and x, got {blue_position.shape[1:]}")
    blue = np.broadcast_to(blue_position.reshape(len(blue_position), -1), (len(blue_position), 2))
    _refuse(
        (blue < 0) | (blue > 1),
        "The `blue_position` position must lie within 2x2 tile, got:",
        blue,
        "blue_position",
    )
    sizes, channels = images.extents[:, :2], images.extents[:, 2:]
    _refuse(
        sizes % 2 == 1,
        "The height and width of the image to debayer must be even. However, a sample has",
        sizes,
    )
    _refuse(
        channels != 1,
        "The debayer operator expects grayscale (i.e. single channel) images, got channels:",
        channels,
    )
    colours = np.full((len(sizes), 1), 1 if algorithm == "gray_ocv" else 3, sizes.dtype)
    output = BatchSpec(np.concatenate([sizes, colours], axis=1), images.dtype, "HWC")
    return Plan((output,), params={"_red": blue.astype(np.int32)}, static={"_algorithm": algorithm})


def _refuse(wrong: np.ndarray, message: str, values: np.ndarray, argument: str | None = None) -> None:
    def text(sample: int) -> str:
        return f"debayer: {message} {' x '.join(map(str, values[sample].tolist()))}"

    check_samples(wrong.any(axis=1), text, argument=argument)


# --- run ----------------------------------------------------------------------------------------
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
    """Works out the colours that a sensor behind a Bayer filter did not see, from the pixels around.

    A pixel has one colour of the filter's tile of 2 x 2 pixels: red, blue, or one of two greens. Algorithms:

    * "bilinear_ocv": the mean of the 2 or 4 nearest pixels of a colour, halves up.
    * "edgeaware_ocv": the same, but green along the direction in which it changes less.
    * "vng_ocv": differences to the own colour, averaged over those of 8 directions in which the picture changes
      little (variable number of gradients). Pictures of less than 8 pixels along an axis are made by "bilinear_ocv".
    * "gray_ocv": 0.299 R + 0.587 G + 0.114 B, of "bilinear_ocv", rounded once.

    But for "vng_ocv", which mirrors the picture, pixels on the border get the colours of those next to them. Pictures
    of 2 pixels along an axis, which have nothing but borders, become 0.

    Args:
        image: one channel, of even height and width: HW, HWC, or sequences of these; uint8 or uint16, uint8 for
            "vng_ocv".
        blue_position: (y, x) of the blue pixel in the tile, 0 or 1, counted from the second row and the second
            column of the picture, as OpenCV does: (0, 0) is BG/GR there, and so red in the corner of the picture.
            One value stands for both.
        algorithm: one of the above, in upper or lower case.

    Returns: HWC, or FHWC, of the image's type: RGB, or one channel for "gray_ocv".

    Parity: bit for bit. "default_npp" is for DALI's GPU kernel only.
    """
    assert _red is not None
    flat = image[:, :, 0] if image.ndim == 3 else image
    return fit(_ALGORITHM[_algorithm](flat, jnp.asarray(_red), extent[:2]), out_shape)


Sites = tuple[Array, Array]


def _sites(shape: tuple[int, ...], red: Array) -> Sites:
    """Rows [H, 1] and columns [1, W] that hold red pixels; the others hold blue ones."""
    rows, columns = ((jnp.arange(n, dtype=jnp.int32) - red[axis]) % 2 == 0 for axis, n in enumerate(shape))
    return rows[:, None], columns[None]


@functools.partial(jax.jit, static_argnums=0)  # one program also for eager callers
def _interpolated(green: Callable[..., Array], image: Array, red: Array, size: Array) -> Array:
    """[H, W, 3] of [H, W]; `green` of pixels of another colour, of the four pixels beside them."""
    if min(image.shape) < 3:
        return jnp.zeros((*image.shape, 3), image.dtype)
    up, down, left, right, diagonal, own = _neighbours(image)
    rows, columns = _sites(image.shape, red)
    across, along, corners = (left + right + 1) >> 1, (up + down + 1) >> 1, (diagonal + 2) >> 2

    def colour(rows: Array, columns: Array) -> Array:
        return jnp.where(rows, jnp.where(columns, own, across), jnp.where(columns, along, corners))

    greens = jnp.where(rows == columns, green(up, down, left, right), own)
    colours = jnp.stack([colour(rows, columns), greens, colour(~rows, ~columns)], axis=-1)
    return _border_repeated(colours.astype(image.dtype), size)


def _mean(up: Array, down: Array, left: Array, right: Array) -> Array:
    return (up + down + left + right + 2) >> 2


def _mean_along_edge(up: Array, down: Array, left: Array, right: Array) -> Array:
    steep = jnp.abs(left - right) > jnp.abs(up - down)
    return jnp.where(steep, up + down + 1, left + right + 1) >> 1


@jax.jit
def _gray(image: Array, red: Array, size: Array) -> Array:
    """[H, W, 1] of [H, W]."""
    if min(image.shape) < 3:
        return jnp.zeros((*image.shape, 1), image.dtype)
    # Sums of 16 bits times weights of 14 bits times 4 fill all of 32 bits.
    up, down, left, right, diagonal, own = (value.astype(jnp.uint32) for value in _neighbours(image))
    rows, columns = _sites(image.shape, red)
    beside, across = (jnp.where(lines, _RED, _BLUE).astype(jnp.uint32) for lines in (rows, ~rows))
    both = _RED + _BLUE
    other = 4 * own * beside + (up + down + left + right) * _GREEN + diagonal * (both - beside)
    green = (left + right) * beside + (up + down) * across + 2 * own * _GREEN
    gray = jnp.where(rows == columns, (other + (1 << 15)) >> 16, (green + (1 << 14)) >> 15)
    return _border_repeated(gray[:, :, None].astype(image.dtype), size)


def _neighbours(image: Array) -> tuple[Array, ...]:
    """The pixels above, below, left and right of each, the sum of those at its corners, and itself, as integers."""
    height, width = image.shape
    wide = jnp.pad(image.astype(jnp.int16 if image.dtype == jnp.uint8 else jnp.int32), 1)

    def at(y: int, x: int) -> Array:
        return wide[1 + y : 1 + y + height, 1 + x : 1 + x + width]

    diagonal = at(-1, -1) + at(-1, 1) + at(1, -1) + at(1, 1)
    return at(-1, 0), at(1, 0), at(0, -1), at(0, 1), diagonal, at(0, 0)


def _border_repeated(values: Array, size: Array) -> Array:
    """[H, W, C] whose outermost pixels are those next to them; 0 where there are no others."""
    for axis in (0, 1):
        count = values.shape[axis]
        place = jnp.arange(count, dtype=jnp.int32).reshape([count if a == axis else 1 for a in range(3)])
        before, after = jnp.roll(values, 1, axis), jnp.roll(values, -1, axis)
        values = jnp.where(place == 0, after, jnp.where(place == size[axis] - 1, before, values))
    return jnp.where((size > 2).all(), values, 0)


@jax.jit
def _gradients(image: Array, red: Array, size: Array) -> Array:
    """[H, W, 3] of [H, W], by variable numbers of gradients."""
    bilinear = _interpolated(_mean, image, red, size)
    if min(image.shape) < SMALLEST:
        return bilinear
    values = image.astype(jnp.int16)
    for axis in (0, 1):
        values = with_margin(values, axis, size[axis], (2, 2), "reflect_101")
    colours = by_gradients(values, _sites(image.shape, red), size[1])
    return jnp.where((size >= SMALLEST).all(), colours, bilinear)


_ALGORITHM: dict[str, Callable[..., Array]] = {
    "bilinear_ocv": functools.partial(_interpolated, _mean),
    "edgeaware_ocv": functools.partial(_interpolated, _mean_along_edge),
    "vng_ocv": _gradients,
    "gray_ocv": _gray,
}
