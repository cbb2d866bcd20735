from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan, Rising
from jdali._errors import absent_axis, axis_out_of_range
from jdali._kernels.resample import resample
from jdali._kernels.resample_filters import filters_of, statics_of
from jdali._kernels.resize_sizes import check_types, per_axis, resize_window
from jdali._kernels.take_window import fit_axis
from jdali._operators.record import PerSample, Static, operator
from jdali.types import DALIInterpType

_NAME = "tensor_resize"


def setup(
    data: BatchSpec,
    *,
    alignment: np.ndarray,
    antialias: bool,
    axes: tuple[int, ...] | int | None,
    axis_names: str | None,
    dtype: np.dtype | None,
    interp_type: np.ndarray,
    mag_filter: np.ndarray | None,
    max_size: tuple[float, ...] | float | None,
    min_filter: np.ndarray | None,
    mode: str,
    roi_end: np.ndarray | None,
    roi_relative: bool,
    roi_start: np.ndarray | None,
    scales: np.ndarray | None,
    size_rounding: str,
    sizes: np.ndarray | None,
    subpixel_scale: bool,
) -> Plan:
    out_dtype = check_types(_NAME, data, dtype, interp_type, min_filter, mag_filter)
    chosen = list(_chosen_axes(data, axes, axis_names))
    if (sizes is None) == (scales is None):
        raise ValueError(f"{_NAME}: Need one of ``scales`` or ``sizes``, but not both")
    extents = data.extents

    def all_axes(name: str, values: object, others: object) -> Any:
        """Extends `values`, which belong to the chosen axes, to [N, ndim]; other axes get `others`. None stays None."""
        if values is None:
            return None
        result = np.broadcast_to(np.asarray(others, np.float64), extents.shape).copy()
        result[:, chosen] = per_axis(_NAME, name, np.asarray(values), len(chosen))
        return result

    # As in DALI, the requested size of an axis that is not in `axes` is its present size, in every mode.
    wanted = all_axes("sizes", sizes, extents)
    if wanted is None:
        wanted = all_axes("scales", scales, 1) * extents
    limit = None
    if max_size is not None:
        limit = tuple(all_axes("max_size", np.atleast_1d(np.asarray(max_size))[None], 0)[0].tolist())
    window = resize_window(
        _NAME, extents, size=wanted, mode=mode, max_size=limit, roi_start=all_axes("roi_start", roi_start, 0),
        roi_end=all_axes("roi_end", roi_end, 1 if roi_relative else extents), roi_relative=roi_relative,
        subpixel_scale=subpixel_scale, size_rounding=size_rounding,
        alignment=all_axes("alignment", alignment, 0.5),
    )  # fmt: skip
    resized = chosen if mode in ("default", "stretch") else list(range(data.ndim))
    filters = filters_of(
        window.low[:, resized], window.high[:, resized], window.size[:, resized], extents=extents[:, resized],
        interp_type=interp_type, min_filter=min_filter, mag_filter=mag_filter, antialias=antialias,
    )  # fmt: skip
    return Plan(
        (data.replace(extents=window.size, dtype=out_dtype),),
        params={"_filters": filters},
        static={"axes": tuple(resized)} | statics_of(filters),
    )


def _chosen_axes(
    data: BatchSpec, axes: tuple[int, ...] | int | None, axis_names: str | None
) -> tuple[int, ...]:
    """Returns the axes to resize, by default all; raises for axes that do not exist or are repeated."""
    if axes is not None and axis_names is not None:
        raise ValueError(f"{_NAME}: Arguments `axes` and `axis_names` are mutually exclusive")
    if axis_names is not None:
        missing = [name for name in axis_names if name not in data.layout]
        if missing:
            raise absent_axis(_NAME, missing[0], data.layout)
        chosen = [data.layout.index(name) for name in axis_names]
    else:
        listed = range(data.ndim) if axes is None else np.atleast_1d(np.asarray(axes)).tolist()
        outside = [axis for axis in listed if not -data.ndim <= axis < data.ndim]
        if outside:
            raise axis_out_of_range(_NAME, outside[0], data.ndim)
        chosen = [axis % data.ndim for axis in listed]
    twice = [axis for axis in chosen if chosen.count(axis) > 1]
    if twice:
        raise ValueError(f"{_NAME}: Duplicate axis index {twice[0]} in axes {tuple(chosen)}")
    if not chosen:
        raise ValueError(f"{_NAME}: needs axes to resize, got none")
    return tuple(chosen)


