from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._errors import check_samples
from jdali._kernels.window import default_layout
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import Static, operator, refused_layout
from jdali.types import DALIImageType

_CHANNELS = {
    DALIImageType.RGB: 3,
    DALIImageType.BGR: 3,
    DALIImageType.GRAY: 1,
    DALIImageType.YCbCr: 3,
}

# ITU-R BT.601 with Y from 16 to 235 and chroma from 16 to 240, for 8 bits.
_OFFSET = np.array([16, 128, 128], np.float32)
_RGB_TO_YCBCR = np.array(
    [
        [0.25678824, 0.50412941, 0.09790588],
        [-0.14822290, -0.29099279, 0.43921569],
        [0.43921569, -0.36778831, -0.07142737],
    ],
    np.float32,
)
_YCBCR_TO_RGB = np.array(
    [
        [1.164383562, 0, 1.596026786],
        [1.164383562, -0.391762290, -0.812967647],
        [1.164383562, 2.017232143, 0],
    ],
    np.float32,
)
# Luma weights 0.299, 0.587, 0.114 in units of 2^-15, as in OpenCV, which DALI's CPU backend uses.
_GRAY_WEIGHTS = (9798, 19235, 3735)


def setup(images: BatchSpec, *, image_type: DALIImageType, output_type: DALIImageType) -> BatchSpec:
    name = "color_space_conversion"
    for kind in (image_type, output_type):
        if kind not in _CHANNELS:
            raise ValueError(f"{name}: cannot convert {DALIImageType(kind).name}")
    if images.dtype != np.uint8:
        raise TypeError(f"{name}: Color space conversion accept only uint8 tensors, got {images.dtype}")
    layout = default_layout(images.layout, images.ndim)
    if "C" not in layout:
        raise refused_layout(name, images.layout, images.ndim, "it has no channel axis")
    axis = layout.index("C")
    check_samples(
        images.extents[:, axis] != _CHANNELS[image_type],
        lambda i: (
            f"{name}: {DALIImageType(image_type).name}: Expected {_CHANNELS[image_type]}. Got {images.extents[i, axis]} "
            f"channels in sample {i}"
        ),
    )
    extents = np.array(images.extents)
    extents[:, axis] = _CHANNELS[output_type]
    return BatchSpec(extents, images.dtype, layout)


@operator(setup=setup, source="operators/image/color/color_space_conversion.cc")
def color_space_conversion(
    image: Array,
    /,
    *,
    image_type: Static[DALIImageType],
    output_type: Static[DALIImageType],
    layout: str,
) -> Array:
    """Converts between RGB, BGR, gray and YCbCr (BT.601, Y from 16 to 235). Results are rounded half away from zero.

    Args:
        image: uint8, any layout with C; without a layout HWC, or DHWC with four axes.
        image_type: colour space of the input.
        output_type: colour space of the output.

    Returns: layout of the input, uint8, 1 or 3 channels.

    Example:
        images = fn.color_space_conversion(images, image_type=types.RGB, output_type=types.GRAY)
        images = fn.color_space_conversion(images, image_type=types.RGB, output_type=types.BGR)
    """
    axis = default_layout(layout, image.ndim).index("C")
    value = jnp.moveaxis(image, axis, -1)[..., : _CHANNELS[image_type]]
    if image_type == output_type:
        return jnp.moveaxis(value, -1, axis)
    if image_type == DALIImageType.BGR:
        value, image_type = value[..., ::-1], DALIImageType.RGB
    wanted = DALIImageType.RGB if output_type == DALIImageType.BGR else output_type
    value = _convert(value, image_type, wanted)
    if output_type == DALIImageType.BGR:
        value = value[..., ::-1]
    return jnp.moveaxis(value, -1, axis)


def _convert(value: Array, source: DALIImageType, target: DALIImageType) -> Array:
    """Converts `value` [..., C] between RGB, GRAY and YCbCr."""
    if source == target:
        return value
    pair = (source, target)
    if pair == (DALIImageType.RGB, DALIImageType.GRAY):
        red, green, blue = jnp.split(value.astype(jnp.int32), 3, axis=-1)
        total = red * _GRAY_WEIGHTS[0] + green * _GRAY_WEIGHTS[1] + blue * _GRAY_WEIGHTS[2]
        return ((total + (1 << 14)) >> 15).astype(jnp.uint8)
    if pair == (DALIImageType.GRAY, DALIImageType.RGB):
        return jnp.repeat(value, 3, axis=-1)
    exact = value.astype(jnp.float32)
    if pair == (DALIImageType.GRAY, DALIImageType.YCbCr):
        luma = saturate_cast(exact * np.float32(219 / 255) + 16, np.uint8)
        return jnp.concatenate([luma, jnp.full_like(value, 128), jnp.full_like(value, 128)], axis=-1)
    if pair == (DALIImageType.YCbCr, DALIImageType.GRAY):
        return saturate_cast((exact[..., :1] - 16) * np.float32(255 / 219), np.uint8)
    if pair == (DALIImageType.RGB, DALIImageType.YCbCr):
        return saturate_cast(_transform(exact, _RGB_TO_YCBCR) + _OFFSET, np.uint8)
    return saturate_cast(_transform(exact - _OFFSET, _YCBCR_TO_RGB), np.uint8)


def _transform(value: Array, matrix: np.ndarray) -> Array:
    """Computes matrix · colour as a sum of products, which XLA fuses with neighbouring operations."""
    result: Array = sum(value[..., i : i + 1] * matrix[:, i] for i in range(3))  # type: ignore[assignment]
    return result
