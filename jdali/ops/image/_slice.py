from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan
from jdali._kernels import slice_window as _slice_window
from jdali._kernels import window as _window
from jdali._kernels.ragged_axes import by_number_of_axes
from jdali._kernels.take_window import (
    bordered,
    cut_window,
    fill_constant,
    inside_window,
    per_channel,
    saturate_truncate,
    take_window,
    window_indices,
)
from jdali._numerics.positions import rounded
from jdali._numerics.rounding import round_half_away
from jdali._operators.record import PerSample, Static, is_traced, operator

_NAMED = ("start", "rel_start", "end", "rel_end", "shape", "rel_shape")


def setup(
    data: BatchSpec,
    anchor: object = None,
    shape_input: object = None,
    *,
    axes: object,
    axis_names: str,
    start: object,
    rel_start: object,
    end: object,
    rel_end: object,
    shape: object,
    rel_shape: object,
    normalized_anchor: bool,
    normalized_shape: bool,
    out_of_bounds_policy: str,
    fill_values: object,
    dtype: np.dtype | None,
) -> Plan:
    named = dict(zip(_NAMED, (start, rel_start, end, rel_end, shape, rel_shape), strict=True))
    positional = (anchor, shape_input)
    _check_arguments(named, positional)
    policy = _window.policy_of(out_of_bounds_policy)
    policies = _window.POLICIES + _window.BORDERS
    _window.check_choice("slice", "out_of_bounds_policy", policy, policies)
    layout = _window.default_layout(data.layout, data.ndim) if data.ndim < 5 else data.layout
    names = None if axes is not None and axis_names == "WH" else axis_names
    anchors, sizes, cut, params = np.zeros_like(data.extents), np.array(data.extents), set(), {}
    later = _starts_later(named, policy)
    arguments = named | {"anchor": anchor, "shape_input": shape_input}
    for group in by_number_of_axes("slice", axes, arguments, data.batch_size):
        extents = data.extents[group.rows]
        with group.blaming():
            chosen = _slice_window.slice_axes("slice", data.layout, extents.shape, group.axes, names)
            if later:  # all samples then have the same number of axes, see `_needs`
                sizes, params["_axes"] = _fixed_sizes(extents, chosen, shape), chosen.astype(np.int32)
            else:
                anchors[group.rows], sizes[group.rows] = _slice_window.any_window(
                    "slice", extents, chosen, group.values, normalized_anchor, normalized_shape
                )
        cut.update(np.unique(chosen).tolist())
    if not later:
        anchors, sizes = _window.apply_bounds("slice", policy, data.extents, anchors, sizes, policies)
        # Clipped to int32. Windows past the limits of int32 lie outside of the data before and after clipping.
        params["_anchors"] = np.clip(anchors, -(2**31), 2**31 - 1 - sizes).astype(np.int32)
    _window.check_border("slice", policy, data.extents, sizes)
    channels = sizes[:, layout.index("C")] if "C" in layout else None
    _window.check_fill_values("slice", policy, fill_values, layout, channels)
    out = data.replace(extents=sizes, dtype=dtype or data.dtype)
    return Plan((out,), params, {"_cut": tuple(sorted(cut))})


def _check_arguments(named: Mapping[str, object], positional: tuple[Any, Any]) -> None:
    count = sum(p is not None for p in positional)
    has_named = any(v is not None for v in named.values())
    if count and has_named:
        _slice_window.check_exclusive(
            "slice", **{name: named[name] for name in ("end", "rel_end", "shape", "rel_shape")}
        )
        raise ValueError(
            "slice: Named arguments start/end/shape are not compatible with positional anchor and shape inputs"
        )
    if count == 1 or (count == 0 and not has_named):
        raise ValueError(
            "slice: Expected named slice arguments (e.g. start/end, start/shape) or positional inputs (start, shape). "
            f"Got {1 + count} inputs"
        )


def _starts_later(named: Mapping[str, object], policy: str) -> bool:
    """Returns True if the window's size is known, but its start is traced."""
    unknown = is_traced(named["start"]) or is_traced(named["rel_start"])
    return unknown and policy != "trim_to_shape" and named["shape"] is not None


def _fixed_sizes(extents: np.ndarray, axes: np.ndarray, shape: object) -> np.ndarray:
    sizes = np.array(extents)
    lengths = _slice_window.slice_argument("slice", "shape", np.asarray(shape), axes.shape)
    if lengths is not None:
        np.put_along_axis(sizes, axes, lengths.astype(np.int64), axis=1)
    return sizes


def _needs(arguments: Mapping[str, object]) -> tuple[str, ...]:
    """Implements `setup_needs`: with `shape`, the start is not needed, unless windows are trimmed or axes differ by sample."""
    names = ("axes", *_NAMED, "anchor", "shape_input")
    same_axes = isinstance(arguments.get("axes", ()), (int, tuple, list, np.ndarray))
    if (
        arguments.get("shape") is None
        or arguments.get("out_of_bounds_policy") == "trim_to_shape"
        or not same_axes
    ):
        return names
    return tuple(n for n in names if n not in ("start", "rel_start"))


