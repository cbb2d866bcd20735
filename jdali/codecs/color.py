"""Converts stored samples to the requested colour space and element type.

Constants and rounding match measured results of DALI's CPU decoders. Each library that they use (libjpeg, libpng,
OpenCV, DALI's own kernels) computes luminance differently.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from jdali._errors import SampleError
from jdali._numerics.rounding import np_round_half_away
from jdali.types import ANY_DATA, BGR, GRAY, INDEX, DALIImageType, YCbCr

DTYPES = tuple(np.dtype(t) for t in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32"))

_RED, _GREEN, _BLUE = 0.299, 0.587, 0.114  # ITU-R BT.601
_LUMINANCE = np.array([_RED, _GREEN, _BLUE], np.float32)
# Studio range: luminance takes 219 of 255 steps, chrominance 112 in each direction.
_LUMA, _CHROMA_B, _CHROMA_R = 219 / 255, 112 / 255 / (1 - _BLUE), 112 / 255 / (1 - _RED)
_YCBCR = np.array(
    [
        [_LUMA * _RED, _LUMA * _GREEN, _LUMA * _BLUE],
        [-_CHROMA_B * _RED, -_CHROMA_B * _GREEN, 112 / 255],
        [112 / 255, -_CHROMA_R * _GREEN, -_CHROMA_R * _BLUE],
    ],
    np.float32,
)


def full_intensity(dtype: np.dtype) -> float:
    """Returns the value of full intensity: the largest value of an integer type, 1 for floats."""
    return 1.0 if dtype.kind == "f" else float(np.iinfo(dtype).max)


def _fixed_point(red: int, green: int, shift: int, rounding: int) -> Callable[[np.ndarray], np.ndarray]:
    weights = (red, green, (1 << shift) - red - green)

    def gray(picture: np.ndarray) -> np.ndarray:
        r, g, b = (picture[..., c].astype(np.uint32) for c in range(3))
        return ((r * weights[0] + g * weights[1] + b * weights[2] + rounding) >> shift).astype(picture.dtype)

    return gray


gray_14bit = _fixed_point(4899, 9617, 14, 1 << 13)  # as OpenCV reads BMP and PNM
gray_15bit = _fixed_point(9798, 19235, 15, 1 << 14)  # as OpenCV's cvtColor
# libpng's png_set_rgb_to_gray truncates 8-bit samples and rounds 16-bit ones.
_gray_png8 = _fixed_point(9797, 19234, 15, 0)
_gray_png16 = _fixed_point(9797, 19234, 15, 1 << 14)


def gray_libpng(picture: np.ndarray) -> np.ndarray:
    return (_gray_png8 if picture.dtype == np.uint8 else _gray_png16)(picture)


def gray_float(picture: np.ndarray) -> np.ndarray:
    value = _weighted(picture)
    if picture.dtype.kind == "f":
        return value
    rounded: np.ndarray = np_round_half_away(value).astype(picture.dtype)
    return rounded


def gray_truncated(picture: np.ndarray) -> np.ndarray:
    """Computes gray in single precision and truncates, as DALI does for CMYK."""
    return _weighted(picture).astype(picture.dtype)


def _weighted(picture: np.ndarray) -> np.ndarray:
    r, g, b = (picture[..., c].astype(np.float32) for c in range(3))
    value: np.ndarray = r * _LUMINANCE[0] + g * _LUMINANCE[1] + b * _LUMINANCE[2]
    return value


def cmyk_to_rgb(picture: np.ndarray, inverted: bool) -> np.ndarray:
    """Converts CMYK [H, W, 4], uint8 or uint16, to RGB [H, W, 3].

    If `inverted`, the largest value means no ink, as in Adobe's files.
    """
    most = np.iinfo(picture.dtype).max
    light: np.ndarray = (picture if inverted else most - picture).astype(
        np.uint16 if most == 255 else np.uint32
    )
    return (light[..., :3] * light[..., 3:] // most).astype(picture.dtype)


def convert(
    picture: np.ndarray, maximum: float, gray: Any, output_type: DALIImageType, dtype: np.dtype
) -> np.ndarray:
    """Converts a stored picture to another colour space and element type.

    Args:
        picture: [H, W, C]; 1 or 2 channels are gray, 3 or more RGB. Further channels are dropped, except
            for ANY_DATA.
        output_type: colour space; INDEX keeps the stored values.
        dtype: one of `DTYPES`; `maximum` (full intensity) becomes the largest value of this type, 1 for floats.

    Returns: [H, W, C], possibly a view of `picture`.
    """
    if output_type == INDEX:
        return as_indices(picture, dtype)
    if output_type == ANY_DATA:
        return rescale(picture, maximum, dtype)
    is_gray = picture.shape[2] < 3
    if is_gray or output_type == GRAY:
        one = picture[..., :1] if is_gray else gray(picture)[..., None]
        if output_type == YCbCr:
            return _ycbcr(np.broadcast_to(one, (*one.shape[:2], 3)), maximum, dtype)
        one = rescale(one, maximum, dtype)
        return one if output_type == GRAY else np.broadcast_to(one, (*one.shape[:2], 3))
    rgb = picture[..., :3]
    if output_type == YCbCr:
        return _ycbcr(rgb, maximum, dtype)
    return rescale(rgb[..., ::-1] if output_type == BGR else rgb, maximum, dtype)


def as_indices(picture: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Converts indices, or stored gray values, to `dtype` without scaling; raises `SampleError` if a value does not fit."""
    indices = picture[..., :1]
    if indices.dtype != dtype and dtype.kind != "f" and indices.size:
        limits = np.iinfo(dtype)
        low, high = indices.min(), indices.max()
        if low < limits.min or high > limits.max:
            raise SampleError(
                f"an index of {low if low < limits.min else high} does not fit into {dtype}; dtype=types.INT32 has room for it"
            )
    return indices.astype(dtype, copy=False)


