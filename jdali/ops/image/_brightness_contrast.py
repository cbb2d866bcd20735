"""Brightness and contrast: scale and shift intensities around a centre."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._extent import BatchSpec
from jdali._numeric import saturate_cast
from jdali._operator import PerSample, Static, operator


def full_range(dtype: np.dtype[Any]) -> float:
    """Largest intensity of a dtype: its maximum for integers, 1 for floats."""
    return 1.0 if dtype.kind == "f" else float(np.iinfo(dtype).max)


def setup(images: BatchSpec, *, dtype: np.dtype[Any] | None) -> BatchSpec:
    return images.replace(dtype=dtype or images.dtype)


@operator(setup=setup, layouts=("HWC",), source="operators/image/color/brightness_contrast.cc")
def brightness_contrast(
    image: Array,
    /,
    *,
    brightness: PerSample[float] = 1.0,
    brightness_shift: PerSample[float] = 0.0,
    contrast: PerSample[float] = 1.0,
    contrast_center: PerSample[float | None] = None,
    dtype: Static[np.dtype | None] = None,
) -> Array:
    """Scales intensities around a centre, then all of them, then shifts; rounds half away from zero.

    out = brightness_shift · range + brightness · (contrast_center + contrast · (in - contrast_center)),
    where range is the largest value of the output dtype (1 for floats).

    Args:
        brightness: factor on everything.
        brightness_shift: share of the output's range that is added.
        contrast: factor on the distance from `contrast_center`.
        contrast_center: intensity that contrast leaves alone; None: the middle of the input's
            range, 128 for uint8 and 0.5 for floats.
        dtype: output type; None: the input's.

    Returns: shape of the input, `dtype`, saturated.
    """
    out = np.dtype(dtype or image.dtype)
    center = contrast_center
    if center is None:
        center = _default_center(np.dtype(image.dtype))
    scale = brightness * contrast
    shift = brightness_shift * full_range(out) + brightness * (center - contrast * center)
    return saturate_cast(image.astype(jnp.float32) * scale + shift, out)


def _default_center(dtype: np.dtype[Any]) -> float:
    # brightness_contrast.h:127, not the 0.5 of the schema: half of the range, rounded up.
    return 0.5 if dtype.kind == "f" else float((np.iinfo(dtype).max + 1) // 2)
