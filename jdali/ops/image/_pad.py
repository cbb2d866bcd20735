from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, valid_mask
from jdali._errors import check_samples
from jdali._kernels.ragged_axes import by_number_of_axes
from jdali._kernels.slice_window import slice_argument, slice_axes
from jdali._kernels.take_window import fit_axis
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import PerSample, Static, operator


def setup(
    data: BatchSpec,
    *,
    align: np.ndarray | None,
    axes: np.ndarray | None,
    axis_names: str | None,
    shape: np.ndarray | None,
) -> BatchSpec:
    names = "" if axes is None and axis_names is None else axis_names
    most, extents = data.extents.max(axis=0, initial=0), np.array(data.extents)
    for group in by_number_of_axes("pad", axes, {"shape": shape, "align": align}, data.batch_size):
        own = data.extents[group.rows]
        with group.blaming():
            chosen = slice_axes("pad", data.layout, own.shape, group.axes, names)
            target = _target(np.take_along_axis(own, chosen, axis=1), most[chosen], group.values)
        np.put_along_axis(own, chosen, target.astype(np.int64), axis=1)
        extents[group.rows] = own
    return data.replace(extents=extents)


def _target(sizes: np.ndarray, largest: np.ndarray, values: Mapping[str, Any]) -> np.ndarray:
    """Computes padded sizes [N, K] from the true sizes of the samples and the largest sizes in the batch."""
    wanted = slice_argument("pad", "shape", values["shape"], sizes.shape)
    target = largest if wanted is None else np.where(wanted > 0, wanted, largest)
    target = np.maximum(target, sizes)
    step = slice_argument("pad", "align", values["align"], sizes.shape)
    if step is not None:
        wrong = (step <= 0).any(axis=1)
        check_samples(
            wrong,
            lambda i: f"pad: Values of `align` argument must be positive. Got {step[i].tolist()}",
            argument="align",
        )
        target = -(-target // step) * step
    return target


@operator(
    setup=setup,
    whole_batch=lambda arguments: arguments.get("shape") is None,
    source="operators/generic/pad.h",
)
def pad(
    data: Array,
    /,
    *,
    align: PerSample[tuple[int, ...] | list[int] | None] = None,
    axes: PerSample[tuple[int, ...] | list[int] | None] = None,
    axis_names: Static[str | None] = None,
    fill_value: PerSample[float] = 0.0,
    shape: PerSample[tuple[int, ...] | list[int] | None] = None,
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Pads axes at their end with a constant, up to the largest extent of the batch or to `shape`.

    Args:
        data: any layout, any type.
        align: round the padded extent up to a multiple of this number, for each of the axes.
        axes: axes to pad; their number may differ by sample; negative ones count from the end; empty or None: all axes.
        axis_names: letters of the axes in the layout, in place of `axes`.
        fill_value: value of the padding; for integers truncated and saturated.
        shape: extent to reach, for each of the axes. A longer axis does not change; `slice` and `tokenize(length=)` can cut
            it. None, or 0 or less for an axis: the largest extent of the batch (in `jdali.ops`: of the sample).

    Returns: type and layout of the input.

    Example: images = fn.pad(images, axis_names="HW", align=256, fill_value=64)
    """
    value = data
    for axis, size in enumerate(out_shape):
        value = fit_axis(value, axis, size)
    return jnp.where(valid_mask(extent, out_shape), value, _fill(fill_value, np.dtype(data.dtype)))


def _fill(fill_value: object, dtype: np.dtype) -> Array:
    value = jnp.asarray(fill_value, jnp.float32)
    if dtype.kind == "f":
        return value.astype(dtype)
    if dtype.kind == "b":
        return value != 0
    return saturate_cast(jnp.trunc(value), dtype)
