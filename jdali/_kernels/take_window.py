"""Takes a window out of one padded sample, on the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.typing import ArrayLike
from numpy.typing import DTypeLike

from jdali._kernels.border import INDICES
from jdali._numerics.platform import platform_dependent
from jdali._numerics.rounding import saturate_cast


def exact_anchor(position: ArrayLike, free: Array, rounding: str = "round") -> Array:
    """Computes the anchors of `crop_window` on the device: the exact product position × free, rounded.

    The float32 position is split into four 12-bit digits and multiplied in integers, because the error of a float32
    product could change how halves are rounded.

    Args:
        position: 0 to 1.
        free: int32, extent minus size, absolute value below 2**19.
        rounding: "round" (half away from zero) or "truncate".

    Returns: int32, with the sign of `free`.
    """
    count = jnp.abs(free).astype(jnp.uint32)
    rest = jnp.clip(jnp.asarray(position, jnp.float32), 0, 1)
    digits = []
    for _ in range(4):
        rest = rest * jnp.float32(4096)
        digit = jnp.floor(rest)
        digits.append(digit.astype(jnp.uint32))
        rest = rest - digit
    carry = jnp.zeros((), jnp.uint32)
    for digit in reversed(digits):
        total = digit * count + carry
        carry = total >> 12
    # `total` is the product in units of 1/4096; the dropped lower digits do not affect rounding.
    whole = carry if rounding == "truncate" else (total + 2048) >> 12
    return jnp.sign(free) * whole.astype(jnp.int32)


def saturate_truncate(value: Array, dtype: DTypeLike) -> Array:
    """Converts to `dtype` as `crop` and `slice` do: fractions are truncated; integers and float16 saturate."""
    target = np.dtype(dtype)
    floating = jnp.issubdtype(value.dtype, jnp.floating)
    if value.dtype == target:
        return value
    if jnp.issubdtype(target, jnp.floating):
        if target == np.float16 or value.dtype == np.float64:
            limit = float(np.finfo(target).max)
            value = jnp.clip(value.astype(np.float32) if not floating else value, -limit, limit)
        return value.astype(target)
    return saturate_cast(jnp.trunc(value) if floating else value, target)


def fill_constant(fill_values: object, dtype: np.dtype) -> np.ndarray:
    """Converts fill values [1] or [C] to the type of the output. For integer types, values are truncated and saturated."""
    values = np.atleast_1d(np.asarray(fill_values, np.float32))
    if jnp.issubdtype(dtype, jnp.floating):
        return values.astype(dtype)
    limits = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    # Values are clipped as Python integers, because floats do not hold the limits of 64-bit types.
    return np.array([min(max(int(v), int(limits[0])), int(limits[1])) for v in values], dtype)


Indices = Sequence[Array | None]


def window_indices(
    anchors: Sequence[Array | None],
    shape: Sequence[int],
    flips: Sequence[Array | None] | None = None,
    sizes: Array | None = None,
) -> list[Array | None]:
    """Computes the source index of each element of a window, axis by axis.

    Args:
        anchors: int32 [] for each axis; None: the window begins at the start of the sample.
        shape: padded shape of the window.
        flips: for each axis bool [], True to mirror the window, or None for an axis that is not mirrored.
        sizes: int32 [ndim], the true size of the window; needed for flips.

    Returns: int32 [size] for each axis, or None for an axis that is neither cut nor mirrored. Indices may lie
        outside of the sample; indices past the true size of the window are unspecified.
    """
    indices: list[Array | None] = []
    for axis, (anchor, size) in enumerate(zip(anchors, shape, strict=True)):
        flip = flips[axis] if flips is not None else None
        if anchor is None and flip is None:
            indices.append(None)
            continue
        index = jnp.arange(size, dtype=jnp.int32)
        if flip is not None:
            assert sizes is not None
            index = jnp.where(flip, sizes[axis] - 1 - index, index)
        indices.append(index if anchor is None else index + anchor)
    return indices


def bordered(indices: Indices, extent: Array, border: str) -> list[Array | None]:
    """Maps indices out of bounds to elements of the sample; `border` is a key of `INDICES`."""
    return [
        None if index is None else INDICES[border](index, extent[axis]) for axis, index in enumerate(indices)
    ]


def cut_window(value: Array, anchors: Sequence[Array | None], shape: Sequence[int]) -> Array:
    """Cuts out a window of padded shape `shape`, filled with 0 outside of `value`.

    Rows are copied whole. This takes half the time of `take_window` on a CPU, and a thirtieth on a TPU.

    Args:
        anchors: int32 [] for each axis; None: the window begins at the start of the sample.
        shape: padded shape of the window.
    """
    starts, padding = [], []
    for axis, (anchor, size) in enumerate(zip(anchors, shape, strict=True)):
        if anchor is None:
            value = fit_axis(value, axis, size)
        frame = 0 if anchor is None else size
        starts.append(jnp.int32(0) if anchor is None else jnp.clip(anchor, -size, value.shape[axis]) + size)
        padding.append((frame, frame, 0))
    framed = lax.pad(value, jnp.zeros((), value.dtype), padding)
    # Without the barrier, JAX 0.12's XLA would compute the starts again for each element.
    return lax.dynamic_slice(framed, lax.optimization_barrier(starts), shape)


def take_window(value: Array, indices: Indices, shape: Sequence[int]) -> Array:
    """Takes a window of padded shape `shape`; indices outside of the padded sample are clipped."""
    for axis, (index, size) in enumerate(zip(indices, shape, strict=True)):
        if index is None:
            value = fit_axis(value, axis, size)
        elif value.shape[axis] == 0:
            value = fit_axis(value, axis, 1)
    # Without the barrier, JAX 0.12's XLA would compute the indices again for each element.
    return take_grid(value, lax.optimization_barrier(list(indices)), mode="clip")


def take_grid(value: Array, indices: Indices, mode: Literal["clip", "promise_in_bounds"]) -> Array:
    """Takes the elements at each combination of the axes' indices; None takes the whole axis."""

    def axis_by_axis(value: Array, indices: Indices) -> Array:
        for axis, index in enumerate(indices):
            if index is not None:
                value = value.at[(slice(None),) * axis + (index,)].get(mode=mode, wrap_negative_indices=False)
        return value

    def at_once(value: Array, indices: Indices) -> Array:
        """Gathers along all axes at once, because XLA compiles a gather along one axis to a gather and a transpose."""
        last = max((axis for axis, index in enumerate(indices) if index is not None), default=-1)
        every = [
            jnp.arange(value.shape[axis], dtype=jnp.int32) if index is None else index
            for axis, index in enumerate(indices[: last + 1])
        ]
        return value.at[jnp.ix_(*every)].get(mode=mode, wrap_negative_indices=False) if every else value

    result: Array = platform_dependent(
        value, list(indices), cpu=axis_by_axis, default=at_once, tpu=axis_by_axis
    )
    return result


def inside_window(indices: Indices, extent: Array) -> Array:
    """Returns a bool array that broadcasts to the window, True for elements inside of the sample."""
    inside = jnp.ones((1,) * len(indices), bool)
    for axis, index in enumerate(indices):
        if index is not None:
            mask = (index >= 0) & (index < extent[axis])
            inside = inside & jnp.expand_dims(mask, [a for a in range(len(indices)) if a != axis])
    return inside


def per_channel(value: Any, layout: str) -> Any:
    """Reshapes values [1] or [C], so that they broadcast against data with the layout `layout`."""
    shape = [1] * len(layout)
    if value.shape[0] > 1:
        shape[layout.index("C")] = value.shape[0]
    return value.reshape(shape)


def fit_axis(value: Array, axis: int, size: int) -> Array:
    """Cuts or zero-pads an axis at its end to `size`."""
    have = value.shape[axis]
    if have > size:
        index = [slice(None)] * value.ndim
        index[axis] = slice(0, size)
        return value[tuple(index)]
    if have < size:
        return jnp.pad(value, [(0, size - have if a == axis else 0) for a in range(value.ndim)])
    return value