@operator(
    setup=setup, setup_needs=_needs, free_padding="input", source="operators/generic/slice/slice_attr.h"
)
def slice(
    data: Array,
    anchor: PerSample[list[Any] | None] = None,
    shape_input: PerSample[list[Any] | None] = None,
    /,
    *,
    axes: PerSample[tuple[int, ...] | list[int] | None] = None,
    axis_names: Static[str] = "WH",
    dtype: Static[np.dtype | None] = None,
    end: PerSample[tuple[int, ...] | list[int] | None] = None,
    fill_values: Static[tuple[float, ...]] = (0.0,),
    normalized_anchor: Static[bool] = True,
    normalized_shape: Static[bool] = True,
    out_of_bounds_policy: Static[str] = "error",
    rel_end: PerSample[tuple[float, ...] | list[float] | None] = None,
    rel_shape: PerSample[tuple[float, ...] | list[float] | None] = None,
    rel_start: PerSample[tuple[float, ...] | list[float] | None] = None,
    shape: PerSample[tuple[int, ...] | list[int] | None] = None,
    start: PerSample[tuple[int, ...] | list[int] | None] = None,
    _anchors: PerSample[tuple[int, ...] | None] = None,
    _axes: PerSample[tuple[int, ...] | None] = None,
    _cut: Static[tuple[int, ...]] = (),
    extent: tuple[Array, ...],
    out_shape: tuple[int, ...],
    layout: tuple[str, ...],
) -> Array:
    """Cuts out a window given by its borders; relative borders are rounded half away from zero.

    The window is given either by the inputs `anchor` and `shape_input`, or by a start (`start` or
    `rel_start`, else 0) and an end (`end`, `rel_end`, `shape` or `rel_shape`, else the whole extent).
    With a `shape`, the start may be a tracer.

    Args:
        data: any layout, any type.
        anchor: start along each of the axes, int32 or int64 elements, or float32 shares of the extent.
        shape_input: size of the window, in the type of `anchor`.
        axes: axes that the window arguments refer to; their number may differ by sample; negative ones count
            from the end; empty: all axes, in order; None: `axis_names`.
        axis_names: letters of the axes in the layout; "": all axes. Data without a layout count as
            HW, HWC or DHWC. Not allowed with `axes`.
        dtype: output type; fractions are truncated and integers saturated; None: the input's.
        end: end of the window, elements, exclusive.
        fill_values: value of elements outside of the data: one for all channels, or one per channel.
        normalized_anchor: True: a float `anchor` is a share of the extent; False: elements.
        normalized_shape: True: a float `shape_input` is a share of the extent; False: elements.
        out_of_bounds_policy: "error" raises, "pad" fills, "trim_to_shape" makes the window smaller; "clamp"
            (aaa|abcd|ddd), "reflect_101" (dcb|abcd|cba), "reflect_1001" (cba|abcd|dcb) and "wrap" (bcd|abcd|abc)
            repeat the data. DALI's aliases are accepted, too, in upper or lower case: "edge", "101", "reflect101",
            "1001", "reflect1001", "reflect" (which is "reflect_1001"), and "constant" and "fill" for "pad".
        rel_end: `end` as a share of the extent.
        rel_shape: `shape` as a share of the extent.
        rel_start: `start` as a share of the extent.
        shape: size of the window, elements.
        start: start of the window, elements.

    Returns: layout of the input, size of the window.

    Example: images = fn.slice(images, rel_start=[0.2, 0.1], rel_shape=[0.5, 0.6], axis_names="HW")
    """
    out = np.dtype(dtype or data.dtype)
    where: Any = _anchors
    if where is None:
        first = start if rel_start is None else rel_start
        where = _late_anchors(first, rel_start is not None, _axes, extent[0])
    anchors = [where[axis] if axis in _cut else None for axis in range(data.ndim)]
    indices = window_indices(anchors, out_shape)
    policy = _window.policy_of(out_of_bounds_policy)
    if policy in _window.BORDERS:
        return saturate_truncate(take_window(data, bordered(indices, extent[0], policy), out_shape), out)
    result = saturate_truncate(cut_window(data, anchors, out_shape), out)
    if policy != "pad":
        return result
    name = _window.default_layout(layout[0], data.ndim)
    fill = per_channel(fill_constant(fill_values, out), name or "." * data.ndim)
    return jnp.where(inside_window(indices, extent[0]), result, fill)


def _late_anchors(start: Any, relative: bool, axes: Any, extent: Array) -> Array:
    """Computes anchors of all axes from a traced start."""
    value = jnp.broadcast_to(jnp.asarray(start), axes.shape)
    if relative:
        value = round_half_away(rounded(value.astype(jnp.float32) * extent[axes].astype(jnp.float32)))
    return jnp.zeros(extent.shape, jnp.int32).at[axes].set(value.astype(jnp.int32))
