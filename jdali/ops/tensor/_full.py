"""full, zeros, ones and their `_like` forms: fill tensors with a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali import types
from jdali._batches import BatchSpec, size_text
from jdali._errors import check_samples
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import PerSample, Static, operator


def _shape_spec(name: str, shape: np.ndarray, dtype: np.dtype, layout: str | None) -> BatchSpec:
    """Makes the spec of a batch from `shape`: [N, k], a shape per sample, or [N], the lengths of one-axis samples."""
    extents = shape[:, None] if shape.ndim == 1 else shape
    check_samples(
        (extents < 0).any(axis=1),
        lambda i: f"{name}: Input size less than zero not supported. Got shape {size_text(extents[i])}",
        argument="shape",
    )
    if layout and len(layout) != extents.shape[1]:
        raise ValueError(f"{name}: layout {layout!r} does not fit {extents.shape[1]} axes")
    return BatchSpec(extents, dtype, layout or "")


def _check_broadcast(name: str, fill: BatchSpec, out: BatchSpec) -> None:
    """Raises an error unless `fill` broadcasts to `out`, or `out` has one element and `fill` has at least one."""
    ndim = max(fill.ndim, out.ndim)
    theirs, ours = (
        np.pad(spec.extents, ((0, 0), (ndim - spec.ndim, 0)), constant_values=1) for spec in (fill, out)
    )
    wrong = ((theirs != 1) & (theirs != ours)).any(axis=1) & ((ours != 1) | (theirs == 0)).any(axis=1)
    check_samples(
        wrong,
        lambda i: (
            f"{name}: Shapes {size_text(out.extents[i])} and {size_text(fill.extents[i])} can't be broadcast: a "
            "fill_value must have 1 or the result's size along each axis, or the result one element"
        ),
    )


def _broadcast(fill: Array, extent: Array, shape: Sequence[int]) -> Array:
    """Broadcasts the part of `fill` inside of `extent` to `shape`. Takes index 0 of leading axes that `shape` lacks."""
    more = max(fill.ndim - len(shape), 0)
    fill, extent = fill[(0,) * more], extent[more:]
    for axis in range(fill.ndim):
        size = shape[len(shape) - fill.ndim + axis]
        index = jnp.minimum(jnp.arange(size, dtype=jnp.int32), extent[axis] - 1)
        fill = jnp.take(fill, index, axis=axis, mode="clip")
    return jnp.broadcast_to(fill, tuple(shape))


def setup_full(fill_value: BatchSpec, *, layout: str | None, shape: np.ndarray) -> BatchSpec:
    out = _shape_spec("full", shape, fill_value.dtype, layout)
    _check_broadcast("full", fill_value, out)
    return out


@operator(setup=setup_full, devices=("cpu",), source="operators/generic/constant_value.cc")
def full(
    fill_value: Array,
    /,
    *,
    layout: Static[str | None] = None,
    shape: PerSample[tuple[int, ...]] = (),
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Fills a tensor with a value.

    Args:
        fill_value: any type; broadcast to `shape` as in NumPy. If it has more axes than `shape`, the leading ones must
            have size 1. A result of one element takes the first element of any `fill_value`, as in DALI.
        layout: layout of the result.
        shape: shape of the result; empty: a scalar.

    Returns: [*shape], dtype of `fill_value`.

    Example: sevens = fn.full(seven, shape=[2, 2])
    """
    return _broadcast(fill_value, extent, out_shape)


def setup_full_like(data_like: BatchSpec, fill_value: BatchSpec) -> BatchSpec:
    _check_broadcast("full_like", fill_value, data_like)
    return data_like


@operator(setup=setup_full_like, devices=("cpu",), source="operators/generic/constant_value.cc")
def full_like(
    data_like: Array,
    fill_value: Array,
    /,
    *,
    extent: tuple[Array, ...],
    out_shape: tuple[int, ...],
) -> Array:
    """Fills a tensor with a value, in the shape and type of another tensor.

    Args:
        data_like: tensor whose shape, type and layout the result takes.
        fill_value: broadcast as in `full`; rounds half away from zero and saturates.

    Returns: shape and dtype of `data_like`.

    Example: sevens = fn.full_like(numbers, seven)
    """
    return saturate_cast(_broadcast(fill_value, extent[1], out_shape), data_like.dtype)


def _setup_constant(name: str) -> Callable[..., BatchSpec]:
    def setup(*, dtype: np.dtype, layout: str | None, shape: np.ndarray) -> BatchSpec:
        return _shape_spec(name, shape, dtype, layout)

    return setup


@operator(setup=_setup_constant("zeros"), devices=("cpu",), source="operators/generic/constant_value.cc")
def zeros(
    *,
    dtype: Static[np.dtype | types.DALIDataType] = types.INT32,
    layout: Static[str | None] = None,
    shape: PerSample[tuple[int, ...]] = (),
    out_shape: tuple[int, ...],
) -> Array:
    """Makes a tensor of zeros.

    Args:
        dtype: type of the result.
        layout: layout of the result.
        shape: shape of the result; empty: a scalar.

    Returns: [*shape], `dtype`.

    Example: zeros = fn.zeros(shape=[2, 3])
    """
    return jnp.zeros(out_shape, types.to_dtype(dtype))


@operator(setup=_setup_constant("ones"), devices=("cpu",), source="operators/generic/constant_value.cc")
def ones(
    *,
    dtype: Static[np.dtype | types.DALIDataType] = types.INT32,
    layout: Static[str | None] = None,
    shape: PerSample[tuple[int, ...]] = (),
    out_shape: tuple[int, ...],
) -> Array:
    """Makes a tensor of ones.

    Args:
        dtype: type of the result.
        layout: layout of the result.
        shape: shape of the result; empty: a scalar.

    Returns: [*shape], `dtype`.

    Example: ones = fn.ones(shape=[2, 3])
    """
    return jnp.ones(out_shape, types.to_dtype(dtype))


def _setup_like(data_like: BatchSpec, *, dtype: np.dtype | None) -> BatchSpec:
    return data_like.replace(dtype=dtype or data_like.dtype)


@operator(setup=_setup_like, devices=("cpu",), source="operators/generic/constant_value.cc")
def zeros_like(
    data_like: Array,
    /,
    *,
    dtype: Static[np.dtype | None] = None,
    out_shape: tuple[int, ...],
) -> Array:
    """Makes a tensor of zeros in the shape of another tensor.

    Args:
        data_like: tensor whose shape, type and layout the result takes.
        dtype: type of the result; None: the dtype of `data_like`.

    Returns: shape of `data_like`, `dtype`.

    Example: zeros = fn.zeros_like(numbers)
    """
    return jnp.zeros(out_shape, dtype or data_like.dtype)


@operator(setup=_setup_like, devices=("cpu",), source="operators/generic/constant_value.cc")
def ones_like(
    data_like: Array,
    /,
    *,
    dtype: Static[np.dtype | None] = None,
    out_shape: tuple[int, ...],
) -> Array:
    """Makes a tensor of ones in the shape of another tensor.

    Args:
        data_like: tensor whose shape, type and layout the result takes.
        dtype: type of the result; None: the dtype of `data_like`.

    Returns: shape of `data_like`, `dtype`.

    Example: ones = fn.ones_like(numbers)
    """
    return jnp.ones(out_shape, dtype or data_like.dtype)
