from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec, size_text
from jdali._errors import check_samples
from jdali._kernels.border import with_margin
from jdali._kernels.by_platform import Keep, by_platform, kept, loop, rows_of_block
from jdali._kernels.fit import fit
from jdali._kernels.packed_pixels import channels_of, packed, unpacked_channels
from jdali._numerics.platform import one_program
from jdali._numerics.rounding import varying_like
from jdali._operators.record import PerSample, operator
from jdali._system.jax_modes import usual_modes

T = TypeVar("T")

_NAME = "jpeg_compression_distortion"
_BLOCK = 8
# Side of a unit, pixels. A unit is the area of one block of chroma, which has half the resolution.
_UNIT = 2 * _BLOCK

# Quantization tables of ITU-T T.81, annex K.1, for quality 50.
_LUMA_TABLE = np.array(
    [
        [16, 11, 10, 16, 24, 40, 51, 61],
        [12, 12, 14, 19, 26, 58, 60, 55],
        [14, 13, 16, 24, 40, 57, 69, 56],
        [14, 17, 22, 29, 51, 87, 80, 62],
        [18, 22, 37, 56, 68, 109, 103, 77],
        [24, 35, 55, 64, 81, 104, 113, 92],
        [49, 64, 78, 87, 103, 121, 120, 101],
        [72, 92, 95, 98, 112, 100, 103, 99],
    ],
    np.int32,
)
_CHROMA_TABLE = np.full((_BLOCK, _BLOCK), 99, np.int32)
_CHROMA_TABLE[:4, :4] = [[17, 18, 24, 47], [18, 21, 26, 66], [24, 26, 56, 99], [47, 66, 99, 99]]

# The 8-point DCT of libjpeg's accurate integer method as a matrix. Row k is a frequency, column n a value. Weights are
# √2 · cos((2n + 1)kπ / 16), or 1 for k = 0, in units of 2^-13. Some differ by 1 from the nearest integer, because libjpeg
# computes them as sums of rounded constants. `_HALF_DCT` has the first four columns. The last four columns are the same
# in reverse order, with the opposite sign for odd k. The matrix of the inverse DCT is the transpose.
_DCT_BITS = 13
_HALF_DCT = np.array(
    [
        [8192, 8192, 8192, 8192],
        [11363, 9633, 6437, 2260],
        [10703, 4433, -4433, -10703],
        [9633, -2259, -11362, -6436],
        [8192, -8192, -8192, 8192],
        [6437, -11362, 2261, 9633],
        [4433, -10704, 10704, -4433],
        [2260, -6436, 9633, -11363],
    ],
    np.int32,
)
_DCT = np.concatenate([_HALF_DCT, _HALF_DCT[:, ::-1] * np.array([1, -1] * 4, np.int32)[:, None]], axis=1)
_GUARD_BITS = 2  # additional fractional bits between the two passes of the DCT
_INVERSE_BITS = 19  # fractional bits of 1 / step, by which accelerators multiply to quantize

# JFIF's colours: BT.601 with full range, in units of 2^-16.
_COLOR_BITS = 16
_TO_YCBCR = ((19595, 38470, 7471), (-11059, -21709, 32768), (32768, -27439, -5329))
_CR_TO_RED, _CB_TO_GREEN, _CR_TO_GREEN, _CB_TO_BLUE = 91881, -22554, -46802, 116130
_GRAY = 128  # chroma of gray, subtracted before the DCT

# Images with at most this number of elements are computed without a loop, because a loop is not worth its compile time.
_SMALL = 1 << 13
# Number of units that are coded in one strip, and of pixels that are converted to RGB in one strip. Intermediates of a strip
# stay in the cache.
_UNITS, _PIXELS = 96, 1 << 15


