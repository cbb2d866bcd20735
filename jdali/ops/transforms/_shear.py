from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan, size_text
from jdali._errors import check_samples
from jdali._kernels.affine_matrix import Matrix, about_center
from jdali._kernels.transform_plan import (
    check_vector,
    finish,
    length,
    matrix_axes,
    plan,
    sample_shape,
    transform_operator,
)
from jdali._operators.record import PerFrame, Static, is_traced


def setup(matrix: BatchSpec | None = None, *, angles: Any, center: Any, shear: Any) -> Plan:
    name = "transforms.shear"
    if (angles is None) == (shear is None):
        raise ValueError(
            f"{name}: One and only one of the following arguments is expected: ``shear`` or ``angles``"
        )
    argument, values = ("shear", shear) if angles is None else ("angles", angles)
    count = length(values)
    if count is None:
        axes = 2 if matrix is None else matrix_axes(name, matrix)
    elif count in (2, 6):
        axes = 2 if count == 2 else 3
    else:
        if len(shape := sample_shape(values) or ()) > 1:
            raise ValueError(
                f"{name}: Shear coefficient must be a D x (D-1) matrix or a 2-element vector. Got: {size_text(shape)}"
            )
        raise ValueError(
            f"{name}: Shear matrix must have D*(D-1) elements where D is the number of dimensions. Got {count} elements: "
            f"{argument} must have 2 values, or 6 in space"
        )
    if argument == "angles" and not is_traced(values):
        check_samples(
            np.abs(values) > 90,
            lambda i, k: (
                f"{name}: Angle is expected to be in the range [-90, 90]. Got: {values[i, k]:g} degrees"
            ),
            argument="angles",
        )
    check_vector(name, "center", center, axes)
    return plan(name, matrix, axes, [values, center])


@transform_operator(
    setup=setup,
    setup_needs=lambda arguments: ("angles",) if "angles" in arguments else (),
    name="transforms.shear",
    source="operators/geometry/affine_transforms/transform_shear.cc",
)
def shear(
    matrix: Array | None = None,
    /,
    *,
    angles: PerFrame[tuple[float, ...] | Matrix | None] = None,
    center: PerFrame[tuple[float, ...] | None] = None,
    reverse_order: Static[bool] = False,
    shear: PerFrame[tuple[float, ...] | Matrix | None] = None,
    _axes: Static[int | None] = None,
    out_shape: tuple[int, ...],
) -> Array:
    """Makes the transform of a shear, which adds multiples of the other coordinates to each coordinate.

    Args:
        matrix: [n, n+1], a transform to apply first.
        angles: degrees, -90 to 90, whose tangents are the factors; in place of `shear`.
        center: point that stays fixed, n values, or one for all axes; None: the origin.
        reverse_order: apply `matrix` last.
        shear: factors (xy, yx), or in space (xy, xz, yx, yz, zx, zy); x becomes x + xy · y.

    Returns: float32 [2, 3] or [3, 4].

    Example: matrix = fn.transforms.shear(shear=[0.3, 0.0])
    """
    if angles is not None:
        factors = jnp.tan(jnp.asarray(angles, jnp.float32) * jnp.float32(jnp.pi / 180))
    else:
        factors = jnp.asarray(shear, jnp.float32)
    factors = factors.reshape(-1)
    axes = 2 if factors.size == 2 else 3
    others = ~np.eye(axes, dtype=bool)
    linear = jnp.eye(axes, dtype=jnp.float32).at[np.nonzero(others)].set(factors)
    return finish(about_center(linear, center), matrix, reverse_order, out_shape)
