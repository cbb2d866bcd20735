"""Converts the arguments of `slice`, `decoders.image_slice` and `readers.numpy` to windows.

Functions work in NumPy on a whole batch of samples with the true sizes `extents`, [N, ndim]. They convert DALI's arguments
to anchors and sizes, int64 [N, ndim].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jdali._batches import size_text
from jdali._errors import absent_axis, check_samples
from jdali._kernels.window import default_layout
from jdali._numerics.rounding import np_round_half_away

_FARTHEST = 2.0**60  # limit to which borders are clipped


def slice_axes(
    name: str, layout: str, shape: tuple[int, int], axes: np.ndarray | None, axis_names: str | None
) -> np.ndarray:
    """Returns the axes that slice arguments refer to.

    Args:
        layout: layout of the data; "": the default layout of images with this number of axes.
        shape: (N, ndim).
        axes: [N, K], negative ones count from the end; [N, 0]: all axes; None: use `axis_names`.
        axis_names: letters of the layout; "": all axes; None: "WH".

    Returns: int64 [N, K].
    """
    count, ndim = shape
    if axes is None:
        letters = "WH" if axis_names is None else axis_names
        named = default_layout(layout, ndim) if ndim < 5 else layout
        missing = [c for c in letters if c not in named]
        if missing:
            raise absent_axis(name, missing[0], layout)
        one = [named.find(c) for c in letters] or list(range(ndim))
        rows = np.broadcast_to(np.array(one, np.int64), (count, len(one)))
    elif axis_names is not None:
        raise ValueError(f'{name}: "axes" and "axis_names" are mutually exclusive')
    else:
        rows = np.asarray(axes, np.int64)
        rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.shape[1] == 0:
        return np.broadcast_to(np.arange(ndim), (count, ndim))
    wrong = ((rows < -ndim) | (rows >= ndim)).any(axis=1)

    def text(i: int) -> str:
        first = next(axis for axis in rows[i].tolist() if not -ndim <= axis < ndim)
        return (
            f"{name}: Axis {first} out of range. Expected range is [{-ndim}, {ndim - 1}] for a {ndim}D input"
        )

    check_samples(wrong, text, argument="axes")
    axes = np.where(rows < 0, rows + ndim, rows)
    ordered = np.sort(axes, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    check_samples(
        twice,
        lambda i: (
            f"{name}: Axis index {ordered[i, 1:][ordered[i, 1:] == ordered[i, :-1]][0]} occurs more than once in "
            f"``axes`` {axes[i].tolist()} (might include negative indices referring to the same axis)"
        ),
        argument="axes",
    )
    return axes


def _check_not_negative(name: str, argument: str, value: np.ndarray | None) -> None:
    if value is not None:
        check_samples(
            (value < 0).any(axis=1),
            lambda i: (
                f"{name}: {argument} value out of range, it must not be negative. Got: {value[i].tolist()}"
            ),
            argument=argument,
        )


def slice_window(
    name: str,
    extents: np.ndarray,
    axes: np.ndarray,
    *,
    start: np.ndarray | None = None,
    rel_start: np.ndarray | None = None,
    end: np.ndarray | None = None,
    rel_end: np.ndarray | None = None,
    shape: np.ndarray | None = None,
    rel_shape: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Computes windows from DALI's named slice arguments, before any bounds policy.

    Relative values are shares of the extent. Both borders of the window are rounded half away from zero. The size of the
    window is the distance between the rounded borders.

    Args:
        axes: [N, K], from `slice_axes`.
        start, rel_start, end, rel_end, shape, rel_shape: [N, K] or [N].

    Returns: anchors and sizes, int64 [N, ndim].
    """
    check_exclusive(name, start=start, rel_start=rel_start)
    check_exclusive(name, end=end, rel_end=rel_end, shape=shape, rel_shape=rel_shape)
    size = np.take_along_axis(extents, axes, axis=1).astype(np.float64)

    def checked(argument: str, value: np.ndarray | None) -> np.ndarray | None:
        return slice_argument(name, argument, value, axes.shape)

    def relative(value: np.ndarray) -> np.ndarray:
        # Single precision, as in DALI (slice_attr.h); only rel_start + rel_shape is computed in double.
        product: np.ndarray = (value.astype(np.float32) * size.astype(np.float32)).astype(np.float64)
        return product

    first, rel_first = checked("start", start), checked("rel_start", rel_start)
    last, rel_last = checked("end", end), checked("rel_end", rel_end)
    length, rel_length = checked("shape", shape), checked("rel_shape", rel_shape)
    _check_not_negative(name, "shape", length)
    _check_not_negative(name, "rel_shape", rel_length)
    low = np.zeros(axes.shape)
    if first is not None:
        low = first.astype(np.float64)
    elif rel_first is not None:
        low = relative(rel_first)
    high = size
    if last is not None:
        high = last.astype(np.float64)
    elif rel_last is not None:
        high = relative(rel_last)
    elif length is not None:
        high = low + length
    elif rel_length is not None and rel_first is not None:
        high = (rel_first.astype(np.float64) + rel_length) * size
    elif rel_length is not None:
        high = low + relative(rel_length)
    return _window(name, extents, axes, low, high)


