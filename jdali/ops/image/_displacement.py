"""Operators that move the pixels of an image by a fixed rule: water, sphere, jitter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec
from jdali._kernels import warp as _warp
from jdali._kernels.fit import fit
from jdali._numerics.positions import quotient, rounded
from jdali._numerics.random import element_index
from jdali._operators.record import PerSample, Static, operator
from jdali.types import INTERP_NN, DALIInterpType


def _displaced(
    image: Array, mapping: _warp.Mapping, parameters: object, extent: Array, out_shape: tuple[int, ...],
    *, mask: object, interp_type: DALIInterpType, fill_value: float,
) -> Array:  # fmt: skip
    """Moves the image where `mask` is not 0, and leaves it as it is elsewhere."""
    image = fit(image, out_shape)
    moved = _warp.warp(
        image, mapping, parameters, extent, extent, out_shape,
        interp_type=interp_type, fill_value=fill_value, dtype=None,
    )  # fmt: skip
    return jnp.where(jnp.asarray(mask) != 0, moved, image)


# --- water --------------------------------------------------------------------------------------
def water_setup(images: BatchSpec, *, interp_type: DALIInterpType) -> BatchSpec:
    _warp.check_warp("water", images, interp_type)
    return images


@operator(
    setup=water_setup,
    layouts=("HWC",),
    free_padding="all",
    wide_vectors=True,
    source="operators/image/remap/water.h",
)
def water(
    image: Array,
    /,
    *,
    ampl_x: Static[float] = 10.0,
    ampl_y: Static[float] = 10.0,
    fill_value: Static[float] = 0.0,
    freq_x: Static[float] = math.pi / 64,
    freq_y: Static[float] = math.pi / 64,
    interp_type: Static[DALIInterpType] = INTERP_NN,
    mask: PerSample[int] = 1,
    phase_x: Static[float] = 0.0,
    phase_y: Static[float] = 0.0,
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Makes an image look as if under water: its rows and columns are shifted in waves.

    out(x, y) = in(x + ampl_x · sin(freq_x · y + phase_x), y + ampl_y · cos(freq_y · x + phase_y)), x and y being
    numbers of pixels, and (0, 0) in the input the corner of the first pixel.

    Args:
        image: [H, W, C].
        ampl_x: how far columns move, pixels.
        ampl_y: how far rows move, pixels.
        fill_value: of what lies outside of the image, in its type.
        freq_x: of the wave by which columns move, radians a row.
        freq_y: of the wave by which rows move, radians a column.
        interp_type: INTERP_NN or INTERP_LINEAR.
        mask: 0: the image stays as it is.
        phase_x: of the wave by which columns move, radians.
        phase_y: of the wave by which rows move, radians.

    Returns: shape and type of the input, rounded half away from zero and saturated.

    Parity: sines may differ from DALI's by a bit, and so may, without interpolation, pixels whose points are on a
    border.

    Example:
        images = fn.water(images, ampl_x=20.0, ampl_y=5.0)
        images = fn.water(images)
    """
    values = (ampl_x, ampl_y, freq_x, freq_y, phase_x, phase_y)
    return _displaced(
        image, water_points, jnp.asarray(values, jnp.float32), extent, out_shape,
        mask=mask, interp_type=interp_type, fill_value=fill_value,
    )  # fmt: skip


def water_points(parameters: Any, centers: Sequence[Array]) -> list[Array]:
    """Maps points for `water`."""
    ampl_x, ampl_y, freq_x, freq_y, phase_x, phase_y = parameters
    y, x = (center - jnp.float32(0.5) for center in centers)
    right = rounded(ampl_x * jnp.sin(rounded(freq_x * y) + phase_x))
    down = rounded(ampl_y * jnp.cos(rounded(freq_y * x) + phase_y))
    # JAX 0.12's XLA would compute a wave for each pixel, not for each row or column.
    right, down = lax.optimization_barrier((right, down))
    return [y + down, x + right]


# --- sphere -------------------------------------------------------------------------------------
def sphere_setup(images: BatchSpec, *, interp_type: DALIInterpType) -> BatchSpec:
    _warp.check_warp("sphere", images, interp_type)
    return images


