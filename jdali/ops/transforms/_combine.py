from __future__ import annotations

from jax import Array

from jdali._batches import BatchSpec, Plan
from jdali._errors import InputCountError
from jdali._kernels.transform_plan import finish, matrix_axes, plan, transform_operator
from jdali._operators.record import Static

MOST_INPUTS = 99


def setup(*matrices: BatchSpec) -> Plan:
    name = "transforms.combine"
    if not 2 <= len(matrices) <= MOST_INPUTS:
        raise InputCountError(
            f"{name}: Operator {name} expects from 2 to {MOST_INPUTS} inputs, but received {len(matrices)}.",
            operator=name,
        )
    axes = matrix_axes(name, matrices[0])
    for i, matrix in enumerate(matrices[1:], 1):
        if (found := matrix_axes(name, matrix)) != axes:
            raise ValueError(
                f"{name}: All input transforms are expected to have the same shape. Got: {axes} x {axes + 1} and "
                f"{found} x {found + 1} for the {i}-th input"
            )
    return plan(name, matrices[0], axes, [])


@transform_operator(
    setup=setup,
    name="transforms.combine",
    source="operators/geometry/affine_transforms/combine_transforms.cc",
)
def combine(
    *matrices: Array,
    reverse_order: Static[bool] = False,
    _axes: Static[int] = 0,
    out_shape: tuple[int, ...],
) -> Array:
    """Composes transforms, which are applied in the order of the inputs.

    Args:
        matrices: 2 to 99 transforms, [n, n+1] each.
        reverse_order: apply the last input first.

    Returns: float32 [n, n+1].

    Example:
        turn = fn.transforms.rotation(angle=30.0)
        move = fn.transforms.translation(offset=[10.0, 0.0])
        matrix = fn.transforms.combine(turn, move)
    """
    result, *others = (matrix[:_axes, : _axes + 1] for matrix in matrices)
    for following in others:
        result = finish(following, result, reverse_order)
    return finish(result, None, False, out_shape)
