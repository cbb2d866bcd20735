"""Several affine transforms as one."""

from __future__ import annotations

from jax import Array

from jdali._batches import BatchSpec, Plan
from jdali._errors import InputCountError
from jdali._kernels.transform_plan import finish, matrix_axes, plan
from jdali._operators.record import Static, operator

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


@operator(
    setup=setup,
    name="transforms.combine",
    takes_frames="arguments",
    devices=("cpu",),
    source="operators/geometry/affine_transforms/combine_transforms.cc",
)
def combine(
    *matrices: Array,
    reverse_order: Static[bool] = False,
    _axes: Static[int | None] = None,
    out_shape: tuple[int, ...],
) -> Array:
    """Makes the transform that does all of them, the first one first.

    Args:
        matrices: [n, n+1] each, 2 to 99 of them.
        reverse_order: the last one is done first.

    Returns: float32 [n, n+1].

    Example:
        turn = fn.transforms.rotation(angle=30.0)
        move = fn.transforms.translation(offset=[10.0, 0.0])
        matrix = fn.transforms.combine(turn, move)
    """
    axes = _axes if _axes is not None else matrices[0].shape[0]
    result = finish(matrices[0][:axes, : axes + 1], None, False)
    for matrix in matrices[1:]:
        following = matrix[:axes, : axes + 1]
        result = finish(following, result, reverse_order)
    return finish(result, None, False, out_shape)