@operator(
    setup=sphere_setup,
    layouts=("HWC",),
    free_padding="all",
    wide_vectors=True,
    source="operators/image/remap/sphere.h",
)
def sphere(
    image: Array,
    /,
    *,
    fill_value: Static[float] = 0.0,
    interp_type: Static[DALIInterpType] = INTERP_NN,
    mask: PerSample[int] = 1,
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Makes an image look as if on a sphere: what is near the centre is magnified.

    The pixel at p shows the point c + (p - c) · |p - c| / r, c being the centre of the image and r the larger of
    W // 2 and H // 2.

    Args:
        image: [H, W, C].
        fill_value: of what lies outside of the image, in its type.
        interp_type: INTERP_NN or INTERP_LINEAR.
        mask: 0: the image stays as it is.

    Returns: shape and type of the input, rounded half away from zero and saturated. An image of one pixel becomes
        the fill value.

    Example: images = fn.sphere(images)
    """
    return _displaced(
        image, sphere_points, extent[:2], extent, out_shape,
        mask=mask, interp_type=interp_type, fill_value=fill_value,
    )  # fmt: skip


def sphere_points(parameters: Any, centers: Sequence[Array]) -> list[Array]:
    """Maps points for `sphere`; its parameters are the size of the image."""
    middle = parameters.astype(jnp.float32) * jnp.float32(0.5)
    radius = jnp.max(parameters // 2).astype(jnp.float32)
    away = [center - m for center, m in zip(centers, middle, strict=True)]
    squares = rounded(away[0] * away[0]) + rounded(away[1] * away[1])
    # The root has no derivative at 0, where it is not needed.
    distance = jnp.where(squares == 0, 0, jnp.sqrt(jnp.where(squares == 0, 1, squares)))
    scale = quotient(distance, radius)
    points = [rounded(scale * a) + m for a, m in zip(away, middle, strict=True)]
    return [jnp.where(radius == 0, jnp.float32(-10), point) for point in points]


# --- jitter -------------------------------------------------------------------------------------
def jitter_setup(images: BatchSpec, *, nDegree: int, interp_type: DALIInterpType) -> BatchSpec:
    _warp.check_warp("jitter", images, interp_type)
    if not 0 <= nDegree < 1 << 15:
        raise ValueError(f"jitter: nDegree must be from 0 to 32767, got {nDegree}")
    return images


@operator(
    setup=jitter_setup, layouts=("HWC",), free_padding="input", source="operators/image/remap/jitter.cuh"
)
def jitter(
    key: Array,
    image: Array,
    /,
    *,
    fill_value: Static[float] = 0.0,
    interp_type: Static[DALIInterpType] = INTERP_NN,
    mask: PerSample[int] = 1,
    nDegree: Static[int] = 2,
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Shows at each pixel another one that is a random number of whole pixels away, with all of its channels.

    Both numbers are any of -(nDegree // 2) to nDegree - nDegree // 2, each as likely; at the borders the pixel
    nearest to that position is taken.

    Args:
        image: [H, W, C].
        fill_value: without effect: no pixel comes from outside.
        interp_type: without effect: pixels are moved by whole numbers.
        mask: 0: the image stays as it is.
        nDegree: how far pixels may be apart that are shown side by side, 0 to 32767.

    Returns: shape and type of the input.

    Parity: DALI has it on a GPU only; other values of the same distribution. It moves each channel by itself where
    there are neither 1 nor 3, or where the pixels of an image do not fill words of 32 bits.

    Example: images = fn.jitter(images, nDegree=8)
    """
    del fill_value, interp_type
    image = fit(image, out_shape)
    indices = []
    for axis in range(2):
        moved = element_index(key, extent[:2], out_shape[:2], nDegree + 1, draw=axis).astype(jnp.int32)
        index = jnp.arange(out_shape[axis], dtype=jnp.int32)
        index = jnp.expand_dims(index, 1 - axis) + moved - np.int32(nDegree // 2)
        indices.append(jnp.clip(index, 0, extent[axis] - 1))
    shown = image.at[indices[0], indices[1]].get(mode="promise_in_bounds", wrap_negative_indices=False)
    return jnp.where(jnp.asarray(mask) != 0, shown, image)
