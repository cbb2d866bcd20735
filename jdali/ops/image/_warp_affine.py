from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, size_text
from jdali._errors import check_samples
from jdali._kernels import warp as _warp
from jdali._kernels.affine_matrix import Matrix, Vector, inverse
from jdali._operators.record import PerFrame, PerSample, Static, is_traced, operator
from jdali.types import INTERP_LINEAR, DALIInterpType


def setup(
    images: BatchSpec,
    mtx: BatchSpec | None = None,
    *,
    dtype: np.dtype | None,
    interp_type: DALIInterpType,
    inverse_map: bool,
    matrix: object,
    size: object,
) -> BatchSpec:
    _warp.check_warp("warp_affine", images, interp_type)
    axes = images.ndim - 1
    if mtx is None and not _warp.has_value(matrix):
        raise ValueError(
            "warp_affine: `matrix` argument must be provided when transforms are not passed as a regular input."
        )
    if mtx is not None:
        check_samples(
            mtx.extents.prod(axis=1) != axes * (axes + 1),
            lambda i: (
                f"warp_affine: Affine mapping parameters must be either a list of {axes} x {axes + 1} tensors, or one for all "
                f"samples. Got shape {size_text(mtx.extents[i])}"
            ),
        )
    elif not is_traced(matrix):
        _check_matrix(np.asarray(matrix), axes, inverse_map)
    sizes = images.extents[:, :axes]
    if _warp.has_value(size):
        sizes = _warp.explicit_size("warp_affine", size, axes)
    return _warp.warped(images, sizes, dtype)


def _check_matrix(matrix: np.ndarray, axes: int, inverse_map: bool) -> None:
    if matrix[0].size != axes * (axes + 1):
        raise ValueError(
            f"warp_affine: `matrix` parameter must have {axes * (axes + 1)} elements for {axes} axes of space. Affine mapping "
            f"parameters must be either a list of {axes} x {axes + 1} tensors, or one for all samples. Got shape "
            f"{size_text(matrix.shape[1:])}"
        )
    linear = matrix.reshape(len(matrix), axes, axes + 1)[:, :, :axes]
    singular = np.linalg.det(linear.astype(np.float64)) == 0
    if not inverse_map:
        check_samples(
            singular,
            lambda _: "warp_affine: matrix has no inverse; with inverse_map=False it needs one",
            argument="matrix",
        )


@operator(
    setup=setup,
    setup_needs=lambda arguments: ("size",),
    layouts=("HWC", "DHWC"),
    takes_frames="inputs",
    free_padding="all",
    nanoseconds=4.0,
    source="operators/image/remap/warp_affine_params.h",
)
def warp_affine(
    data: Array,
    mtx: Array | None = None,
    /,
    *,
    dtype: Static[np.dtype | None] = None,
    fill_value: Static[float | None] = None,
    interp_type: Static[DALIInterpType] = INTERP_LINEAR,
    inverse_map: Static[bool] = True,
    matrix: PerFrame[tuple[float, ...] | Matrix] = (),
    size: PerSample[tuple[float | np.integer, ...]] = (),
    extent: tuple[Array, ...],
    out_extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Warps an image or a volume by an affine transform, which gives a point of the input for each output pixel.

    out(x, y) = in(M11·x + M12·y + M13, M21·x + M22·y + M23), where (0, 0) is the corner of the first pixel.

    Args:
        data: [H, W, C], or a volume [D, H, W, C].
        mtx: [2, 3] (or [3, 4]), the transform in place of `matrix`.
        dtype: output type; None: the input's.
        fill_value: value outside of the input, in the output's type; None: the border is
            repeated.
        interp_type: INTERP_NN or INTERP_LINEAR.
        inverse_map: True: the transform maps output to input; False: it maps input to output, and is
            inverted first.
        matrix: the transform row by row, 6 values (12 for volumes); its axes are in the order x, y(, z).
        size: size of the output, ([D,] H, W), rounded to the nearest integer; empty: the input's.

    Returns: [*size, C], `dtype`, rounded half away from zero and saturated.

    Parity: as with `rotate`, points of large images differ from DALI's by 0.01 pixel and more, and a
    per-sample `size` is rounded like a constant one.

    Example: images = fn.warp_affine(images, matrix=[1.0, 0.3, -20.0, 0.1, 0.9, 10.0], fill_value=0)
    """
    axes = data.ndim - 1
    transform = _as_transform(matrix if mtx is None else mtx, axes)
    linear, shift = transform[:, :axes], transform[:, axes]
    origin = jnp.zeros_like(shift)
    if inverse_map:
        parameters = (linear, origin, shift)
    else:
        parameters = (inverse(linear), shift, origin)
    return _warp.warp(
        data,
        _warp.affine_points,
        parameters,
        extent[0],
        out_extent,
        out_shape,
        interp_type=interp_type,
        fill_value=fill_value,
        dtype=dtype,
    )


def _as_transform(matrix: Vector | Matrix, axes: int) -> Array:
    """Arranges a list of values, or a padded matrix, as float32 [axes, axes + 1]."""
    values = jnp.asarray(matrix, jnp.float32)
    if values.ndim == 1:
        return values.reshape(axes, axes + 1)
    # The layout adapter treats a second input as an image without channels, and appends a third axis to the matrix.
    return values.reshape(values.shape[:2])[:axes, : axes + 1]