def _ycbcr(rgb: np.ndarray, maximum: float, dtype: np.dtype) -> np.ndarray:
    limit = full_intensity(dtype)
    # Scales the weights, not the samples, as DALI does, because the last bit of the result depends on this.
    weights = _YCBCR * (np.float32(limit) / np.float32(maximum))
    red, green, blue = (rgb[..., c].astype(np.float32) for c in range(3))
    # The offsets of YCbCr are 16/255 and 128/255 in uint8, but 1/16 and 1/2 of the range in all other types.
    whole = 256.0 if dtype == np.uint8 else limit if dtype.kind == "f" else limit + 1
    bias = np.array([whole / 16, whole / 2, whole / 2], np.float32)
    planes = [red * row[0] + green * row[1] + blue * row[2] + bias[c] for c, row in enumerate(weights)]
    return _saturate(np.stack(planes, axis=-1), dtype)


def rescale(picture: np.ndarray, maximum: float, dtype: np.dtype) -> np.ndarray:
    """Scales samples so that `maximum` becomes the full intensity of `dtype`; rounds half away from zero."""
    if picture.dtype == dtype and maximum == full_intensity(dtype):
        return picture
    if dtype.kind != "f" and picture.dtype.kind == "u" and picture.dtype.itemsize <= 2:
        # A table lookup takes one pass over the picture; rounding and saturating take several.
        return np.take(_rescaled(picture.dtype, maximum, dtype), picture, mode="clip")
    return _rescale(picture, maximum, dtype)


def _rescale(samples: np.ndarray, maximum: float, dtype: np.dtype) -> np.ndarray:
    # Rounds the factor to float32 first, as DALI does; results in 32-bit integers depend on it.
    factor = np.float32(full_intensity(dtype)) / np.float32(maximum)
    return _saturate(np.multiply(samples, factor, dtype=np.float32, casting="same_kind"), dtype)


@functools.lru_cache(maxsize=32)
def _rescaled(source: np.dtype, maximum: float, dtype: np.dtype) -> np.ndarray:
    return _rescale(np.arange(np.iinfo(source).max + 1).astype(source), maximum, dtype)


def _saturate(value: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Converts float32 to `dtype`: rounds half away from zero, saturates; NaN becomes 0."""
    if dtype.kind == "f":
        return value.astype(dtype, copy=False)
    limits = np.iinfo(dtype)
    # Clips in float64, because float32 cannot represent the limits of 32-bit types.
    rounded = np_round_half_away(np.nan_to_num(value)).astype(np.float64)
    return np.clip(rounded, limits.min, limits.max).astype(dtype)
