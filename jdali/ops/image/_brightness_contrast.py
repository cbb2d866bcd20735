"""brightness_contrast, brightness and contrast: scale and shift intensities."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import PerFrame, Static, operator

LAYOUTS = ("HWC", "DHWC")


def full_range(dtype: np.dtype) -> float:
    """Returns the largest intensity of a type: its maximum for integers, 1 for floats."""
    return 1.0 if jnp.issubdtype(dtype, jnp.floating) else float(np.iinfo(dtype).max)


def half_range(dtype: np.dtype) -> float:
    """Returns the middle intensity of a type: half of the range, rounded up (128 for uint8), or 0.5 for floats."""
    return 0.5 if jnp.issubdtype(dtype, jnp.floating) else float((int(np.iinfo(dtype).max) + 1) // 2)


def setup(images: BatchSpec, *, dtype: np.dtype | None) -> BatchSpec:
    if "b" in (images.dtype.kind, (dtype or images.dtype).kind):
        raise TypeError(
            "brightness and contrast: Unsupported input type: bool. It has no intensities; convert it first"
        )
    return images.replace(dtype=dtype or images.dtype)


def _apply(
    image: Array, brightness: Any, brightness_shift: Any, contrast: Any, contrast_center: Any, dtype: Any
) -> Array:
    out = np.dtype(dtype or image.dtype)
    # DALI's brightness_contrast.h:127 uses the half range, although the schema documents 0.5.
    center = half_range(np.dtype(image.dtype)) if contrast_center is None else contrast_center
    scale = brightness * contrast
    shift = brightness_shift * full_range(out) + brightness * (center - contrast * center)
    return saturate_cast(image.astype(jnp.float32) * jnp.float32(scale) + jnp.float32(shift), out)


@operator(setup=setup, layouts=LAYOUTS, source="operators/image/color/brightness_contrast.cc")
def brightness_contrast(
    image: Array,
    /,
    *,
    brightness: PerFrame[float] = 1.0,
    brightness_shift: PerFrame[float] = 0.0,
    contrast: PerFrame[float] = 1.0,
    contrast_center: PerFrame[float | None] = None,
    dtype: Static[np.dtype | None] = None,
) -> Array:
    """Changes contrast around a centre, then brightness. Results are rounded half away from zero.

    out = brightness_shift · range + brightness · (contrast_center + contrast · (in - contrast_center)),
    where range is the largest value of the output type (1 for floats).

    Args:
        image: [..., C], any number type.
        brightness: factor of all intensities.
        brightness_shift: share of the output's range to add.
        contrast: factor of the distance from `contrast_center`.
        contrast_center: intensity that contrast does not change; None: the middle of the input's
            range, 128 for uint8 and 0.5 for floats.
        dtype: output type; None: the input's. Intensities are not scaled to its range.

    Returns: shape of the input, `dtype`, saturated.

    Example:
        images = fn.brightness_contrast(images, brightness=1.2, contrast=0.6)
        images = fn.brightness_contrast(images, contrast=1.6)
    """
    return _apply(image, brightness, brightness_shift, contrast, contrast_center, dtype)


@operator(setup=setup, layouts=LAYOUTS, source="operators/image/color/brightness_contrast.cc")
def brightness(
    image: Array,
    /,
    *,
    brightness: PerFrame[float] = 1.0,
    brightness_shift: PerFrame[float] = 0.0,
    dtype: Static[np.dtype | None] = None,
) -> Array:
    """Scales and shifts intensities: out = brightness · in + brightness_shift · range of the output.

    Args:
        image: [..., C], any number type.
        brightness: factor.
        brightness_shift: share of the output's range to add.
        dtype: output type; None: the input's. Intensities are not scaled to its range.

    Returns: shape of the input, `dtype`, rounded half away from zero and saturated.

    Example:
        images = fn.brightness(images, brightness=1.5)
        images = fn.brightness(images, brightness=0.6)
    """
    return _apply(image, brightness, brightness_shift, np.float32(1), None, dtype)


@operator(setup=setup, layouts=LAYOUTS, source="operators/image/color/brightness_contrast.cc")
def contrast(
    image: Array,
    /,
    *,
    contrast: PerFrame[float] = 1.0,
    contrast_center: PerFrame[float | None] = None,
    dtype: Static[np.dtype | None] = None,
) -> Array:
    """Scales intensities around a centre: out = contrast_center + contrast · (in - contrast_center).

    Args:
        image: [..., C], any number type.
        contrast: factor of the distance from `contrast_center`.
        contrast_center: intensity that contrast does not change; None: the middle of the input's
            range, 128 for uint8 and 0.5 for floats.
        dtype: output type; None: the input's. Intensities are not scaled to its range.

    Returns: shape of the input, `dtype`, rounded half away from zero and saturated.

    Example:
        images = fn.contrast(images, contrast=1.7)
        images = fn.contrast(images, contrast=0.5)
    """
    return _apply(image, np.float32(1), np.float32(0), contrast, contrast_center, dtype)