def positional_window(
    name: str,
    extents: np.ndarray,
    axes: np.ndarray,
    anchor: np.ndarray,
    shape: np.ndarray,
    normalized_anchor: bool = True,
    normalized_shape: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """Computes windows from slice's positional inputs.

    Args:
        axes: [N, K], from `slice_axes`.
        anchor, shape: [N, K], both int32, int64 or float32.
        normalized_anchor, normalized_shape: True: float values are shares of the extent.

    Returns: anchors and sizes, int64 [N, ndim].
    """
    anchor, shape = np.asarray(anchor), np.asarray(shape)
    if anchor.dtype != shape.dtype:
        raise TypeError(
            f"{name}: Anchor and shape should have the same type. Got: {anchor.dtype} and {shape.dtype}"
        )
    if anchor.dtype not in (np.int32, np.int64, np.float32):
        raise TypeError(
            f"{name}: Unsupported type of anchor and shape arguments: {anchor.dtype}. It must be int32, int64 or float32"
        )
    is_float = anchor.dtype.kind == "f"
    low, length = (v.reshape(len(v), -1).astype(np.float64) for v in (anchor, shape))
    if low.shape != length.shape:
        raise ValueError(
            f"{name}: Slice anchor and shape should have the same number of arguments. Got: {low.shape[1]} and "
            f"{length.shape[1]}"
        )
    if low.shape != axes.shape or length.shape != axes.shape:
        raise ValueError(
            f"{name}: Expected {axes.shape[1]} elements for slice arguments (start/shape). Got {low.shape[1]}; there must "
            "be one for each of the axes"
        )
    size = np.take_along_axis(extents, axes, axis=1).astype(np.float64)
    if is_float and normalized_anchor and normalized_shape:
        high = (low + length) * size
        low = low * size
    else:
        low = low * size if is_float and normalized_anchor else low
        high = low + (length * size if is_float and normalized_shape else length)
    return _window(name, extents, axes, low, high)


def any_window(
    name: str, extents: np.ndarray, axes: np.ndarray, values: Mapping[str, Any], normalized_anchor: bool,
    normalized_shape: bool,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Computes windows from positional inputs if both are given, else from named arguments.

    Args:
        axes: [N, K], from `slice_axes`.
        values: "anchor" and "shape_input" for `positional_window`, and the arguments of `slice_window`; None: not passed.
        normalized_anchor, normalized_shape: see `positional_window`.

    Returns: anchors and sizes, int64 [N, ndim].
    """
    named = dict(values)
    anchor, shape = named.pop("anchor"), named.pop("shape_input")
    if anchor is None or shape is None:
        return slice_window(name, extents, axes, **named)
    return positional_window(name, extents, axes, anchor, shape, normalized_anchor, normalized_shape)


def check_exclusive(name: str, **arguments: object) -> None:
    """Raises an error if more than one of the arguments is not None."""
    named = [argument for argument, value in arguments.items() if value is not None]
    if len(named) > 1:
        names = [f'"{argument}"' for argument in arguments]
        joined = f"{', '.join(names[:-1])}{',' * (len(names) > 2)} and {names[-1]}"
        raise ValueError(f"{name}: {joined} arguments are mutually exclusive, got {' and '.join(named)}")


def slice_argument(
    name: str, argument: str, value: np.ndarray | None, shape: tuple[int, ...]
) -> np.ndarray | None:
    """Broadcasts a named slice argument to `shape` (N, K). A scalar applies to all axes. An empty list gives None."""
    if value is None:
        return None
    value = np.asarray(value)
    value = value[:, None] if value.ndim == 1 else value
    if value.shape[1:] == (0,):
        return None
    if value.ndim != 2 or value.shape[1] not in (1, shape[1]):
        raise ValueError(
            f'{name}: Argument "{argument}" expected shape {shape[1]} but got {size_text(value.shape[1:])} values, which '
            "can't be interpreted as the expected shape: one value for each of the axes"
        )
    return np.broadcast_to(value, shape)


def _window(
    name: str, extents: np.ndarray, axes: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Computes anchors and sizes of all axes from the unrounded borders [N, K] along `axes`."""
    # The tolerance accepts an empty window whose borders differ slightly, because they were computed in different precision.
    wrong = ~(low <= high + 1e-6 * np.maximum(np.abs(low), 1)).all(axis=1)
    check_samples(
        wrong,
        lambda i: (
            f"{name}: end coordinates can't be before start coordinates. Got: start={low[i].tolist()} "
            f"end={high[i].tolist()}"
        ),
    )
    anchors, sizes = np.zeros_like(extents), np.array(extents)
    # Borders are clipped to fit into int64. Clipped borders are out of bounds in any case.
    first, last = (
        np_round_half_away(np.clip(v, -_FARTHEST, _FARTHEST)).astype(np.int64) for v in (low, high)
    )
    np.put_along_axis(anchors, axes, first, axis=1)
    np.put_along_axis(sizes, axes, np.maximum(last - first, 0), axis=1)
    return anchors, sizes
