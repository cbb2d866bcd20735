"""Plans transforms: the number of axes and the shape of the matrix."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan, size_text
from jdali._kernels.affine_matrix import Vector, compose
from jdali._kernels.fit import fit
from jdali._operators.record import is_traced, operator

# DALI's layout of a matrix. Its axes have no letters, so it matches no layout that an operator accepts.
MATRIX_LAYOUT = "**"

# Decorator of the operators that make a transform.
transform_operator = functools.partial(operator, takes_frames="arguments", devices=("cpu",))


def length(argument: object) -> int | None:
    """Returns how many values per sample a `setup` argument has; None if it was not passed or its shape is not known yet."""
    shape = sample_shape(argument)
    return None if shape is None else int(np.prod(shape))


def sample_shape(argument: Any) -> tuple[int, ...] | None:
    """Returns the shape of one sample of a `setup` argument; None if it was not passed or its shape is not known yet."""
    shape = argument.known_shape if is_traced(argument) else None if argument is None else np.shape(argument)
    return None if shape is None else shape[1:]


def check_vector(name: str, argument: str, value: object, axes: int) -> None:
    """Raises an error unless an argument has one value, or one per axis."""
    if length(value) not in (None, 1, axes):
        raise ValueError(
            f'{name}: Argument "{argument}" expected shape {axes} but got {length(value)} values, which can\'t be '
            "interpreted as the expected shape. Arguments should have the same number of dimensions or be a single element "
            "which will be broadcast to all dimensions"
        )


def plan(name: str, matrix: BatchSpec | None, axes: int, arguments: Sequence[Any]) -> Plan:
    """Plans the output of an operator that makes a transform and composes it with `matrix`, if there is one.

    Args:
        matrix: spec of the input transform.
        axes: number of axes of the transform that the operator makes.
        arguments: per-sample arguments of `setup`. Without a matrix, they determine the batch size.
    """
    if matrix is None:
        shapes = [v.extents if is_traced(v) else v for v in arguments]
        # If no shape is known, the pure function was called inside `jit` or `grad`, with one sample.
        count = next((len(v) for v in shapes if v is not None), 1)
    else:
        check_matrix(name, matrix, axes)
        count = matrix.batch_size
    extents = np.broadcast_to(np.array([axes, axes + 1], np.int64), (count, 2))
    return Plan((BatchSpec(extents, np.dtype(np.float32), MATRIX_LAYOUT),), static={"_axes": axes})


def matrix_axes(name: str, matrix: BatchSpec) -> int:
    """Returns the number of axes of an input transform [n, n+1], the same for all samples."""
    if matrix.ndim != 2 or not matrix.is_uniform or (matrix.extents[:, 1] != matrix.extents[:, 0] + 1).any():
        raise ValueError(
            f"{name}: The input, if provided, is expected to be a 2D tensor with dimensions (ndim, ndim+1) representing an "
            f"affine transform, the same in all samples. Got: {', '.join(size_text(e) for e in matrix.extents[:4])}"
        )
    return int(matrix.extents[0, 0]) if matrix.batch_size else 2


def check_matrix(name: str, matrix: BatchSpec, axes: int) -> None:
    """Raises an error unless an input transform has `axes` axes."""
    found = matrix_axes(name, matrix)
    if found != axes:
        raise ValueError(
            f"{name}: The input describes a {found}D transform but other arguments suggest a {axes}D transform"
        )


def finish(
    own: Array, matrix: Array | None, reverse_order: bool, out_shape: tuple[int, ...] | None = None
) -> Array:
    """Composes `own` with the input transform, if there is one, and pads the result.

    Args:
        own: float32 [n, n+1].
        matrix: the input transform [n, n+1], may be padded.
        reverse_order: False: `own` is applied after `matrix`; True: before it.
        out_shape: padded shape of the result; None: no padding.
    """
    n = own.shape[0]
    if matrix is not None:
        first = matrix[:n, : n + 1].astype(jnp.float32)
        own = compose(own, first) if reverse_order else compose(first, own)
    return own if out_shape is None else fit(own, out_shape)


def vector(values: Vector, axes: int | None) -> Array:
    """Converts a scalar or a vector to float32 [axes]. If `axes` is None, keeps the vector's length."""
    array = jnp.atleast_1d(jnp.asarray(values, jnp.float32))
    return jnp.broadcast_to(array, (axes,)) if axes is not None else array