@operator(
    setup=setup, free_padding="all", source="operators/image/resize/tensor_resize.cc, tensor_resize_attr.cc"
)
def tensor_resize(
    data: Array,
    /,
    *,
    alignment: PerSample[tuple[float, ...]] = (0.5,),
    antialias: Static[bool] = True,
    axes: Static[tuple[int, ...] | int | None] = None,
    axis_names: Static[str | None] = None,
    dtype: Static[np.dtype | None] = None,
    interp_type: PerSample[DALIInterpType] = DALIInterpType.INTERP_LINEAR,
    mag_filter: PerSample[DALIInterpType | None] = None,
    max_size: Static[tuple[float, ...] | float | None] = None,
    min_filter: PerSample[DALIInterpType | None] = None,
    minibatch_size: Static[int] = 32,
    mode: Static[str] = "default",
    roi_end: PerSample[tuple[float, ...] | None] = None,
    roi_relative: Static[bool] = False,
    roi_start: PerSample[tuple[float, ...] | None] = None,
    scales: PerSample[tuple[float, ...] | None] = None,
    size_rounding: Static[str] = "round",
    sizes: PerSample[tuple[float, ...] | None] = None,
    subpixel_scale: Static[bool] = True,
    temp_buffer_hint: Static[int] = 0,
    extent: Array,
    out_extent: Array,
    out_shape: tuple[int, ...],
    _filters: PerSample[Any] = None,
    _nearest: Static[bool | None] = None,
    _reach: Static[Rising | None] = None,
) -> Array:
    """Resizes arrays along any of their axes.

    Args:
        data: any layout; uint8, int16, uint16 or float32.
        alignment: point of the window that stays in place when a size is rounded, from 0 (start of the window) to 1
            (end): one value for all axes, or one per axis.
        antialias: widen the filter of axes that shrink, so that every element contributes.
        axes: indices of the axes that `sizes`, `scales`, `max_size`, `roi_start` and `roi_end` refer to, in that
            order; negative ones count from the end; None: all axes.
        axis_names: letters of these axes in the layout, in place of `axes`.
        dtype: output type, the input's or FLOAT; None: the input's.
        interp_type: filter: NN, LINEAR, CUBIC, LANCZOS3, TRIANGULAR or GAUSSIAN.
        mag_filter: filter of axes that do not shrink; None: `interp_type`.
        max_size: largest output size: one value for all axes, or one per axis; None: no limit.
        min_filter: filter of axes that shrink; None: `interp_type`.
        minibatch_size: without effect.
        mode: "default", "stretch", "not_larger" or "not_smaller", as in `resize`. An axis that is not chosen requests its
            present size, so the last two modes may resize it, too.
        roi_end: end of the window to resize along each axis; an axis is mirrored if its end is before its start.
        roi_relative: True: `roi_start` and `roi_end` are shares of the sizes; False: elements.
        roi_start: start of the window along each axis; None: the whole array. Filters also read elements around the
            window.
        scales: output sizes divided by the array's sizes, in place of `sizes`; 0 and negative values as for `sizes`.
        size_rounding: rounding of the sizes: "round" (half away from zero), "truncate" or "ceil".
        sizes: output sizes, one value for all axes, or one per axis. A size of 0 leaves the axis to `mode`; a negative
            size mirrors the axis.
        subpixel_scale: if a size is rounded, scale the window by the same factor, so that the scale is exact.
        temp_buffer_hint: without effect.

    Returns: the resized array.

    Parity: DALI takes up to three adjacent axes, jdali any axes. An axis in `axes` whose size does not change is filtered,
    too; in DALI, this depends on the other axes and samples. Only the GAUSSIAN filter changes such an axis.

    Example: images = fn.tensor_resize(images, sizes=[60, 90], axes=[0, 1])
    """
    assert isinstance(axes, tuple)
    others = [axis for axis in range(data.ndim) if axis not in axes]
    for axis in others:
        data = fit_axis(data, axis, out_shape[axis])
    order = (*axes, *others)
    moved = jnp.transpose(data, order)
    kept = moved.shape[len(axes) :]
    size = tuple(out_shape[axis] for axis in axes)
    picked = jnp.asarray(axes, jnp.int32)
    resized = resample(
        moved.reshape(*moved.shape[: len(axes)], int(np.prod(kept))), _filters, extent[picked], out_extent[picked],
        (*size, int(np.prod(kept))), dtype=np.dtype(dtype or data.dtype), nearest=_nearest, reach=_reach,
    )  # fmt: skip
    return jnp.transpose(resized.reshape(*size, *kept), [order.index(axis) for axis in range(data.ndim)])
