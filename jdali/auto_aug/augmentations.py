"""Provides the augmentations of the policies, for uint8 images (HWC) and sequences of images (FHWC).

A call of an augmentation takes a magnitude bin in place of the function's second parameter. The method `augmentation`
returns a copy with other settings: `shear_x.augmentation(mag_range=(0, 0.5))` shears by up to 0.5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jdali import fn, types
from jdali.auto_aug.core._augmentation import Augmentation  # noqa: F401  the type of the augmentations here
from jdali.auto_aug.core.decorator import augmentation

_LUMA = np.array([0.299, 0.587, 0.114], np.float32)  # ITU-R 601, as in Pillow's conversion to gray


# --- augmentations that move pixels ----------------------------------------------------------------
def warp_x_param(magnitude: float) -> list[float]:
    """Returns (magnitude, 0), a parameter that acts only along the width."""
    return [magnitude, 0]


def warp_y_param(magnitude: float) -> list[float]:
    """Returns (0, magnitude), a parameter that acts only along the height."""
    return [0, magnitude]


def _warp(data: Any, matrix: Any, fill_value: Any, interp_type: Any) -> object:
    """Warps an image by a matrix that maps input to output coordinates; keeps the image's size."""
    return fn.warp_affine(
        data, matrix=matrix, fill_value=fill_value, interp_type=interp_type, inverse_map=False
    )


@augmentation(mag_range=(0, 0.3), randomly_negate=True, mag_to_param=warp_x_param)
def shear_x(data: Any, shear: Any, fill_value: Any = 128, interp_type: Any = None) -> Any:
    """Moves each row sideways by s times its distance from the top.

    Args:
        data: images.
        shear: (s, 0).
        fill_value: value of uncovered pixels; None repeats the border.
        interp_type: interpolation; None: linear.
    """
    return _warp(data, fn.transforms.shear(shear=shear), fill_value, interp_type)


@augmentation(mag_range=(0, 0.3), randomly_negate=True, mag_to_param=warp_y_param)
def shear_y(data: Any, shear: Any, fill_value: Any = 128, interp_type: Any = None) -> Any:
    """Moves each column up or down by s times its distance from the left; `shear` is (0, s); see `shear_x`."""
    return _warp(data, fn.transforms.shear(shear=shear), fill_value, interp_type)


@augmentation(mag_range=(0.0, 1.0), randomly_negate=True, mag_to_param=warp_x_param)
def translate_x(
    data: Any, rel_offset: Any, shape: Any, fill_value: Any = 128, interp_type: Any = None
) -> Any:
    """Moves the image along its width.

    Args:
        data: images.
        rel_offset: (share of the width, 0).
        shape: (height, width) of the image: one pair for all samples, or a pair for each sample.
        fill_value, interp_type: see `shear_x`.
    """
    return _warp(data, fn.transforms.translation(offset=rel_offset * shape[1]), fill_value, interp_type)


@augmentation(
    mag_range=(0, 250), randomly_negate=True, mag_to_param=warp_x_param, name="translate_x"
)  # fmt: skip
def translate_x_no_shape(data: Any, offset: Any, fill_value: Any = 128, interp_type: Any = None) -> Any:
    """Moves the image along its width by `offset`, (pixels, 0); see `shear_x`."""
    return _warp(data, fn.transforms.translation(offset=offset), fill_value, interp_type)


@augmentation(mag_range=(0.0, 1.0), randomly_negate=True, mag_to_param=warp_y_param)
def translate_y(
    data: Any, rel_offset: Any, shape: Any, fill_value: Any = 128, interp_type: Any = None
) -> Any:
    """Moves the image along its height; like `translate_x`, but `rel_offset` is (0, share of the height)."""
    return _warp(data, fn.transforms.translation(offset=rel_offset * shape[0]), fill_value, interp_type)


@augmentation(
    mag_range=(0, 250), randomly_negate=True, mag_to_param=warp_y_param, name="translate_y"
)  # fmt: skip
def translate_y_no_shape(data: Any, offset: Any, fill_value: Any = 128, interp_type: Any = None) -> Any:
    """Moves the image along its height by `offset`, (0, pixels); see `shear_x`."""
    return _warp(data, fn.transforms.translation(offset=offset), fill_value, interp_type)


@augmentation(mag_range=(0, 30), randomly_negate=True)
def rotate(
    data: Any, angle: Any, fill_value: Any = 128, interp_type: Any = None, rotate_keep_size: bool = True
) -> Any:
    """Rotates the image about its center.

    Args:
        data: images.
        angle: degrees, counter-clockwise.
        fill_value, interp_type: see `shear_x`.
        rotate_keep_size: True keeps the image's size; False enlarges it to hold the whole rotated image.
    """
    return fn.rotate(
        data, angle=angle, fill_value=fill_value, interp_type=interp_type, keep_size=rotate_keep_size
    )


