"""Converts 8-bit RGB to 8-bit CIE L*a*b* and back, bit for bit as OpenCV does in integers.

L is scaled to 0 to 255, and 128 is added to a and b. RGB is gamma-encoded sRGB with white point D65.
"""

from __future__ import annotations

import functools

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._kernels.by_platform import Keep
from jdali._numerics.platform import platform_dependent

# Numbers of fractional bits. `_WEIGHT`: matrix weights. From RGB to Lab, `_LIGHT`: linear light, `_ROOT`: cube roots.
# From Lab to RGB, `_BASE`: X, Y, Z and their cube roots, `_GAMMA`: linear light.
_WEIGHT, _LIGHT, _ROOT, _BASE, _GAMMA = 12, 3, 15, 14, 12
_WHITE = np.array([0.950456, 1, 1.088754])
_RGB_TO_XYZ = np.array(
    [[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]]
)
_XYZ_TO_RGB = np.array(
    [[3.240479, -1.53715, -0.498535], [-0.969256, 1.875991, 0.041556], [0.055648, -0.204043, 1.057311]]
)
# In CIE's formula, a straight line replaces the cube root below (6/29)³.
_KNEE, _SLOPE, _OFFSET = 216 / 24389, 841 / 108, 16 / 116
_LOWEST = -8145  # smallest cube root of X or Z that is looked up


def _unchanged(values: object) -> object:
    return values


def rgb_to_lab(image: Array, keep: Keep = _unchanged) -> tuple[Array, Array, Array]:
    """Converts uint8 [H, W, 3] to L, a, b, int32 [H, W], 0 to 255; for `keep` see `Keep`."""
    light_of, root_of = (jnp.asarray(table) for table in _forward_tables())
    light = keep(
        [light_of.at[image[:, :, c].astype(jnp.int32)].get(mode="promise_in_bounds") for c in range(3)]
    )
    weights = np.rint((1 << _WEIGHT) * _RGB_TO_XYZ / _WHITE[:, None]).astype(np.int32)

    def root(row: np.ndarray) -> Array:
        total = sum(light[c] * row[c] for c in range(3))
        return root_of.at[_narrow(_shifted(total, _WEIGHT))].get(mode="promise_in_bounds")

    x, y, z = keep([root(row) for row in weights])
    one = 1 << _ROOT
    scale, offset = (116 * 255 + 50) // 100, (16 * 255 * one + 50) // 100
    lab = (scale * y - offset, 500 * (x - y) + 128 * one, 200 * (y - z) + 128 * one)
    lightness, a, b = (jnp.clip(_shifted(value, _ROOT), 0, 255) for value in lab)
    return lightness, a, b


def lab_to_rgb(lightness: Array, a: Array, b: Array, keep: Keep = _unchanged) -> list[Array]:
    """Converts L, a, b, int32 [H, W], 0 to 255, to uint8 R, G, B [H, W]; for `keep` see `Keep`."""
    y_of, root_of, xz_of, level_of = (jnp.asarray(table) for table in _backward_tables())
    y, root = keep([table.at[lightness].get(mode="promise_in_bounds") for table in (y_of, root_of)])
    base = 1 << _BASE
    # a / 500 and b / 200 in units of 2^-14, computed as products with the reciprocals.
    x_root = root + ((5 * a * 53687 + (1 << 7)) >> 13) - 128 * base // 500
    z_root = root - (((b * 41943 + (1 << 4)) >> 9) - 128 * base // 200 + 1)
    x, z = keep(
        [xz_of.at[_narrow(value - _LOWEST)].get(mode="promise_in_bounds") for value in (x_root, z_root)]
    )
    weights = np.rint((1 << _WEIGHT) * _XYZ_TO_RGB * _WHITE).astype(np.int32)
    shift = _WEIGHT + _BASE - _GAMMA

    def level(row: np.ndarray) -> Array:
        light = jnp.clip(_shifted(row[0] * x + row[1] * y + row[2] * z, shift), 0, (1 << _GAMMA) - 1)
        return level_of.at[light].get(mode="promise_in_bounds").astype(jnp.uint8)

    return keep([level(row) for row in weights])


def _narrow(index: Array) -> Array:
    """Converts a table index below 2¹⁶ to 16 bits on accelerators, where XLA writes computed indices to memory."""

    def narrow(index: Array) -> Array:
        return lax.optimization_barrier(index.astype(jnp.uint16)).astype(jnp.int32)

    result: Array = platform_dependent(index, cpu=lambda index: index, default=narrow)
    return result


def _shifted(value: Array, bits: int) -> Array:
    return (value + (1 << (bits - 1))) >> bits


@functools.cache
def _forward_tables() -> tuple[np.ndarray, np.ndarray]:
    """Makes two tables: 8-bit level → linear light; linear light → cube root, or CIE's line for small values."""
    level = np.arange(256) / 255
    light = np.where(level <= 0.04045, level / 12.92, ((level + 0.055) / 1.055) ** 2.4)
    amount = np.arange(256 * 3 // 2 << _LIGHT) / (255 << _LIGHT)
    # Roots are rounded to float32 before they are converted to integers.
    root = np.where(amount < _KNEE, amount * _SLOPE + _OFFSET, np.cbrt(amount)).astype(np.float32)
    return _whole(light * (255 << _LIGHT)), _whole(root.astype(np.float64) * (1 << _ROOT))


@functools.cache
def _backward_tables() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Makes the tables from Lab to RGB.

    Returns: four tables: L → Y; L → cube root of Y; cube root of X or Z, minus `_LOWEST` → X or Z; linear light → 8-bit
        level.
    """
    base, lightness = 1 << _BASE, np.arange(256)
    dark = lightness <= 20  # L* below 8
    root = lightness * 100 * base / (255 * 116) + 16 * base / 116
    dark_root = base * (16 / 116 + lightness * 5 / (3 * 17 * 29))
    y = np.where(dark, lightness * base * 20 * 9 / (17 * 29**3), root**3 / base**2)
    value = np.arange(_LOWEST, _LOWEST + base * 9 // 4)
    line = _quotient(value * 108, 841) - base * 16 // 116 * 108 // 841
    cube = _quotient(_quotient(value * value, base) * value, base)
    xz = np.where(value <= base * 6 // 29, line, cube).astype(np.int32)
    light = np.arange(1 << _GAMMA) / (1 << _GAMMA)
    level = np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    return _whole(y), _whole(np.where(dark, dark_root, root)), xz, _whole(np.clip(255 * level, 0, 255))


def _whole(values: np.ndarray) -> np.ndarray:
    return np.rint(values).astype(np.int32)


def _quotient(values: np.ndarray, divisor: int) -> np.ndarray:
    """Divides integers, rounding towards zero."""
    return np.sign(values) * (np.abs(values) // divisor)
