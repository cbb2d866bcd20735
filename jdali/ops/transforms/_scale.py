from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from jdali._batches import BatchSpec, Plan
from jdali._kernels.affine_matrix import about_center
from jdali._kernels.transform_plan import (
    check_vector,
    finish,
    length,
    matrix_axes,
    plan,
    transform_operator,
    vector,
)
from jdali._operators.record import PerFrame, Static


def setup(matrix: BatchSpec | None = None, *, center: object, ndim: int | None, scale: object) -> Plan:
    name = "transforms.scale"
    axes = length(scale)
    if axes is None or axes == 1:
        if matrix is not None:
            axes = matrix_axes(name, matrix)
        elif ndim is not None:
            axes = ndim
        elif axes is None:
            axes = 2
    check_vector(name, "center", center, axes)
    return plan(name, matrix, axes, [scale, center])


@transform_operator(
    setup=setup,
    setup_needs=lambda arguments: (),
    name="transforms.scale",
    source="operators/geometry/affine_transforms/transform_scale.cc",
)
def scale(
    matrix: Array | None = None,
    /,
    *,
    scale: PerFrame[tuple[float, ...]],
    center: PerFrame[tuple[float, ...] | None] = None,
    ndim: Static[int | None] = None,
    reverse_order: Static[bool] = False,
    _axes: Static[int | None] = None,
    out_shape: tuple[int, ...],
) -> Array:
    """Makes the transform that multiplies each coordinate by a factor.

    Args:
        matrix: [n, n+1], a transform to apply first.
        scale: factor of each axis, n values, or one for all axes.
        center: point that stays fixed, n values, or one for all axes; None: the origin.
        ndim: n, if neither `scale` nor `matrix` determines it.
        reverse_order: apply `matrix` last.

    Returns: float32 [n, n+1].

    Example: matrix = fn.transforms.scale(scale=[2.0, 0.5])
    """
    factors = vector(scale, None)
    factors = factors if factors.size > 1 else vector(scale, _axes)
    own = about_center(jnp.eye(factors.size, dtype=jnp.float32) * factors, center)
    return finish(own, matrix, reverse_order, out_shape)
