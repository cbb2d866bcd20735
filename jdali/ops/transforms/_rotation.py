from __future__ import annotations

from jax import Array

from jdali._batches import BatchSpec, Plan
from jdali._kernels.affine_matrix import about_center, rotation_matrix
from jdali._kernels.transform_plan import check_vector, finish, length, plan, transform_operator, vector
from jdali._operators.record import PerFrame, Static


def setup(matrix: BatchSpec | None = None, *, angle: object, axis: object, center: object) -> Plan:
    name = "transforms.rotation"
    if length(axis) not in (None, 1, 3):
        raise ValueError(
            f'{name}: Argument "axis" expected shape 3 but got {length(axis)} values, which can\'t be interpreted as the '
            "expected shape: x, y, z"
        )
    axes = 2 if axis is None else 3
    check_vector(name, "center", center, axes)
    return plan(name, matrix, axes, [angle, axis, center])


@transform_operator(
    setup=setup,
    setup_needs=lambda arguments: (),
    name="transforms.rotation",
    source="operators/geometry/affine_transforms/transform_rotation.cc",
)
def rotation(
    matrix: Array | None = None,
    /,
    *,
    angle: PerFrame[float],
    axis: PerFrame[tuple[float, ...] | None] = None,
    center: PerFrame[tuple[float, ...] | None] = None,
    reverse_order: Static[bool] = False,
    _axes: Static[int | None] = None,
    out_shape: tuple[int, ...],
) -> Array:
    """Makes the transform of a rotation: in the plane from x towards y, or in space around an axis.

    Args:
        matrix: [n, n+1], a transform to apply first.
        angle: degrees.
        axis: (x, y, z), any nonzero length; None: a rotation in the plane.
        center: point that stays fixed, n values, or one for all axes; None: the origin.
        reverse_order: apply `matrix` last.

    Returns: float32 [2, 3], or [3, 4] with an `axis`.

    Example: matrix = fn.transforms.rotation(angle=30.0, center=[1.0, 1.0])
    """
    linear = rotation_matrix(angle, None if axis is None else vector(axis, 3))
    return finish(about_center(linear, center), matrix, reverse_order, out_shape)
