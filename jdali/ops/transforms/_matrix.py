"""Rotation matrices, and affine transforms put together from their parts."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike


def rotation_matrix(angle: ArrayLike, axis: ArrayLike | None = None) -> Array:
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
    """`linear` [m, n] times `point` [..., n]: in full float32 on every backend, unlike a dot."""
    return jnp.sum(linear * point[..., None, :], axis=-1)


def about_center(linear: Array, center: ArrayLike | None) -> Array:
    """Affine [n, n+1] that does `linear` [n, n] and leaves `center` [n] (None: the origin) where it is."""
    n = linear.shape[0]
    if center is None:
        shift = jnp.zeros(n, jnp.float32)
    else:
        point = jnp.broadcast_to(jnp.asarray(center, jnp.float32), (n,))
        shift = point - apply_linear(linear, point)
    return jnp.concatenate([linear, shift[:, None]], axis=1)


def compose(first: Array, second: Array) -> Array:
    """Affine [n, n+1] that does `first`, then `second`."""
    n = second.shape[0]
    product = jnp.sum(second[:, :n, None] * first[None, :, :], axis=1)
    return product.at[:, n].add(second[:, n])