# --- enhancing: a factor of 1 changes nothing ------------------------------------------------------
def shift_enhance_range(magnitude: float) -> float:
    """Returns 1 + magnitude, a factor that changes nothing at magnitude 0."""
    return 1 + magnitude


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def brightness(data: Any, parameter: Any) -> Any:
    """Multiplies all values by `parameter`."""
    return fn.brightness(data, brightness=parameter)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def contrast(data: Any, parameter: Any) -> Any:
    """Multiplies the distance of each value from the image's mean luma by `parameter`."""
    mean: Any = fn.reductions.mean(data, axis_names="HW", keep_dims=True)
    center: Any = fn.reductions.sum(mean * types.Constant(_LUMA), axis_names="C", keep_dims=True)
    return fn.cast_like(center + (data - center) * parameter, data)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def color(data: Any, parameter: Any) -> Any:
    """Multiplies the saturation by `parameter`."""
    return fn.saturation(data, saturation=parameter)


def sharpness_kernel(magnitude: float) -> np.ndarray:
    """Makes a sharpening kernel, float32 [3, 3]: (1 + magnitude) · identity - magnitude · smoothing kernel.

    Args:
        magnitude: 1 sharpens most, 0 changes nothing, -1 smooths.
    """
    smooth = np.ones((3, 3), np.float32)
    smooth[1, 1] = 5  # the weights of Pillow's SMOOTH
    smooth /= 13
    identity = np.zeros((3, 3), np.float32)
    identity[1, 1] = 1
    return (1 + magnitude) * identity - magnitude * smooth


def sharpness_kernel_shifted(magnitude: float) -> np.ndarray:
    """Makes the `sharpness_kernel` of `magnitude` - 1; magnitudes are from 0 to 2, and 1 changes nothing."""
    return sharpness_kernel(magnitude - 1)


@augmentation(
    mag_range=(0, 0.9), randomly_negate=True, mag_to_param=sharpness_kernel, param_device="auto"
)  # fmt: skip
def sharpness(data: Any, kernel: Any) -> Any:
    """Filters with `kernel`, [3, 3]. The image is mirrored past its border; Pillow leaves border pixels unfiltered."""
    return fn.filter(data, kernel)


# --- changing values one by one -------------------------------------------------------------------
def poster_mask_uint8(magnitude: float) -> np.ndarray:
    """Makes the uint8 mask of the upper n bits. n is `magnitude`, rounded and clipped to 1..8; 0 would give black."""
    kept = int(np.clip(np.round(magnitude), 1, 8))
    return np.array(0xFF << (8 - kept) & 0xFF, np.uint8)


@augmentation(mag_range=(0, 4), mag_to_param=poster_mask_uint8, param_device="auto")
def posterize(data: Any, mask: Any) -> Any:
    """Clears all bits that are not in `mask`."""
    return data & mask


def _uint8(value: int) -> Any:
    return types.Constant(value, types.UINT8)


@augmentation(mag_range=(256, 0), param_device="auto")
def solarize(data: Any, threshold: Any) -> Any:
    """Inverts values of at least `threshold`."""
    return data ^ ((data >= threshold) * _uint8(0xFF))


def solarize_add_shift(shift: float) -> np.ndarray:
    """Converts `shift` to uint8, truncating its fraction.

    Raises:
        ValueError: the shift is 128 or more, so a value below 128 could exceed 255.
    """
    if shift >= 128:
        raise ValueError(f"The solarize_add augmentation accepts shifts from 0 to 128, got {shift}")
    return np.array(shift).astype(np.uint8)


@augmentation(mag_range=(0, 110), param_device="auto", mag_to_param=solarize_add_shift)
def solarize_add(data: object, shift: object) -> Any:
    """Adds `shift` to values below 128."""
    return data + (data < _uint8(128)) * shift


@augmentation
def invert(data: object, _: object) -> Any:
    """Computes 255 - value."""
    return data ^ _uint8(0xFF)


# --- changing values by the histogram of the image --------------------------------------------------
@augmentation
def equalize(data: Any, _: Any) -> Any:
    """Equalizes the histogram of each channel by OpenCV's formula, which differs slightly from Pillow's."""
    return fn.equalize(data)


@augmentation
def auto_contrast(data: Any, _: Any) -> Any:
    """Stretches each channel of each image to the range 0 to 255, except channels in which all values are equal."""
    low: Any = fn.reductions.min(data, axis_names="HW", keep_dims=True)
    high: Any = fn.reductions.max(data, axis_names="HW", keep_dims=True)
    varies = high > low
    spread = (high - low) * varies + _uint8(0xFF) * (high == low)
    return fn.cast_like((data - low * varies) * (255 / spread), data)


@augmentation
def identity(data: object, _: object) -> Any:
    """Returns the data unchanged."""
    return data
