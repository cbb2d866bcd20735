from __future__ import annotations

import jax.numpy as jnp
from jax import Array

from jdali._batches import BatchSpec, Plan
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


def setup(
    matrix: BatchSpec | None = None, *, from_end: object, from_start: object, to_end: object, to_start: object
) -> Plan:
    name = "transforms.crop"
    corners = {"from_start": from_start, "from_end": from_end, "to_start": to_start, "to_end": to_end}
    axes = max(length(c) or 1 for c in corners.values())
    if axes == 1 and matrix is not None:
        axes = matrix_axes(name, matrix)
    for argument, corner in corners.items():
        check_vector(name, argument, corner, axes)
    return plan(name, matrix, axes, list(corners.values()))


@transform_operator(
    setup=setup,
    name="transforms.crop",
    source="operators/geometry/affine_transforms/transform_crop.cc",
)
def crop(
    matrix: Array | None = None,
    /,
    *,
    absolute: Static[bool] = False,
    from_end: PerFrame[tuple[float, ...]] = (1.0,),
    from_start: PerFrame[tuple[float, ...]] = (0.0,),
    reverse_order: Static[bool] = False,
    to_end: PerFrame[tuple[float, ...]] = (1.0,),
    to_start: PerFrame[tuple[float, ...]] = (0.0,),
    _axes: Static[int] = 0,
    out_shape: tuple[int, ...],
) -> Array:
    """Makes the transform that maps `from_start` to `to_start` and `from_end` to `to_end`.

    Args:
        matrix: [n, n+1], a transform to apply first.
        absolute: swap a start and an end if the start is larger.
        from_end: upper corner of the input box, n values, or one for all axes.
        from_start: lower corner of the input box, n values, or one for all axes.
        reverse_order: apply `matrix` last.
        to_end: upper corner of the output box, n values, or one for all axes.
        to_start: lower corner of the output box, n values, or one for all axes.

    Returns: float32 [n, n+1]; infinite or NaN along axes on which the input box has length 0.

    Example:
        matrix = fn.transforms.crop(
            from_start=[0.0, 0.0], from_end=[1.0, 1.0], to_start=[0.25, 0.25], to_end=[0.75, 0.75]
        )
    """
    corners = [vector(c, None) for c in (from_start, from_end, to_start, to_end)]
    axes = max(_axes, *(c.size for c in corners))
    start, end, out_start, out_end = (vector(c, axes) for c in corners)
    if absolute:
        start, end = jnp.minimum(start, end), jnp.maximum(start, end)
        out_start, out_end = jnp.minimum(out_start, out_end), jnp.maximum(out_start, out_end)
    factors = (out_end - out_start) / (end - start)
    shift = out_start - factors * start
    # Not computed as a product with the identity, because 0 · infinity is NaN.
    linear = jnp.where(jnp.eye(axes, dtype=bool), factors, jnp.float32(0))
    own = jnp.concatenate([linear, shift[:, None]], axis=1)
    return finish(own, matrix, reverse_order, out_shape)
