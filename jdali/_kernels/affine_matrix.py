"""Affine transforms: rotation matrices, composition, inverse.

A transform is a float32 matrix [n, n+1]: a linear part and a shift. Matrix products are written as sums, because
some accelerators compute `dot` with less than float32 precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from jdali._numerics.positions import quotient, rounded

Vector: TypeAlias = ArrayLike | Sequence[float]
Matrix: TypeAlias = tuple[tuple[float, ...], ...]


def rotation_matrix(angle: ArrayLike, axis: Vector | None = None) -> Array:
    """Makes the matrix of a rotation in the plane, from x towards y, or of a rotation in space, around `axis`.

    Args:
        angle: float32 [], degrees.
        axis: float32 [3], (x, y, z), any nonzero length; None: a rotation in the plane.

    Returns: float32 [2, 2] or [3, 3].
    """
    radians = rounded(jnp.asarray(angle, jnp.float32) * jnp.float32(jnp.pi / 180))
    cos, sin = jnp.cos(radians), jnp.sin(radians)
    if axis is None:
        return jnp.stack([jnp.stack([cos, -sin]), jnp.stack([sin, cos])])
    direction = jnp.asarray(axis, jnp.float32)
    squares = rounded(direction * direction)
    length = jnp.sqrt(rounded(squares[0] + squares[1]) + squares[2])
    x, y, z = (quotient(direction[i], length) for i in range(3))
    # Rodrigues: cos·I + sin·[a]× + (1 - cos)·a·aᵀ
    zero = jnp.zeros_like(x)
    cross = jnp.stack([jnp.stack([zero, -z, y]), jnp.stack([z, zero, -x]), jnp.stack([-y, x, zero])])
    unit = jnp.stack([x, y, z])
    outer = unit[:, None] * unit[None, :]
    return cos * jnp.eye(3, dtype=jnp.float32) + rounded(sin * cross) + rounded((1 - cos) * outer)


def apply_linear(linear: Array, point: Array) -> Array:
    """Multiplies `linear` [m, n] by `point` [..., n]: [..., m]."""
    return jnp.sum(rounded(linear * point[..., None, :]), axis=-1)


def about_center(linear: Array, center: Vector | None) -> Array:
    """Adds a shift to `linear` [n, n], so that `center` stays fixed.

    Args:
        center: [n], or [] if all coordinates are equal; None: the origin.
    """
    n = linear.shape[0]
    if center is None:
        shift = jnp.zeros(n, jnp.float32)
    else:
        point = jnp.broadcast_to(jnp.asarray(center, jnp.float32), (n,))
        shift = point - apply_linear(linear, point)
    return jnp.concatenate([linear, shift[:, None]], axis=1)


def compose(first: Array, second: Array) -> Array:
    """Composes two transforms: `first`, then `second`."""
    n = second.shape[0]
    product = jnp.sum(rounded(second[:, :n, None] * first[None, :, :]), axis=1)
    return product.at[:, n].add(second[:, n])


def inverse(matrix: Array) -> Array:
    """Inverts a float32 matrix [n, n], n = 1, 2 or 3, by cofactors; a singular matrix gives infinity or NaN."""
    n = matrix.shape[0]
    if n == 1:
        return 1 / matrix

    def minor(row: int, column: int) -> Array:
        if n == 2:
            return matrix[1 - row, 1 - column] * (1 - 2 * ((row + column) % 2))
        a, b = (row + 1) % 3, (row + 2) % 3
        c, d = (column + 1) % 3, (column + 2) % 3
        return rounded(matrix[a, c] * matrix[b, d]) - rounded(matrix[a, d] * matrix[b, c])

    cofactors = [[minor(row, column) for column in range(n)] for row in range(n)]
    determinant = rounded(matrix[0, 0] * cofactors[0][0])
    for column in range(1, n):
        determinant = determinant + rounded(matrix[0, column] * cofactors[0][column])
    rows = [[quotient(cofactors[row][column], determinant) for row in range(n)] for column in range(n)]
    return jnp.stack([jnp.stack(row) for row in rows])