def setup(images: BatchSpec, *, quality: np.ndarray | None = None) -> BatchSpec:
    if images.dtype not in (np.uint8, np.float32):
        raise ValueError(f"{_NAME}: images are {images.dtype}, they must be uint8 or float32; cast them")
    wrong = images.extents[:, -1] != 3
    check_samples(
        wrong,
        lambda i: (
            f"{_NAME}: Invalid number of channels. Expected a channel-last layout, with 3 channels (RGB), got shape: "
            f"{size_text(images.extents[i])}"
        ),
    )
    return images


@operator(
    setup=setup, layouts=("HWC",), source="operators/image/distortion/jpeg_compression_distortion_op_cpu.cc"
)
def jpeg_compression_distortion(
    image: Array, /, *, quality: PerSample[int] = 50, extent: Array, out_shape: tuple[int, ...]
) -> Array:
    """Adds the artifacts of JPEG compression to images, without encoding them.

    Lossy steps are computed with libjpeg's integer arithmetic: conversion to YCbCr, averaging of chroma over 2×2
    pixels, DCT of 8×8 blocks, quantization, and back, with smooth upsampling of chroma. Lossless steps are left out.

    For float32 images, derivatives are computed as if chroma were only averaged and upsampled, without any rounding.

    Parity: DALI takes uint8 only.

    Args:
        image: HWC with the channels R, G and B, or sequences of these; uint8, or float32 from 0 to 255, which is first
            rounded half to even and clamped.
        quality: JPEG quality from 1, the worst, to 100; other values are clamped. The quality scales the quantization
            tables as in libjpeg.

    Returns: shape, type and layout of the image.

    Example:
        images = fn.jpeg_compression_distortion(images, quality=5)
        images = fn.jpeg_compression_distortion(images, quality=30)
    """
    if not image.size:
        return jnp.zeros(out_shape, image.dtype)
    distorted = _distorted if image.dtype == jnp.uint8 else _of_reals
    return fit(distorted(image, jnp.asarray(quality), extent), out_shape)


@jax.custom_jvp
def _of_reals(image: Array, quality: Array, extent: Array) -> Array:
    whole = jnp.clip(jnp.rint(image), 0, 255).astype(jnp.uint8)
    return _distorted(whole, quality, extent).astype(image.dtype)


@_of_reals.defjvp
@usual_modes()
def _(primals: tuple[Array, Array, Array], tangents: tuple[Array, object, object]) -> tuple[Array, Array]:
    image, _, extent = primals
    luma, small, *chroma = _planes(tangents[0], extent)
    blue, red = (_upsampled(_downsampled(part, small), small) for part in chroma)
    height, width, _ = image.shape
    return _of_reals(*primals), jnp.stack(_to_rgb(luma, blue, red), axis=-1)[:height, :width]


@one_program()
def _distorted(image: Array, quality: Array, extent: Array) -> Array:
    return (_whole if image.size <= _SMALL else by_platform(_in_strips, _whole))(image, quality, extent)


def _whole(image: Array, quality: Array, extent: Array) -> Array:
    """Codes and decodes a whole image at once. Planes are stored as uint8, because memory limits the speed."""

    def written(part: Array) -> Array:
        result: Array = lax.optimization_barrier(part)
        return result

    height, width, _ = image.shape
    luma, small, *chroma = _planes(image.astype(jnp.int32), extent)
    luma, *chroma = (written(part.astype(jnp.uint8)) for part in (luma, *chroma))
    halves = (_downsampled(part.astype(jnp.int32), small) for part in chroma)
    parts = luma, *(written(part.astype(jnp.uint8)) for part in halves)
    luma, *chroma = (written(part) for part in _coded(parts, quality))
    blue, red = (written(_upsampled(part.astype(jnp.int32), small).astype(jnp.uint8)) for part in chroma)
    colors = _to_rgb(luma.astype(jnp.int32), *(part.astype(jnp.int32) - _GRAY for part in (blue, red)))
    return jnp.clip(jnp.stack(colors, axis=-1), 0, 255).astype(jnp.uint8)[:height, :width]


