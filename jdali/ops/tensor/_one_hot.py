from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali import types
from jdali._batches import BatchSpec, Plan
from jdali._kernels.fit import fit
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import Static, operator


def setup(classes: BatchSpec, *, axis: int, axis_name: str | None, dtype: np.dtype, num_classes: int) -> Plan:
    if axis_name is not None and len(axis_name) != 1:
        raise ValueError(
            f'one_hot: Unsupported axis_name value. It must be a single character, got "{axis_name}" instead.'
        )
    if num_classes < 0:
        raise ValueError(
            f"one_hot: Input size less than zero not supported. Got num_classes == {num_classes}"
        )
    # As in DALI, a batch whose tensors all have exactly one element, whatever their number of axes, counts as scalars.
    scalar = axis == -1 and bool((classes.extents == 1).all())
    extents, layout = classes.extents, classes.layout
    if scalar:
        extents, layout = extents[:, :0], ""
    ndim = extents.shape[1]
    if not -1 <= axis <= ndim:
        raise ValueError(
            f"one_hot: Provided axis is outside of allowed range, got: {axis}, expected to be in range: [-1, {ndim}]."
        )
    at = ndim if axis == -1 else axis
    if axis_name is None:
        layout = ""
    elif ndim and not layout:
        raise ValueError(
            f"one_hot: Input layout mismatch - expected input layout to be of size {ndim} but instead got "
            f'"{layout}": axis_name needs an input with a layout'
        )
    else:
        layout = layout[:at] + axis_name + layout[at:]
    extents = np.insert(extents, at, num_classes, axis=1)
    return Plan((BatchSpec(extents, dtype, layout),), static={"axis": at, "_scalar": scalar})


@operator(setup=setup, source="operators/generic/one_hot.h")
def one_hot(
    classes: Array,
    /,
    *,
    axis: Static[int] = -1,
    axis_name: Static[str | None] = None,
    dtype: Static[np.dtype | types.DALIDataType] = types.FLOAT,
    num_classes: Static[int] = 0,
    off_value: Static[float] = 0.0,
    on_value: Static[float] = 1.0,
    _scalar: Static[bool | None] = None,
    out_shape: tuple[int, ...],
) -> Array:
    """Adds an axis with `on_value` at the index of the class, and `off_value` elsewhere.

    Args:
        classes: numbers, any shape; fractions are truncated. If `axis` is -1, a batch whose tensors all have one
            element counts as scalars. A class outside of 0 to num_classes - 1 gives only `off_value`.
        axis: position of the new axis in the result; -1: last.
        axis_name: letter of the new axis; None: the result has no layout.
        dtype: type of the result; for integers, `on_value` and `off_value` are truncated and saturated.
        num_classes: size of the new axis.
        off_value: value of all other elements.
        on_value: value at the index of the class.

    Returns: `dtype`, one axis more than `classes`.

    Example: classes = fn.one_hot(classes, num_classes=3)
    """
    out = types.to_dtype(dtype)
    if _scalar:
        classes = classes[(0,) * classes.ndim]
    at = classes.ndim if axis == -1 else axis
    number: Any = classes
    if jnp.issubdtype(classes.dtype, jnp.floating):
        number = jnp.trunc(classes)
    elif classes.dtype.itemsize < 8:
        number = classes.astype(jnp.int32)
    steps = jnp.arange(num_classes, dtype=number.dtype)
    hit = jnp.expand_dims(number, at) == steps.reshape(
        [-1 if a == at else 1 for a in range(classes.ndim + 1)]
    )
    on, off = (saturate_cast(np.trunc(np.float32(v)), out) for v in (on_value, off_value))
    if out.kind == "f":
        on, off = jnp.asarray(on_value, out), jnp.asarray(off_value, out)
    return fit(jnp.where(hit, on, off), out_shape)
