"""reshape and reinterpret: arrange the same elements, or the same bytes, in another shape."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec, size_text
from jdali._errors import check_samples
from jdali._kernels.relayout import linear_index, relayout, take_linear
from jdali._numerics.rounding import np_round_half_away
from jdali._operators.record import PerSample, Static, also_takes, operator


def setup_reshape(
    data: BatchSpec,
    shape_input: np.ndarray | None = None,
    *,
    layout: str | None,
    rel_shape: np.ndarray | None,
    shape: np.ndarray | None,
    src_dims: np.ndarray | None,
) -> BatchSpec:
    return _plan("reshape", data, data.dtype, shape_input, shape, rel_shape, src_dims, layout)


def setup_reinterpret(
    data: BatchSpec,
    shape_input: np.ndarray | None = None,
    *,
    dtype: np.dtype | None,
    layout: str | None,
    rel_shape: np.ndarray | None,
    shape: np.ndarray | None,
    src_dims: np.ndarray | None,
) -> BatchSpec:
    return _plan("reinterpret", data, dtype, shape_input, shape, rel_shape, src_dims, layout)


def _plan(
    name: str,
    data: BatchSpec,
    dtype: np.dtype | None,
    shape_input: np.ndarray | None,
    shape: np.ndarray | None,
    rel_shape: np.ndarray | None,
    src_dims: np.ndarray | None,
    layout: str | None,
) -> BatchSpec:
    """Makes the spec of the result of `reshape` and `reinterpret`."""
    if sum(s is not None for s in (shape_input, shape, rel_shape)) > 1:
        raise ValueError(
            f"{name}: Shape input, `shape` argument and `rel_shape` argument are mutually exclusive"
        )
    out_dtype = data.dtype if dtype is None else dtype
    wanted = shape if shape_input is None else shape_input
    if wanted is not None:
        if wanted.dtype.kind not in "iu":
            raise ValueError(f"{name}: Shape input must have integral type; got: {wanted.dtype}")
        if wanted.ndim > 2:
            raise ValueError(
                f"{name}: shape input must be a list of 1D tensors or a single 2D tensor. Got shapes "
                f"{size_text(wanted.shape[1:])}"
            )
        target = _columns(wanted).astype(np.int64)
    elif rel_shape is not None:
        if not rel_shape[:1].size:
            raise ValueError(f"{name}: `rel_shape` specified as an empty list")
        target = _relative(name, data, _columns(rel_shape), src_dims)
    elif src_dims is not None or (dtype is not None and dtype != data.dtype):
        target = data.extents if src_dims is None else _chosen(name, data, src_dims)
        target = _resize_innermost(name, target, data.dtype, out_dtype)
    elif layout is not None or (dtype is not None and name == "reinterpret"):
        target = data.extents
    else:
        raise ValueError(
            f"{name}: `{name}` is no-op: arguments specify neither new shape"
            + (", layout nor type." if name != "reshape" else " nor layout.")
        )
    extents = _fill_in(name, data, target, out_dtype)
    if layout is not None and layout and len(layout) != extents.shape[1]:
        raise ValueError(
            f"{name}: Requested layout '{layout}' is not compatible with a {extents.shape[1]}D shape"
        )
    if layout is None:
        layout = data.layout if extents.shape[1] == data.ndim else ""
    return BatchSpec(extents, out_dtype, layout)


def _columns(values: np.ndarray) -> np.ndarray:
    """Arranges per-sample vectors as [N, k]; numbers become vectors of one element."""
    return values[:, None] if values.ndim == 1 else values


def _chosen(name: str, data: BatchSpec, src_dims: np.ndarray) -> np.ndarray:
    """Returns the extents of the axes `src_dims`, [N, k]; -1 in `src_dims` gives an extent of 1."""
    dims = _columns(src_dims).astype(np.int64)
    check_samples(
        (dims < -1) | (dims >= data.ndim),
        lambda i, k: (
            f"{name}: `src_dims[{k}] == {int(dims[i, k])}` is out of bounds. The indices in `src_dims` should be "
            f"either valid dimension indices in range [0..{data.ndim - 1}] or -1 to insert a new dimension."
        ),
        argument="src_dims",
    )
    padded = np.concatenate([data.extents, np.ones((data.batch_size, 1), np.int64)], axis=1)
    return np.take_along_axis(padded, np.where(dims < 0, data.ndim, dims), axis=1)


def _relative(name: str, data: BatchSpec, factors: np.ndarray, src_dims: np.ndarray | None) -> np.ndarray:
    """Multiplies extents by factors, rounding half away from zero; a negative factor gives -1."""
    count = factors.shape[1]
    if src_dims is not None:
        source = _chosen(name, data, src_dims)
        if source.shape[1] != count:
            raise ValueError(
                f"{name}: `src_dims` and `rel_shape` have different lengths: {source.shape[1]} vs {count}"
            )
    elif count > data.ndim + 1 or (count == data.ndim + 1 and not (factors[:, -1] < 0).all()):
        raise ValueError(
            f"{name}: `rel_shape` has more elements ({count}) than there are dimensions in the input ({data.ndim}). "
            "To add new dimensions, use `src_dims` to specify the mapping between input and output dimensions."
        )
    else:
        source = np.pad(data.extents, ((0, 0), (0, 1)), constant_values=1)[:, :count]
    sizes = np_round_half_away(source * factors.astype(np.float32)).astype(np.int64)
    return np.where(factors < 0, -1, sizes)


def _resize_innermost(name: str, extents: np.ndarray, dtype: np.dtype, out_dtype: np.dtype) -> np.ndarray:
    """Scales the innermost extent so that elements of `out_dtype` fill the same bytes as elements of `dtype`."""
    if dtype.itemsize == out_dtype.itemsize:
        return extents
    row = extents[:, -1] * dtype.itemsize if extents.shape[1] else np.full(len(extents), -1)
    if (row % out_dtype.itemsize).any() or not extents.shape[1]:
        raise ValueError(
            f"{name}: The size, in bytes, of the innermost dimension is not divisible by the sizes of the requested "
            f"output type, {out_dtype}; give a shape"
        )
    return np.concatenate([extents[:, :-1], row[:, None] // out_dtype.itemsize], axis=1)


def _fill_in(name: str, data: BatchSpec, target: np.ndarray, out_dtype: np.dtype) -> np.ndarray:
    """Replaces a negative extent of `target` so that the result has as many bytes as the data; raises if no extent fits."""
    size = data.extents.prod(axis=1) * data.dtype.itemsize
    free = target < 0
    known = np.where(free, 1, target).prod(axis=1) * out_dtype.itemsize
    if free.any():
        if (free.sum(axis=1) > 1).any():
            raise ValueError(f"{name}: Only one negative extent is allowed; got: {size_text(target[0])}")
        if (known == 0).any():
            raise ValueError(
                f"{name}: Extent of 0 is illegal; got: {size_text(target[0])}: it leaves the negative one undefined"
            )
        target = np.where(free, (size // np.maximum(known, 1))[:, None], target)
    volume = target.prod(axis=1) * out_dtype.itemsize
    check_samples(
        volume != size,
        lambda i: (
            f"{name}: Input and output samples must occupy the same size in bytes. The volume of the new shape should match "
            f"the one of the original shape. Input shape: {size_text(data.extents[i])} of {data.dtype}, requested shape: "
            f"{size_text(target[i])} of {out_dtype}"
        ),
    )
    return np.asarray(target, np.int64)


def _shape_options(
    *,
    layout: Static[str | None] = None,
    rel_shape: PerSample[tuple[float, ...] | None] = None,
    shape: PerSample[tuple[int | np.integer, ...] | None] = None,
    src_dims: PerSample[tuple[int, ...] | None] = None,
) -> None:
    """Declares the arguments of reshape and reinterpret. Only `setup` uses them.

    Args:
        layout: layout of the result; None: the input's if the number of axes is the same, otherwise no layout.
        rel_shape: shape as factors of the input's extents; products are rounded. If one factor is negative, the extent of
            that axis is computed from the number of elements.
        shape: new shape. If one extent is negative, it is computed from the number of elements.
        src_dims: for each axis of the result, the input axis whose extent it gets; -1: an extent of 1. `rel_shape`
            multiplies these extents.
    """


@operator(setup=setup_reshape, source="operators/generic/reshape.cc")
@also_takes(_shape_options)
def reshape(
    data: Array,
    shape_input: PerSample[Array | None] = None,
    /,
    *,
    extent: tuple[Array, ...],
    out_extent: Array,
    out_shape: tuple[int, ...],
    **_: object,
) -> Array:
    """Arranges the same elements, in row-major order, in another shape.

    Args:
        data: any shape and type.
        shape_input: integers, in place of `shape`.

    Returns: the same type and number of elements.

    Example: numbers = fn.reshape(numbers, shape=[3, -1])
    """
    return relayout(data, extent[0], out_extent, out_shape)


@operator(setup=setup_reinterpret, source="operators/generic/reshape.cc")
@also_takes(_shape_options)
def reinterpret(
    data: Array,
    shape_input: PerSample[Array | None] = None,
    /,
    *,
    dtype: Static[np.dtype | None] = None,
    extent: tuple[Array, ...],
    out_extent: Array,
    out_shape: tuple[int, ...],
    **_: object,
) -> Array:
    """Reads the same bytes, little-endian, as elements of another type in another shape.

    Args:
        data: any shape and type.
        shape_input: integers, in place of `shape`.
        dtype: new type; None: the same. Without a shape, the innermost axis grows or shrinks by the
            ratio of the types' sizes.

    Returns: the same bytes.

    Example: bits = fn.reinterpret(numbers, dtype=types.INT32)
    """
    out = np.dtype(dtype or data.dtype)
    if out == data.dtype:
        return relayout(data, extent[0], out_extent, out_shape)
    compact = take_linear(data, extent[0], jnp.arange(math.prod(data.shape), dtype=jnp.int32))
    elements = _bits(compact, out)
    return take_linear(elements, jnp.asarray(elements.shape, jnp.int32), linear_index(out_extent, out_shape))


def _bits(values: Array, dtype: np.dtype) -> Array:
    """Reads a vector's bytes as another type; an incomplete last element is padded with zeros."""
    if values.dtype == np.bool_:
        values = values.astype(jnp.uint8)
    target = np.dtype(np.uint8) if dtype == np.bool_ else dtype
    ratio = target.itemsize // values.dtype.itemsize
    if ratio > 1:
        values = jnp.pad(values, (0, -len(values) % ratio)).reshape(-1, ratio)
    bits = lax.bitcast_convert_type(values, target).reshape(-1)
    return bits != 0 if dtype == np.bool_ else bits