# The functions from here to `_upsampled` round int32 values as libjpeg does. They also take float32 tangents, which they do
# not round.
def _shifted(total: Array, bits: int, bias: Any) -> Array:
    """Divides by 2^bits. For integers, adds `bias` first, and rounds the result down."""
    if jnp.issubdtype(total.dtype, jnp.floating):
        return total / (1 << bits)
    return (total + bias) >> bits


def _planes(image: Array, extent: Array) -> tuple[Array, Array, Array, Array]:
    """Returns luma, the true size of chroma after averaging, and Cb and Cr before averaging."""
    luma, blue, red = _to_ycbcr(channels_of(_extended(image, extent)))
    return luma, (extent[:2] + 1) // 2, blue, red


def _extended(image: Array, extent: Array) -> Array:
    """Extends the image to whole units by repeating its last pixels."""
    height, width, channels = image.shape
    tall, wide = -(-height // _UNIT) * _UNIT, -(-width // _UNIT) * _UNIT
    values = image.reshape(height, width * channels)
    values = with_margin(values, 0, extent[0], (0, _UNIT - 1), "clamp")[:tall]
    values = with_margin(values, 1, extent[1], (0, _UNIT - 1), "clamp", unit=channels)[:, : wide * channels]
    return values.reshape(tall, wide, channels)


def _scaled(table: np.ndarray, quality: Array) -> Array:
    """Scales the quantization table, int32 [8, 8], to a quality."""
    quality = jnp.clip(quality, 1, 100).astype(jnp.int32)
    percent = jnp.where(quality < 50, 5000 // quality, 200 - 2 * quality)
    return jnp.clip((table * percent + 50) // 100, 1, 255)


def _to_ycbcr(colors: Sequence[Array]) -> list[Array]:
    """Computes Y, Cb and Cr, [H, W]; integers from 0 to 255."""
    half = 1 << (_COLOR_BITS - 1)
    gray = (_GRAY << _COLOR_BITS) - 1  # without the -1, the largest chroma, 255.5, would be rounded to 256
    totals = [
        sum((w * v for w, v in zip(weights, colors, strict=True)), start=jnp.zeros((), colors[0].dtype))
        for weights in _TO_YCBCR
    ]
    return [
        _shifted(total, _COLOR_BITS, half + offset)
        for total, offset in zip(totals, (0, gray, gray), strict=True)
    ]


def _to_rgb(luma: Array, blue: Array, red: Array) -> list[Array]:
    """Computes R, G and B, [H, W], which may be outside of 0 to 255. `blue` and `red` are 0 for gray."""
    half = 1 << (_COLOR_BITS - 1)
    parts = (_CR_TO_RED * red, _CB_TO_GREEN * blue + _CR_TO_GREEN * red, _CB_TO_BLUE * blue)
    return [luma + _shifted(part, _COLOR_BITS, half) for part in parts]


def _downsampled(part: Array, size: Array) -> Array:
    """Averages 2×2 pixels; in a row, halves are rounded down and up in turn. Rows past `size` repeat the last row."""
    rows = part[::2] + part[1::2]
    bias = 1 + jnp.arange(rows.shape[1] // 2, dtype=jnp.int32) % 2
    means = _shifted(rows[:, ::2] + rows[:, 1::2], 2, bias)
    return with_margin(means, 0, size[0], (0, _BLOCK - 1), "clamp")[: means.shape[0]]


def _upsampled(part: Array, size: Array) -> Array:
    """Doubles the size along both axes as libjpeg does, with the weights 3/4 for the nearer pixel and 1/4 for the farther one."""
    height, width = part.shape
    padded = with_margin(part, 0, size[0], (1, 1), "clamp")
    near = 3 * padded[1:-1]
    rows = jnp.stack([near + padded[:-2], near + padded[2:]], axis=1).reshape(2 * height, width)
    padded = with_margin(rows, 1, size[1], (1, 1), "clamp")
    near = 3 * padded[:, 1:-1]
    smooth = jnp.stack([_shifted(near + padded[:, :-2], 4, 8), _shifted(near + padded[:, 2:], 4, 7)], axis=2)
    # libjpeg repeats pixels if rows have at most two.
    plain = jnp.repeat(part, 2, axis=0)[..., None]
    return jnp.where(size[1] > 2, smooth, plain).reshape(2 * height, 2 * width)


# --- all blocks at once -----------------------------------------------------------------------------
def _coded(parts: Sequence[Array], quality: Array) -> Iterator[Array]:
    """Applies DCT, quantization and inverse DCT to luma and chroma, uint8 [H, W] whose sides are multiples of 8.

    The blocks of all planes are coded together, so that this large program is compiled once, not once per plane.
    """
    blocks = [_blocks(part, _BLOCK) for part in parts]
    ends = np.cumsum([block.shape[2] for block in blocks])
    tables = [_scaled(table, quality)[:, :, None] for table in (_LUMA_TABLE, _CHROMA_TABLE)]
    inverses = [((1 << _INVERSE_BITS) + table - 1) // table for table in tables]
    # The barrier stores the joined planes. Without it, XLA would select a value's plane whenever the value is read.
    together = lax.optimization_barrier(jnp.concatenate(blocks, axis=2))
    is_luma = jnp.arange(ends[-1], dtype=jnp.int32) < ends[0]
    pairs = lax.optimization_barrier((tables, inverses))
    step, inverse = (jnp.where(is_luma, of_luma, of_chroma) for of_luma, of_chroma in pairs)
    result = jnp.split(_at_once(together, step, inverse), ends[:-1], axis=2)
    return (_plane(part, like.shape) for part, like in zip(result, parts, strict=True))


def _steps(quality: Array, lumas: int, count: int) -> Array:
    """Returns the quantization steps of `count` blocks, int32 [8, 8, count]. The first `lumas` blocks are luma."""
    luma, chroma = (_scaled(table, quality)[:, :, None] for table in (_LUMA_TABLE, _CHROMA_TABLE))
    return jnp.where(jnp.arange(count, dtype=jnp.int32) < lumas, luma, chroma)


def _at_once(blocks: Array, step: Array, inverse: Array) -> Array:
    """Codes all blocks, uint8 [8, 8, n]; `inverse` is 2^19 / step, rounded up.

    Between passes, values are int16, because int32 takes twice the memory.
    """

    def written(values: Array) -> Array:
        return lax.optimization_barrier(values.astype(jnp.int16)).astype(jnp.int32)

    values = blocks.astype(jnp.int32) - _GRAY
    values = written(_matrix_pass(_DCT, values, 1, _DCT_BITS - _GUARD_BITS))
    values = _matrix_pass(_DCT, values, 0, _DCT_BITS + _GUARD_BITS)
    # Like `_quantized`. n = (|value| + 4 * step) >> 3 is below 2^11, so n // step equals n * inverse >> 19.
    multiple = (((jnp.abs(values) + 4 * step) >> 3) * inverse >> _INVERSE_BITS) * step
    values = written(jnp.where(values < 0, -multiple, multiple))
    values = written(_matrix_pass(_DCT.T, values, 0, _DCT_BITS - _GUARD_BITS))
    values = _matrix_pass(_DCT.T, values, 1, _DCT_BITS + _GUARD_BITS + 3)
    return jnp.clip(values + _GRAY, 0, 255).astype(jnp.uint8)


def _matrix_pass(matrix: np.ndarray, values: Array, axis: int, bits: int) -> Array:
    """Multiplies by a DCT matrix along an axis, and divides by 2^bits, rounding halves up."""
    total = jnp.zeros((), jnp.int32)
    for n, column in enumerate(matrix.T):
        factors = jnp.asarray(np.expand_dims(column, (1 - axis, 2)))
        total = total + factors * lax.slice_in_dim(values, n, n + 1, axis=axis)
    return (total + (1 << (bits - 1))) >> bits


def _blocks(part: Array, size: int) -> Array:
    """Cuts [H, W] into [size, size, blocks]."""
    height, width = part.shape
    apart = part.reshape(height // size, size, width // size, size)
    return apart.transpose(1, 3, 0, 2).reshape(size, size, -1)


def _plane(blocks: Array, shape: tuple[int, ...]) -> Array:
    """Joins [8, 8, blocks] to [H, W]."""
    height, width = shape
    apart = blocks.reshape(_BLOCK, _BLOCK, height // _BLOCK, width // _BLOCK)
    return apart.transpose(2, 0, 3, 1).reshape(height, width)


def _quantized(values: Array, step: Array) -> Array:
    """Rounds values of libjpeg's DCT, which are scaled by 8, to multiples of `step`, half away from zero: int32.

    This is for a CPU, which has no vector instruction for integer division. Adding 1/2 to the dividend makes sure that
    no quotient is a whole number, so float32 errors do not change the floor.
    """
    real, size = values.astype(jnp.float32), step.astype(jnp.float32)
    quotients = jnp.floor((jnp.abs(real) + (4 * size + 0.5)) / (_BLOCK * size))
    return (jnp.copysign(quotients, real) * size).astype(jnp.int32)


# --- on a CPU: strips of units, which stay in the cache ---------------------------------------------
def _in_strips(image: Array, quality: Array, extent: Array) -> Array:
    """Codes the image strip by strip to uint8 planes, then converts the planes to RGB strip by strip."""
    height, width, _ = image.shape
    down, across = -(-height // _UNIT), -(-width // _UNIT)
    once = jnp.minimum(extent[0], 1)
    small = (extent[:2] + 1) // 2
    lines = (extent[0] + _UNIT - 1) // _UNIT

    def keep(values: T) -> T:
        return kept(values, once)

    def in_strips(count: int, make: Callable[[Array, T], T], start: T) -> T:
        """Calls `make` for each strip of `count` lines of units, with the index of the strip's first line."""
        result: T = loop(
            (lines + count - 1) // count,
            lambda i, state: make(jnp.minimum(i * count, down - count), state),
            start,
        )
        return result

    # For each plane: number of rows in a line of units, and number of columns. Chroma has a further column on both sides.
    sizes = (2 * _BLOCK, 2 * across * _BLOCK), *[(_BLOCK, across * _BLOCK + 2)] * 2
    count = rows_of_block((down, across), _UNITS)
    step = _steps(quality, 4 * count * across, 6 * count * across)

    def code(first: Array, planes: list[Array]) -> list[Array]:
        parts = _coded_strip(image, extent, first, count, step, keep)
        return [
            lax.dynamic_update_slice(plane, part, (first * size[0], jnp.int32(column)))
            for plane, part, size, column in zip(planes, parts, sizes, (0, 1, 1), strict=True)
        ]

    planes = [jnp.zeros((down * rows, columns), jnp.uint8) for rows, columns in sizes]
    luma, *chroma = in_strips(count, code, varying_like(planes, image, quality, extent))
    for outer, inner in ((jnp.int32(0), jnp.int32(1)), (small[1] + 1, small[1])):
        ends = (lax.dynamic_slice_in_dim(part, inner, 1, axis=1) for part in chroma)
        chroma = [
            lax.dynamic_update_slice_in_dim(part, end, outer, axis=1)
            for part, end in zip(chroma, ends, strict=True)
        ]
    count = rows_of_block((down, across), _PIXELS // _UNIT**2)

    def colour(first: Array, result: Array) -> Array:
        own = lax.dynamic_slice_in_dim(luma, first * _UNIT, count * _UNIT)
        strips = [_upsampled_strip(part, small, first * _BLOCK, count * _BLOCK, keep) for part in chroma]
        pixels = []
        for side, (blue, red) in enumerate(zip(*strips, strict=True)):  # even, then odd columns
            colours = _to_rgb(own[:, side::2].astype(jnp.int32), blue - _GRAY, red - _GRAY)
            pixels += unpacked_channels(keep(packed([jnp.clip(value, 0, 255) for value in colours])), 3)
        made = jnp.stack(pixels, axis=-1).astype(jnp.uint8)
        return lax.dynamic_update_slice_in_dim(result, made, first * _UNIT, 0)

    result = jnp.zeros((down * _UNIT, across * _BLOCK, 6), jnp.uint8)
    result = in_strips(count, colour, varying_like(result, image, quality, extent))
    return result.reshape(down * _UNIT, across * _UNIT, 3)[:height, :width]


def _coded_strip(
    image: Array, extent: Array, first: Array, count: int, step: Array, keep: Keep
) -> list[Array]:
    """Codes `count` lines of units, from the line `first` on; returns luma and chroma of these lines, uint8 [H, W] each."""
    width = image.shape[1]
    wide = -(-width // _UNIT) * _UNIT
    rows = first * _UNIT + jnp.arange(count * _UNIT, dtype=jnp.int32)
    own = keep(image.at[jnp.minimum(rows, extent[0] - 1)].get(mode="promise_in_bounds"))
    words = jnp.pad(packed(channels_of(own)), ((0, 0), (0, wide - width)))
    last = packed(channels_of(lax.dynamic_slice_in_dim(own, extent[1] - 1, 1, axis=1)))
    words = keep(jnp.where(jnp.arange(wide, dtype=jnp.int32) < extent[1], words, last))
    luma, *chroma = keep([part.astype(jnp.uint8) for part in _to_ycbcr(unpacked_channels(words, 3))])
    # libjpeg repeats the last averaged row of chroma. This equals repeating the last pair of rows before averaging.
    pair = (extent[0] - 1) // 2 * 2 + rows % 2
    rows = jnp.clip(jnp.where(rows < extent[0], rows, pair) - first * _UNIT, 0, len(rows) - 1)
    chroma = [part.at[rows].get(mode="promise_in_bounds") for part in chroma]
    units = keep([_blocks(part, _UNIT) for part in (luma, *chroma)])
    halves = slice(0, _BLOCK), slice(_BLOCK, _UNIT)
    blocks = [units[0][y, x] for y in halves for x in halves]
    blocks += [_averaged(part.astype(jnp.int16)) for part in units[1:]]
    values = keep(jnp.concatenate([part.astype(jnp.int16) for part in blocks], axis=2) - jnp.int16(_GRAY))
    values = keep(_pass(_to_frequencies, values, 1, _DCT_BITS - _GUARD_BITS))
    values = keep(_pass(_to_frequencies, values, 0, _DCT_BITS + _GUARD_BITS))
    values = keep(_quantized(values, step).astype(jnp.int16))
    values = keep(_pass(_from_frequencies, values, 0, _DCT_BITS - _GUARD_BITS))
    values = _pass(_from_frequencies, values, 1, _DCT_BITS + _GUARD_BITS + 3)
    bytes_ = keep(jnp.clip(values + jnp.int16(_GRAY), 0, 255).astype(jnp.uint8))
    n = units[0].shape[2]
    parts = jnp.split(bytes_, [4 * n, 5 * n], axis=2)
    return [_joined(part, count, side, keep) for part, side in zip(parts, (2, 1, 1), strict=True)]


def _averaged(units: Array) -> Array:
    """Averages 2×2 pixels of int16 [16, 16, n] like `_downsampled`."""
    rows = units[::2] + units[1::2]
    bias = 1 + jnp.arange(_BLOCK, dtype=jnp.int16)[:, None] % 2
    return (rows[:, ::2] + rows[:, 1::2] + bias) >> 2


def _joined(blocks: Array, count: int, side: int, keep: Keep) -> Array:
    """Joins [8, 8, blocks] to `count` lines of units, moving four bytes at a time.

    A unit has side × side blocks. The blocks are in the order [side, side, count, units].
    """
    words = jnp.stack([packed([blocks[:, x + n] for n in range(4)]) for x in (0, 4)], axis=1)
    apart = keep(words.reshape(_BLOCK, 2, side, side, count, -1)).transpose(4, 2, 0, 5, 3, 1)
    return lax.bitcast_convert_type(apart, jnp.uint8).reshape(count * side * _BLOCK, -1)


def _pass(transform: Callable[[Sequence[Array]], list[Array]], values: Array, axis: int, bits: int) -> Array:
    """Transforms the 8 int16 values along an axis, and divides by 2^bits, rounding halves up."""
    totals = transform([lax.index_in_dim(values, n, axis, keepdims=False) for n in range(_BLOCK)])
    return jnp.stack([((total + (1 << (bits - 1))) >> bits).astype(jnp.int16) for total in totals], axis)


# Sums of two or four values are computed before the products, because they still fit into 16 bits, and LLVM has a fast
# product of 16-bit values.
def _to_frequencies(values: Sequence[Array]) -> list[Array]:
    pairs = list(zip(values[:4], values[:3:-1], strict=True))
    sums, odd = [a + b for a, b in pairs], [a - b for a, b in pairs]
    even = sums[0] + sums[3], sums[1] + sums[2]
    outer = sums[0] - sums[3], sums[1] - sums[2]
    return [
        _weighted_sum(_HALF_DCT[k, : len(terms)], terms)
        for k, terms in enumerate((even, odd, outer, odd, even, odd, outer, odd))
    ]


def _from_frequencies(values: Sequence[Array]) -> list[Array]:
    outer = [_weighted_sum(_HALF_DCT[::4, n], values[::4]) for n in (0, 1)]
    inner = [_weighted_sum(_HALF_DCT[2::4, n], values[2::4]) for n in (0, 1)]
    both = list(zip(outer, inner, strict=True))
    even = [a + b for a, b in both] + [a - b for a, b in reversed(both)]
    odd = [_weighted_sum(_HALF_DCT[1::2, n], values[1::2]) for n in range(4)]
    pairs = list(zip(even, odd, strict=True))
    return [a + b for a, b in pairs] + [a - b for a, b in reversed(pairs)]


def _weighted_sum(weights: np.ndarray, values: Sequence[Array]) -> Array:
    first, *rest = (int(w) * v.astype(jnp.int32) for w, v in zip(weights, values, strict=True))
    return sum(rest, start=first)


def _upsampled_strip(part: Array, size: Array, first: Array, count: int, keep: Keep) -> list[Array]:
    """Upsamples `count` rows of uint8 [H, W + 2], from row `first` on, as `_upsampled` does.

    Returns: even and odd columns of the result, int32 [2 count, W] each.
    """
    far = jnp.where(size[1] > 2, 1, 0)  # offset of the farther pixel; 0 repeats the pixel itself
    own = first + jnp.arange(count, dtype=jnp.int32)

    def line(offset: Array | int) -> Array:
        rows = jnp.clip(own + offset, 0, size[0] - 1)
        return part.at[rows].get(mode="promise_in_bounds").astype(jnp.int16)

    rows = keep(jnp.stack([3 * line(0) + line(offset) for offset in (-far, far)], axis=1))
    rows = rows.reshape(2 * count, -1)
    near = rows[:, 1:-1]

    def column(offset: Array, bias: int) -> Array:
        other = lax.dynamic_slice(rows, (jnp.int32(0), 1 + offset), near.shape)
        return ((3 * near + other + jnp.int16(bias)) >> 4).astype(jnp.int32)

    return [column(-far, 8), column(far, 7)]
