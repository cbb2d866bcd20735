from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali import types
from jdali._batches import BatchSpec
from jdali._errors import check_samples
from jdali._kernels import warp as _warp
from jdali._kernels.affine_matrix import Matrix, Vector, inverse
from jdali._numerics.positions import quotient, rounded
from jdali._operators.record import PerFrame, PerSample, Static, is_traced, operator, shapes_text
from jdali.types import INTERP_LINEAR, DALIInterpType

_NAME = "experimental.warp_perspective"
_BORDERS = ("constant", "replicate", "reflect", "reflect_101", "wrap")
_FILTERS = (types.INTERP_NN, types.INTERP_LINEAR, types.INTERP_CUBIC)


def pixel_origin_shift(name: str, pixel_origin: str) -> float:
    """Returns the coordinate of the centre of pixel 0 if coordinates begin at `pixel_origin`."""
    shifts = {"corner": 0.5, "center": 0.0}
    if pixel_origin not in shifts:
        raise ValueError(
            f"{name}: Invalid pixel_origin argument: {pixel_origin}. It must be 'corner' or 'center'"
        )
    return shifts[pixel_origin]


def setup(
    images: BatchSpec,
    matrix_input: BatchSpec | None = None,
    *,
    border_mode: str,
    fill_value: tuple[float, ...] | float,
    interp_type: DALIInterpType,
    matrix: Any,
    pixel_origin: str,
    size: Any,
) -> BatchSpec:
    _warp.check_warp(_NAME, images, interp_type, _FILTERS)
    pixel_origin_shift(_NAME, pixel_origin)
    if border_mode not in _BORDERS:
        raise ValueError(
            f"{_NAME}: Invalid border_mode argument: {border_mode}. It must be one of {', '.join(_BORDERS)}"
        )
    _check_fill(images, fill_value)
    if matrix_input is not None:
        if _warp.has_value(matrix):
            raise ValueError(
                f"{_NAME}: Matrix input and `matrix` argument should not be provided at the same time."
            )
        if (matrix_input.extents.prod(axis=1) != 9).any():
            raise ValueError(
                f"{_NAME}: Expected a uniform list of 3x3 matrices. Instead got data with shape: "
                f"{shapes_text(matrix_input.extents)}"
            )
    if matrix_input is None and not _warp.has_value(matrix):
        raise ValueError(
            f"{_NAME}: `matrix` argument must be provided when transforms are not passed as a regular input."
        )
    if matrix_input is None and not is_traced(matrix) and matrix[0].size != 9:
        raise ValueError(
            f'{_NAME}: Argument "matrix" expected shape 3 x 3 but got {matrix[0].size} values, which can\'t be interpreted '
            "as the expected shape."
        )
    sizes = images.extents[:, :2]
    if _warp.has_value(size):
        sizes = _warp.explicit_size(_NAME, size, 2)
    return _warp.warped(images, sizes, None)


def _check_fill(images: BatchSpec, fill_value: tuple[float, ...] | float) -> None:
    count = np.size(fill_value)
    if count > 1:
        check_samples(
            images.extents[:, 2] != count,
            lambda i: (
                f"{_NAME}: Number of values provided as a fill_value should match the number of channels. Number of "
                f"channels: {images.extents[i, 2]}. Number of values provided: {count}."
            ),
            argument="fill_value",
        )


@operator(
    name=_NAME,
    setup=setup,
    setup_needs=lambda arguments: ("size",),
    layouts=("HWC",),
    takes_frames="inputs",
    free_padding="all",
    nanoseconds=28.0,
    wide_vectors=True,
    source="operators/image/remap/cvcuda/warp_perspective.cc",
)
def warp_perspective(
    image: Array,
    matrix_input: Array | None = None,
    /,
    *,
    border_mode: Static[str] = "constant",
    fill_value: Static[tuple[float, ...] | float] = (),
    interp_type: Static[DALIInterpType] = INTERP_LINEAR,
    inverse_map: Static[bool] = True,
    matrix: PerFrame[tuple[float, ...] | Matrix] = (),
    pixel_origin: Static[str] = "corner",
    size: PerSample[tuple[float, ...]] = (),
    extent: tuple[Array, ...],
    out_extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Warps an image by a perspective transform, which gives a point of the input for each output pixel.

    out(x, y) = in((M11·x + M12·y + M13) / w, (M21·x + M22·y + M23) / w), w = M31·x + M32·y + M33. Where w is 0, the
    point is (0, 0).

    Args:
        image: [H, W, C].
        matrix_input: [3, 3], the transform in place of `matrix`.
        border_mode: pixels outside of the input: "constant" (`fill_value`), "replicate" (a|abcd|d), "reflect"
            (ba|abcd|dc), "reflect_101" (cb|abcd|cb) or "wrap" (cd|abcd|ab).
        fill_value: value outside of the input, in the image's type, one for all channels or one per channel; empty: 0.
        interp_type: INTERP_NN, INTERP_LINEAR or INTERP_CUBIC (Keys' kernel with a = -0.75, as in OpenCV).
        inverse_map: True: the transform maps output to input; False: it maps input to output, and is inverted
            first.
        matrix: the transform row by row, 9 values.
        pixel_origin: position of (0, 0): "corner" or "center" of the first pixel; OpenCV uses the centre.
        size: size of the output, (H, W), rounded to the nearest integer; empty: the input's.

    Returns: [*size, C], type of the input, rounded half away from zero and saturated.

    Parity: points are computed in float32, in DALI in float64; on large images they differ by up to 0.01 pixel. For
    int16 and INTERP_LINEAR, DALI rounds points to 1/32 pixel.

    Example:
        images = fn.experimental.warp_perspective(
            images, matrix=[1.0, 0.2, -20.0, 0.05, 1.1, -10.0, 0.0004, 0.0008, 1.0]
        )
    """
    transform = _as_transform(matrix if matrix_input is None else matrix_input)
    if not inverse_map:
        transform = inverse(transform)
    shift = jnp.float32(0.5 - pixel_origin_shift(_NAME, pixel_origin))
    fill = None
    if border_mode == "constant":
        fill = fill_value if np.size(fill_value) else 0.0
    return _warp.warp(
        image,
        perspective_points,
        (transform, shift),
        extent[0],
        out_extent,
        out_shape,
        interp_type=interp_type,
        fill_value=fill,
        dtype=None,
        border="replicate" if border_mode == "constant" else cast(_warp.Border, border_mode),
    )


def perspective_points(parameters: Any, centers: Sequence[Array]) -> list[Array]:
    """Maps points by a perspective transform.

    Args:
        parameters: transform [3, 3], and the shift from coordinates that begin at `pixel_origin` to those of `warp`.
        centers: see `warp.Mapping`.
    """
    transform, shift = parameters
    y, x = (center - shift for center in centers)
    rows = [rounded(transform[r, 0] * x) + rounded(transform[r, 1] * y) + transform[r, 2] for r in range(3)]
    vanishes = rows[2] == 0
    depth = jnp.where(vanishes, 1, rows[2])
    return [jnp.where(vanishes, 0, quotient(rows[axis], depth)) + shift for axis in (1, 0)]


def _as_transform(matrix: Vector | Matrix) -> Array:
    """Arranges 9 values, or a padded matrix, as float32 [3, 3]."""
    values = jnp.asarray(matrix, jnp.float32)
    if values.ndim == 1:
        return values.reshape(3, 3)
    # The layout adapter treats a second input as an image without channels, and appends a third axis to the matrix.
    return values.reshape(values.shape[:2])[:3, :3]
