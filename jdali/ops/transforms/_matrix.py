"""Affine transforms: rotation matrices, composition, inverse.

A transform is a float32 matrix [n, n+1]: a linear part and a shift. Products are written as sums and
not as dots, which some accelerators do with less than float32 precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

Vector: TypeAlias = ArrayLike | Sequence[float]


def rotation_matrix(angle: ArrayLike, axis: Vector | None = None) -> Array:
    """Rotation in the plane, from x towards y, or in space, around an axis.

    Args:
        angle: float32 [], degrees.
        axis: float32 [3], (x, y, z), of any length but 0; None: in the plane.

    Returns: float32 [2, 2] or [3, 3].
    """
    radians = jnp.asarray(angle, jnp.float32) * jnp.float32(jnp.pi / 180)
    cos, sin = jnp.cos(radians), jnp.sin(radians)
    if axis is None:
        return jnp.stack([jnp.stack([cos, -sin]), jnp.stack([sin, cos])])
    direction = jnp.asarray(axis, jnp.float32)
    x, y, z = direction / jnp.sqrt(jnp.sum(direction * direction))
    # Rodrigues: cos·I + sin·[a]× + (1 - cos)·a·aᵀ
    zero = jnp.zeros_like(x)
    cross = jnp.stack([jnp.stack([zero, -z, y]), jnp.stack([z, zero, -x]), jnp.stack([-y, x, zero])])
    unit = jnp.stack([x, y, z])
    outer = unit[:, None] * unit[None, :]
    return cos * jnp.eye(3, dtype=jnp.float32) + sin * cross + (1 - cos) * outer


def apply_linear(linear: Array, point: Array) -> Array:
    """`linear` [m, n] times `point` [..., n]: [..., m]."""
    return jnp.sum(linear * point[..., None, :], axis=-1)


def about_center(linear: Array, center: Vector | None) -> Array:
    """`linear` [n, n] as a transform that leaves `center` [n] or [] (None: the origin) where it is."""
    n = linear.shape[0]
    if center is None:
        shift = jnp.zeros(n, jnp.float32)
    else:
        point = jnp.broadcast_to(jnp.asarray(center, jnp.float32), (n,))
        shift = point - apply_linear(linear, point)
    return jnp.concatenate([linear, shift[:, None]], axis=1)


def compose(first: Array, second: Array) -> Array:
    """The transform that does `first`, then `second`."""
    n = second.shape[0]
    product = jnp.sum(second[:, :n, None] * first[None, :, :], axis=1)
    return product.at[:, n].add(second[:, n])


def inverse(transform: Array) -> Array:
    """The transform that undoes `transform`, n = 1, 2 or 3; not finite where there is none."""
    n = transform.shape[0]
    a = transform[:, :n]
    if n == 1:
        adjugate, determinant = jnp.ones((1, 1), jnp.float32), a[0, 0]
    elif n == 2:
        adjugate = jnp.stack([jnp.stack([a[1, 1], -a[0, 1]]), jnp.stack([-a[1, 0], a[0, 0]])])
        determinant = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    else:
        # The columns of the adjugate are the cross products of the rows.
        adjugate = jnp.stack([jnp.cross(a[1], a[2]), jnp.cross(a[2], a[0]), jnp.cross(a[0], a[1])], axis=1)
        determinant = jnp.sum(a[0] * adjugate[:, 0])
    linear = adjugate / determinant
    return jnp.concatenate([linear, -apply_linear(linear, transform[:, n])[:, None]], axis=1)
