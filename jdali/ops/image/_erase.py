"""Erase: fill boxes of images, or of arrays of any layout, with a value."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches.extent import BatchSpec, Plan
from jdali._errors import SampleError
from jdali._operators.argument_rules import extents_of
from jdali._operators.call import is_traced
from jdali._operators.record import PerSample, Static, operator
from jdali.ops.image._take_window import per_channel, saturate_truncate
from jdali.ops.tensor._fit import fit

_WORD_BITS = 32


# --- setup --------------------------------------------------------------------------------------
def setup(
    data: BatchSpec,
    *,
    anchor: Any,
    axes: tuple[int, ...] | int | None,
    axis_names: str | None,
    fill_value: Any,
    normalized: bool,
    normalized_anchor: bool,
    normalized_shape: bool,
    shape: Any,
) -> Plan:
    if normalized and (normalized_anchor or normalized_shape):
        raise ValueError("erase: give normalized, or normalized_anchor and normalized_shape, not both")
    chosen = _chosen_axes(data, axes, axis_names)
    anchors, shapes = _lengths(anchor), _lengths(shape)
    if shapes is not None:
        _check_lengths("shape", shapes, len(chosen), data.layout)
        if anchors is not None and anchors.any():
            _check_anchors(anchors, shapes)
    _check_fill(data, fill_value)
    return Plan((data,), static={"axes": chosen})


def _chosen_axes(
    data: BatchSpec, axes: tuple[int, ...] | int | None, axis_names: str | None
) -> tuple[int, ...]:
    """The axes that an anchor has coordinates of."""
    layout = data.layout
    if axis_names is not None:
        missing = [name for name in axis_names if name not in layout]
        if missing:
            raise ValueError(
                f"erase: axis_names={axis_names!r}, but the layout {layout!r} has no {missing[0]}"
            )
        return tuple(layout.index(name) for name in axis_names)
    if axes is None:
        if not layout:
            raise ValueError("erase: data without a layout: give axes")
        return tuple(axis for axis, name in enumerate(layout) if name != "C")
    given = np.atleast_1d(np.asarray(axes)).tolist()
    outside = [axis for axis in given if not -data.ndim <= axis < data.ndim]
    if outside:
        raise ValueError(f"erase: axes has {outside[0]}, but the data has {data.ndim} axes")
    return tuple(axis % data.ndim for axis in given)


def _lengths(values: Any) -> np.ndarray | None:
    """[N] numbers of coordinates; None: not known."""
    extents = values.extents if is_traced(values) else extents_of(values)
    return None if extents is None else extents.prod(axis=1)


def _check_lengths(name: str, lengths: np.ndarray, axes: int, layout: str) -> None:
    wrong = lengths % max(axes, 1) != 0
    if wrong.any():
        sample = int(wrong.argmax())
        raise SampleError(
            f"erase: {name} has {lengths[sample]} values; each region needs {axes}, "
            f"for data of layout {layout!r}",
            sample=sample,
            argument=name,
        )


def _check_anchors(anchors: np.ndarray, shapes: np.ndarray) -> None:
    wrong = anchors != shapes
    if wrong.any():
        sample = int(wrong.argmax())
        raise SampleError(
            f"erase: anchor has {anchors[sample]} values and shape has {shapes[sample]}, they must agree",
            sample=sample,
            argument="anchor",
        )


def _check_fill(data: BatchSpec, fill_value: Any) -> None:
    counts = _lengths(fill_value)
    if counts is None or (counts == 1).all():
        return
    if "C" not in data.layout:
        raise ValueError(f"erase: fill_value has several values, but the layout {data.layout!r} has no C")
    channels = data.extents[:, data.axis("C")]
    wrong = (counts != 1) & (counts != channels)
    if wrong.any():
        sample = int(wrong.argmax())
        raise SampleError(
            f"erase: fill_value has {counts[sample]} values, the data has {channels[sample]} channels",
            sample=sample,
            argument="fill_value",
        )


# --- run ----------------------------------------------------------------------------------------
@operator(setup=setup, setup_needs=lambda given: (), source="operators/generic/erase/erase_utils.h")
def erase(
    data: Array,
    /,
    *,
    anchor: PerSample[list[float]] = (),
    axes: Static[tuple[int, ...] | int | None] = None,
    axis_names: Static[str | None] = None,
    centered_anchor: Static[bool] = False,
    fill_value: PerSample[tuple[float, ...]] = (0.0,),
    normalized: Static[bool] = False,
    normalized_anchor: Static[bool] = False,
    normalized_shape: Static[bool] = False,
    shape: PerSample[list[float]] = (),
    _anchor_extent: PerSample[Array | None] = None,
    _shape_extent: PerSample[Array | None] = None,
    extent: Array,
    out_shape: tuple[int, ...],
    layout: str,
) -> Array:
    """Fills regions with a value; the borders of a region are rounded towards zero.

    A region reaches from `anchor` to `anchor` + `shape` along the axes chosen, and over all of the others. What
    lies outside of the data is left out.

    Args:
        data: any layout, with leading F too: then F is an axis like the others.
        anchor: first corner of each region, one region after the other: (y0, x0, y1, x1, ...). The number of
            regions may differ by sample. Empty: all 0.
        axes: indices of the axes that `anchor` and `shape` refer to, in that order; negative: from the last one.
        axis_names: the same by letters of the layout; takes precedence over `axes`. Neither: all axes but C.
        centered_anchor: anchors are the centres of regions.
        fill_value: one value, or one a channel; integers are cut off and saturated.
        normalized: anchors and shapes are shares of the data's size.
        normalized_anchor: only anchors are.
        normalized_shape: only shapes are.
        shape: size of each region, as many values as `anchor`.

    Returns: shape, type and layout of the input.

    Parity: DALI wraps fill values that the type does not hold, and refuses bool and float64.
    """
    assert isinstance(axes, tuple)
    data = fit(data, out_shape)
    sizes = jnp.stack([extent[axis] for axis in axes]).astype(jnp.float32)
    shapes = _regions(shape, _shape_extent, len(axes))
    # An empty anchor is 0 in every region.
    anchors = (
        jnp.zeros_like(shapes) if np.shape(anchor) == (0,) else _regions(anchor, _anchor_extent, len(axes))
    )
    if not shapes.shape[0] or not data.size:
        return data
    if normalized or normalized_shape:
        shapes = lax.optimization_barrier(shapes * sizes)
    if normalized or normalized_anchor:
        anchors = lax.optimization_barrier(anchors * sizes)
    if centered_anchor:
        anchors = anchors - lax.optimization_barrier(shapes * jnp.float32(0.5))
    count = shapes.shape[0]
    first, last = jnp.trunc(anchors), jnp.trunc(anchors + shapes)
    values = saturate_truncate(jnp.atleast_1d(jnp.asarray(fill_value, jnp.float32)), data.dtype)
    fill = per_channel(values, layout) if layout else values.reshape((1,) * data.ndim)
    for start in range(0, count, _WORD_BITS):
        part = slice(start, start + _WORD_BITS)
        data = _fill_regions(data, axes, first[part], last[part], fill)
    return data


def _regions(values: Any, extent: Array | None, axes: int) -> Array:
    """float32 [regions, axes] of a list of coordinates; those past `extent` are NaN, which lies nowhere."""
    flat = jnp.atleast_1d(jnp.asarray(values, jnp.float32))
    if extent is not None:
        flat = jnp.where(jnp.arange(flat.shape[0], dtype=jnp.int32) < extent[0], flat, jnp.nan)
    count = -(-flat.shape[0] // axes)
    flat = jnp.pad(flat, (0, count * axes - flat.shape[0]), constant_values=jnp.nan)
    return flat.reshape(count, axes)


def _fill_regions(data: Array, axes: Sequence[int], first: Array, last: Array, fill: Array) -> Array:
    """Fills up to 32 regions in one pass: a word has a bit for each, which is 1 where the region is."""
    count = first.shape[0]
    word = np.dtype(np.uint8 if count <= 8 else np.uint16 if count <= 16 else np.uint32)
    bits = jnp.left_shift(jnp.ones((), word), jnp.arange(count, dtype=word))
    words: list[Array | None] = [None] * data.ndim
    for column, axis in enumerate(axes):
        index = jnp.arange(data.shape[axis], dtype=jnp.float32)[:, None]
        inside = (index >= first[:, column]) & (index < last[:, column])
        found = jnp.where(inside, bits, 0).sum(axis=1, dtype=word)
        own = words[axis]
        words[axis] = found if own is None else own & found
    return _fill_marked(data, words, fill)


def _fill_marked(data: Array, words: Sequence[Array | None], fill: Array) -> Array:
    """Fills where the words of all axes have a bit in common."""
    if data.ndim == 1:
        return _fill_marked(data[None], [None, *words], fill[None])[0]
    *lead, height, width = data.shape
    # The last two axes are seen as one: rows of pixels of a few channels are too short for vector instructions.
    terms = [_along(w, axis, len(lead) + 1) for axis, w in enumerate(words[:-2]) if w is not None]
    rows = [_along(w, axis, 2) for axis, w in enumerate(words[-2:]) if w is not None]
    if rows:
        terms.append(jnp.broadcast_to(functools.reduce(jnp.bitwise_and, rows), (height, width)).reshape(-1))
    if fill.size > 1 and fill.shape[-2:] != (1, 1):
        fill = jnp.broadcast_to(fill, (*fill.shape[:-2], height, width))
    fill = fill.reshape(*fill.shape[:-2], -1)
    # Small arrays: the compiler would work them out anew for every element.
    terms, fill = lax.optimization_barrier((terms, fill))
    marked = functools.reduce(jnp.bitwise_and, terms) != 0
    return jnp.where(marked, fill, data.reshape(*lead, height * width)).reshape(data.shape)


def _along(values: Array, axis: int, ndim: int) -> Array:
    """A vector as an array of `ndim` axes, all others of size 1."""
    return jnp.expand_dims(values, [a for a in range(ndim) if a != axis])
