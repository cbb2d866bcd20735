"""hsv, hue, saturation and color_twist: change colours by a linear map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec
from jdali._errors import check_samples
from jdali._kernels.fit import fit
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import PerFrame, Static, operator
from jdali.ops.image._brightness_contrast import LAYOUTS
from jdali.types import DALIDataType, DALIImageType

# From color_twist.h:44. Like DALI 2.4, jdali inverts the matrix numerically, and does not use the rounded textbook
# inverse.
_RGB_TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
_YIQ_TO_RGB = np.linalg.inv(_RGB_TO_YIQ)
_SOURCE = "operators/image/color/color_twist.cc"

# The matrix of a rotation by the hue angle a is _GRAY + cos a · _ALONG + sin a · _ACROSS. In YIQ, it keeps Y and rotates
# I and Q.
_GRAY = (_YIQ_TO_RGB[:, :1] @ _RGB_TO_YIQ[:1]).astype(np.float32)
_ALONG = (_YIQ_TO_RGB[:, 1:] @ _RGB_TO_YIQ[1:]).astype(np.float32)
_ACROSS = (_YIQ_TO_RGB[:, 1:] @ np.array([[0, 1], [-1, 0]]) @ _RGB_TO_YIQ[1:]).astype(np.float32)


def _setup(name: str) -> Callable[..., BatchSpec]:
    def setup(images: BatchSpec, *, dtype: np.dtype | None) -> BatchSpec:
        channels = images.extents[:, -1]
        check_samples(
            channels < 3,
            lambda i: f"{name}: needs images of 3 channels or more; sample {i} has {channels[i]}",
        )
        if "b" in (images.dtype.kind, (dtype or images.dtype).kind):
            raise TypeError(f"{name}: Unsupported input type: bool. It has no intensities; convert it first")
        return images.replace(dtype=dtype or images.dtype)

    return setup


def _twist(
    image: Array, hue: Any, saturation: Any, gain: Any, offset: Any, dtype: Any, shape: tuple[int, ...]
) -> Array:
    """Rotates hue and scales saturation, then computes gain · colour + offset. Further channels, such as alpha, do not change."""
    image = fit(image, shape)  # image and result may be padded to different numbers of channels
    angle = jnp.float32(hue) * jnp.float32(np.pi / 180)
    turned = jnp.cos(angle) * _ALONG + jnp.sin(angle) * _ACROSS
    matrix = (_GRAY + turned * jnp.float32(saturation)) * jnp.float32(gain)
    matrix, offset = lax.optimization_barrier((matrix, jnp.float32(offset)))
    colour = image.astype(jnp.float32)
    # A sum of three products fuses with neighbouring operations; a matrix product would be a separate call, with reduced
    # precision on some accelerators.
    result = sum(colour[..., i : i + 1] * matrix[:, i] for i in range(3)) + offset
    parts = (saturate_cast(part, np.dtype(dtype or image.dtype)) for part in (result, image[..., 3:]))
    return jnp.concatenate([*parts], axis=-1) if image.shape[-1] > 3 else next(parts)


@operator(setup=_setup("hsv"), layouts=LAYOUTS, source=_SOURCE)
def hsv(
    image: Array,
    /,
    *,
    dtype: Static[np.dtype | object] = DALIDataType.UINT8,
    hue: PerFrame[float] = 0.0,
    saturation: PerFrame[float] = 1.0,
    value: PerFrame[float] = 1.0,
    out_shape: tuple[int, ...],
) -> Array:
    """Changes hue, saturation and value by a linear map, which rotates colours around the gray axis.

    Args:
        image: RGB, [..., 3]; further channels, such as alpha, are unchanged.
        dtype: output type.
        hue: angle to add, degrees.
        saturation: factor of the distance from gray.
        value: factor of all intensities.

    Returns: shape of the input, `dtype`, rounded half away from zero and saturated.

    Example:
        images = fn.hsv(images, hue=120.0, saturation=1.3)
        images = fn.hsv(images, saturation=0.3, value=1.2)
    """
    return _twist(image, hue, saturation, value, 0.0, dtype, out_shape)


@operator(setup=_setup("hue"), layouts=LAYOUTS, source=_SOURCE)
def hue(
    image: Array,
    /,
    *,
    dtype: Static[np.dtype | None] = None,
    hue: PerFrame[float] = 0.0,
    image_type: Static[DALIImageType] = DALIImageType.RGB,
    out_shape: tuple[int, ...],
) -> Array:
    """Rotates colours around the gray axis.

    Args:
        image: RGB, [..., 3]; further channels, such as alpha, are unchanged.
        dtype: output type; None: the input's.
        hue: angle to add, degrees.
        image_type: without effect, as in DALI: images are treated as RGB.

    Returns: shape of the input, `dtype`, rounded half away from zero and saturated.

    Example: images = fn.hue(images, hue=90.0)
    """
    return _twist(image, hue, 1.0, 1.0, 0.0, dtype, out_shape)


@operator(setup=_setup("saturation"), layouts=LAYOUTS, source=_SOURCE)
def saturation(
    image: Array,
    /,
    *,
    dtype: Static[np.dtype | None] = None,
    image_type: Static[DALIImageType] = DALIImageType.RGB,
    saturation: PerFrame[float] = 1.0,
    out_shape: tuple[int, ...],
) -> Array:
    """Scales the distance of colours from gray.

    Args:
        image: RGB, [..., 3]; further channels, such as alpha, are unchanged.
        dtype: output type; None: the input's.
        image_type: without effect, as in DALI: images are treated as RGB.
        saturation: factor; 0 gives gray.

    Returns: shape of the input, `dtype`, rounded half away from zero and saturated.

    Example:
        images = fn.saturation(images, saturation=2.5)
        images = fn.saturation(images, saturation=0.2)
    """
    return _twist(image, 0.0, saturation, 1.0, 0.0, dtype, out_shape)


@operator(setup=_setup("color_twist"), layouts=LAYOUTS, source=_SOURCE)
def color_twist(
    image: Array,
    /,
    *,
    brightness: PerFrame[float] = 1.0,
    contrast: PerFrame[float] = 1.0,
    dtype: Static[np.dtype | None] = None,
    hue: PerFrame[float] = 0.0,
    image_type: Static[DALIImageType] = DALIImageType.RGB,
    saturation: PerFrame[float] = 1.0,
    out_shape: tuple[int, ...],
) -> Array:
    """Changes hue and saturation, then contrast around middle gray, then brightness.

    Args:
        image: RGB, [..., 3]; further channels, such as alpha, are unchanged.
        brightness: factor of all intensities.
        contrast: factor of the distance from middle gray: 128 for all integer types, 0.5 for floats.
        dtype: output type; None: the input's.
        hue: angle to add, degrees.
        image_type: without effect, as in DALI: images are treated as RGB.
        saturation: factor of the distance from gray.

    Returns: shape of the input, `dtype`, rounded half away from zero and saturated.

    Example:
        images = fn.color_twist(images, hue=60.0, saturation=1.5, brightness=1.1)
        images = fn.color_twist(images, saturation=2.0, brightness=1.1)
    """
    center = 0.5 if jnp.issubdtype(image.dtype, jnp.floating) else 128.0
    offset = (center - center * contrast) * brightness
    return _twist(image, hue, saturation, brightness * contrast, offset, dtype, out_shape)
