"""squeeze and expand_dims: remove or insert axes of size 1."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan, size_text
from jdali._errors import absent_axis, check_samples
from jdali._kernels.fit import fit
from jdali._operators.record import Static, operator


def setup_squeeze(data: BatchSpec, *, axes: Any, axis_names: str | None) -> Plan:
    if (axes is None) == (axis_names is None):
        raise ValueError(
            "squeeze: Missing argument ``axes`` or ``axis_names``."
            if axes is None
            else "squeeze: Provided both ``axes`` and ``axis_names`` arguments; give one of them"
        )
    if axis_names is not None:
        missing = [letter for letter in axis_names if letter not in data.layout]
        if missing:
            raise absent_axis("squeeze", missing[0], data.layout)
        dropped = [data.layout.index(letter) for letter in axis_names]
    else:
        dropped = [axes] if isinstance(axes, int) else list(axes)
    wrong = [axis for axis in dropped if not 0 <= axis < data.ndim]
    if wrong:
        raise ValueError(f"squeeze: axis {wrong[0]} is out of range for {data.ndim} axes")
    if len(set(dropped)) != len(dropped):
        raise ValueError(
            f"squeeze: Specified at least twice same dimension to remove. Got axes {tuple(dropped)}"
        )
    kept = [a for a in range(data.ndim) if a not in dropped]
    extents = data.extents[:, kept]
    changed = extents.prod(axis=1) != data.extents.prod(axis=1)
    check_samples(
        changed,
        lambda i: (
            "squeeze: The volume of the new shape should match the one of the original shape. "
            f"Requested a shape with {extents[i].prod()} elements but the original shape has "
            f"{data.extents[i].prod()} elements. Axes {tuple(sorted(dropped))} of {size_text(data.extents[i])} "
            "are not all of size 1"
        ),
    )
    layout = "".join(data.layout[a] for a in kept) if data.layout else ""
    return Plan((BatchSpec(extents, data.dtype, layout),), static={"axes": tuple(sorted(dropped))})


@operator(setup=setup_squeeze, source="operators/generic/squeeze.cc")
def squeeze(
    data: Array,
    /,
    *,
    axes: Static[tuple[int, ...] | None] = None,
    axis_names: Static[str | None] = None,
    out_shape: tuple[int, ...],
) -> Array:
    """Removes axes of size 1. In a sample without elements, the axes may have any size.

    Args:
        data: any shape and type.
        axes: indices of the axes, 0 or more.
        axis_names: letters of the axes in the layout, in place of `axes`.

    Returns: the same elements and type.

    Parity: DALI ignores indices that are negative or too large; here they raise.

    Example: row = fn.squeeze(row, axes=[0, 1])
    """
    dropped = axes or ()
    if any(data.shape[a] == 0 for a in dropped):
        return jnp.zeros(out_shape, data.dtype)
    return fit(data[tuple(0 if a in dropped else slice(None) for a in range(data.ndim))], out_shape)


def setup_expand_dims(data: BatchSpec, *, axes: Any, new_axis_names: str) -> Plan:
    new_axes = [axes] if isinstance(axes, int) else list(axes)
    if new_axis_names and len(new_axis_names) != len(new_axes):
        raise ValueError(
            f"expand_dims: Specified {len(new_axes)} new dimensions, but layout contains only {len(new_axis_names)} new "
            "dimension names"
        )
    if any(axis < 0 for axis in new_axes):
        raise ValueError(f"expand_dims: Axis value can't be negative. Got axes {tuple(new_axes)}")
    if len(set(new_axes)) != len(new_axes):
        raise ValueError(f"expand_dims: Duplicate axis index found. Got axes {tuple(new_axes)}")
    ndim = data.ndim + len(new_axes)
    wrong = [axis for axis in new_axes if axis >= ndim]
    if wrong:
        raise ValueError(
            "expand_dims: Data has not enough dimensions to add new axes at specified indices. "
            f"Axis {wrong[0]} is out of range for a result of {ndim} axes"
        )
    if new_axis_names and data.ndim and not data.layout:
        raise ValueError("expand_dims: Specifying ``new_axis_names`` requires an input with a proper layout.")
    extents = np.ones((data.batch_size, ndim), np.int64)
    old = [a for a in range(ndim) if a not in new_axes]
    extents[:, old] = data.extents
    layout = "" if new_axes else data.layout
    if new_axis_names:
        letters = dict(zip(new_axes, new_axis_names, strict=True)) | dict(zip(old, data.layout, strict=True))
        layout = "".join(letters[a] for a in range(ndim))
    return Plan((BatchSpec(extents, data.dtype, layout),), static={"axes": tuple(sorted(new_axes))})


@operator(setup=setup_expand_dims, source="operators/generic/expand_dims.cc")
def expand_dims(
    data: Array,
    /,
    *,
    axes: Static[tuple[int, ...]],
    new_axis_names: Static[str] = "",
    out_shape: tuple[int, ...],
) -> Array:
    """Inserts axes of size 1.

    Args:
        data: any shape and type.
        axes: indices of the new axes in the result, in any order, 0 or more.
        new_axis_names: a letter for each of `axes`; "": the result has no layout.

    Returns: the same elements and type.

    Example: numbers = fn.expand_dims(numbers, axes=[0])
    """
    return fit(jnp.expand_dims(data, axes), out_shape)
