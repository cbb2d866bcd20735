from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from jdali._batches import BatchSpec, Plan
from jdali._kernels.transform_plan import finish, length, matrix_axes, plan, transform_operator, vector
from jdali._operators.record import PerFrame, Static


def setup(matrix: BatchSpec | None = None, *, offset: object) -> Plan:
    name = "transforms.translation"
    axes = length(offset)
    if axes is None:
        axes = 2 if matrix is None else matrix_axes(name, matrix)
    return plan(name, matrix, axes, [offset])


@transform_operator(
    setup=setup,
    setup_needs=lambda arguments: (),
    name="transforms.translation",
    source="operators/geometry/affine_transforms/transform_translation.cc",
)
def translation(
    matrix: Array | None = None,
    /,
    *,
    offset: PerFrame[tuple[float, ...]],
    reverse_order: Static[bool] = False,
    _axes: Static[int | None] = None,
    out_shape: tuple[int, ...],
) -> Array:
    """Makes the transform that adds `offset`.

    Args:
        matrix: [n, n+1], a transform to apply first.
        offset: n values.
        reverse_order: apply `matrix` last.

    Returns: float32 [n, n+1].

    Example: matrix = fn.transforms.translation(matrix, offset=[10.0, 5.0])
    """
    shift = vector(offset, None)
    own = jnp.concatenate([jnp.eye(shift.size, dtype=jnp.float32), shift[:, None]], axis=1)
    return finish(own, matrix, reverse_order, out_shape)
