"""water, sphere and jitter: move the pixels of an image by a fixed rule."""

from __future__ import annotations

import functools
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
    """Warps the image if `mask` is not 0, else returns it unchanged."""
    image = fit(image, out_shape)
    moved = _warp.warp(
        image, mapping, parameters, extent, extent, out_shape,
        interp_type=interp_type, fill_value=fill_value, dtype=None,
    )  # fmt: skip
    return jnp.where(jnp.asarray(mask) != 0, moved, image)


def _setup(name: str, images: BatchSpec, *, interp_type: DALIInterpType) -> BatchSpec:
    _warp.check_warp(name, images, interp_type)
    return images


@operator(
    setup=functools.partial(_setup, "water"),
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
    """Makes an image look as if under water, by shifting rows and columns in waves.

    out(x, y) = in(x + ampl_x · sin(freq_x · y + phase_x), y + ampl_y · cos(freq_y · x + phase_y)), where x and y are
    indices of output pixels, and (0, 0) in the input is the corner of the first pixel.

    Args:
        image: [H, W, C].
        ampl_x: largest horizontal shift, pixels.
        ampl_y: largest vertical shift, pixels.
        fill_value: value outside of the image, in the image's type.
        freq_x: frequency of the horizontal shift, radians per row.
        freq_y: frequency of the vertical shift, radians per column.
        interp_type: INTERP_NN or INTERP_LINEAR.
        mask: 0: the image is unchanged.
        phase_x: phase of the horizontal shift, radians.
        phase_y: phase of the vertical shift, radians.

    Returns: shape and type of the input, rounded half away from zero and saturated.

    Parity: sines may differ from DALI's in the last bit. Without interpolation, an output pixel may therefore differ if its
    point lies on the border between two pixels.

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
    ampl_x, ampl_y, freq_x, freq_y, phase_x, phase_y = parameters
    y, x = (center - jnp.float32(0.5) for center in centers)
    right = rounded(ampl_x * jnp.sin(rounded(freq_x * y) + phase_x))
    down = rounded(ampl_y * jnp.cos(rounded(freq_y * x) + phase_y))
    # Without the barrier, JAX 0.12's XLA would compute the waves for each pixel, and not for each row or column.
    right, down = lax.optimization_barrier((right, down))
    return [y + down, x + right]


@operator(
    setup=functools.partial(_setup, "sphere"),
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
    """Makes an image look as if on a sphere, with a magnified centre.

    The pixel at p shows the point c + (p - c) · |p - c| / r, where c is the centre of the image and r the larger of
    W // 2 and H // 2.

    Args:
        image: [H, W, C].
        fill_value: value outside of the image, in the image's type.
        interp_type: INTERP_NN or INTERP_LINEAR.
        mask: 0: the image is unchanged.

    Returns: shape and type of the input, rounded half away from zero and saturated. An image of one pixel becomes
        the fill value.

    Example: images = fn.sphere(images)
    """
    return _displaced(
        image, sphere_points, extent[:2], extent, out_shape,
        mask=mask, interp_type=interp_type, fill_value=fill_value,
    )  # fmt: skip


def sphere_points(parameters: Any, centers: Sequence[Array]) -> list[Array]:
    """Maps points for `sphere`; `parameters` is the size of the image."""
    middle = parameters.astype(jnp.float32) * jnp.float32(0.5)
    radius = jnp.max(parameters // 2).astype(jnp.float32)
    away = [center - m for center, m in zip(centers, middle, strict=True)]
    squares = rounded(away[0] * away[0]) + rounded(away[1] * away[1])
    # The square root has no finite derivative at 0, so it is not computed there.
    distance = jnp.where(squares == 0, 0, jnp.sqrt(jnp.where(squares == 0, 1, squares)))
    scale = quotient(distance, radius)
    points = [rounded(scale * a) + m for a, m in zip(away, middle, strict=True)]
    return [jnp.where(radius == 0, jnp.float32(-10), point) for point in points]


def jitter_setup(images: BatchSpec, *, nDegree: int, interp_type: DALIInterpType) -> BatchSpec:
    if not 0 <= nDegree < 1 << 15:
        raise ValueError(f"jitter: nDegree must be from 0 to 32767, got {nDegree}")
    return _setup("jitter", images, interp_type=interp_type)


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
    """Replaces each pixel by the pixel at a random offset of whole pixels. The offset is the same for all channels.

    The offset along each axis is uniform, from -(nDegree // 2) to nDegree - nDegree // 2. Positions are clipped to the
    image.

    Args:
        image: [H, W, C].
        fill_value: without effect: no pixel comes from outside.
        interp_type: without effect: offsets are whole pixels.
        mask: 0: the image is unchanged.
        nDegree: range of the offsets, 0 to 32767.

    Returns: shape and type of the input.

    Parity: DALI has this operator on a GPU only. Random numbers differ, but have the same distribution. In DALI,
    channels share an offset only if two conditions are met: all images of the batch have 1 channel, or all have 3; and
    the H · W elements of a channel fill whole 32-bit words. Otherwise, each channel has its own offset.

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
