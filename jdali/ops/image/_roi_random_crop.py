from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, size_text
from jdali._errors import check_samples
from jdali._numerics.random import integer, split
from jdali._numerics.rounding import narrowed
from jdali._operators.record import PerSample, Traced, is_traced, operator

_NAME = "roi_random_crop"


def setup(
    picture: BatchSpec | None = None,
    *,
    crop_shape: np.ndarray,
    in_shape: np.ndarray | None,
    roi_end: np.ndarray | None,
    roi_shape: np.ndarray | None,
    roi_start: np.ndarray,
    batch_size: int,
) -> BatchSpec:
    if (roi_end is None) == (roi_shape is None):
        raise ValueError(f"{_NAME}: Either ROI end or ROI shape should be defined, but not both")
    if picture is not None and in_shape is not None:
        raise ValueError(f"{_NAME}: ``in_shape`` argument is incompatible with providing an input.")
    axes = _axes({
        "crop_shape": crop_shape, "roi_start": roi_start, "roi_end": roi_end, "roi_shape": roi_shape,
        "in_shape": in_shape,
    })  # fmt: skip
    if picture is not None and picture.ndim < axes:
        raise ValueError(f"{_NAME}: crop_shape has {axes} elements, the input {picture.ndim} axes")
    if not is_traced(crop_shape):
        window = _columns(crop_shape)
        check_samples(
            (window < 0).any(axis=1),
            lambda i: f"{_NAME}: Crop shape can't be negative. Got {size_text(window[i])}",
            argument="crop_shape",
        )
    bounds = picture.extents[:, :axes] if picture is not None else in_shape
    if bounds is not None:
        _check_inside(bounds, crop_shape, roi_start, roi_end, roi_shape)
    return BatchSpec(np.full((batch_size, 1), axes), np.dtype(np.int64))


def _axes(arguments: dict[str, Any]) -> int:
    """Returns the number of axes of the window; raises an error if arguments have different numbers of elements."""
    lengths = {}
    for name, value in arguments.items():
        if value is not None:
            shape = value.extents[0] if isinstance(value, Traced) else value.shape[1:]  # type: ignore[index]
            lengths[name] = int(np.prod(shape))
    if len(set(lengths.values())) > 1:
        axes = lengths["crop_shape"]
        name = next(name for name, length in lengths.items() if length != axes)
        raise ValueError(
            f'{_NAME}: Argument "{name}" expected shape {axes} but got {lengths[name]} values, which can\'t be interpreted '
            "as the expected shape: all of the arguments must have an element for each axis, as many as crop_shape has"
        )
    return lengths["crop_shape"]


def _check_inside(
    bounds: np.ndarray, crop_shape: np.ndarray, roi_start: np.ndarray, roi_end: Any, roi_shape: Any
) -> None:
    """Raises SampleError if a window or region does not fit into the bounds [N, axes]."""
    if any(map(is_traced, (bounds, crop_shape, roi_start, roi_end, roi_shape))):
        return
    start, crop = (_columns(value) for value in (roi_start, crop_shape))
    end = _columns(roi_end) if roi_shape is None else start + _columns(roi_shape)
    limits = _columns(bounds)
    checks = [
        (limits < 0, "in_shape", "Input shape can't be negative. Got {limit} for d={axis}"),
        (
            crop > limits,
            "crop_shape",
            "Cropping shape can't be bigger than the input shape. Got: crop_shape[{crop}], sample_shape[{limit}] for d={axis}",
        ),
        (
            (start < 0) | (end > limits),
            "roi_start",
            "ROI can't be out of bounds. Got roi_start[{start}], roi_end[{end}], sample_shape[{limit}], for d={axis}",
        ),
    ]

    def message(text: str, i: int, axis: int) -> str:
        values = {"crop": crop, "limit": limits, "start": start, "end": end}
        shown = {name: int(value[i, axis]) for name, value in values.items()}
        return f"{_NAME}: {text.format(axis=axis, **shown)}"

    for wrong, argument, text in checks:
        check_samples(wrong, functools.partial(message, text), argument=argument)


def _columns(value: np.ndarray) -> np.ndarray:
    """Arranges vectors as int64 [N, axes]; numbers become vectors of one element."""
    return value.reshape(len(value), -1).astype(np.int64)


@operator(setup=setup, devices=("cpu",), source="operators/generic/roi_random_crop.cc")
def roi_random_crop(
    key: Array,
    picture: Array | None = None,
    /,
    *,
    crop_shape: PerSample[tuple[int, ...]],
    in_shape: PerSample[tuple[int, ...] | None] = None,
    roi_end: PerSample[tuple[int, ...] | None] = None,
    roi_shape: PerSample[tuple[int, ...] | None] = None,
    roi_start: PerSample[tuple[int, ...]],
    extent: Array | Sequence[Array],
    out_shape: tuple[int, ...],
) -> Array:
    """Draws the start of a window that covers a region of interest as far as possible.

    Along each axis, a window that is larger than the region contains the region, and a smaller window lies within it. All
    positions for which this is true have equal probabilities. If bounds are known, the window stays inside of them.

    Args:
        picture: tensor whose sizes along its first axes are the bounds.
        crop_shape: size of the window along each axis.
        in_shape: bounds, in place of `picture`; without `picture` and `in_shape`, the window has no bounds.
        roi_end: end of the region, exclusive.
        roi_shape: size of the region, in place of `roi_end`.
        roi_start: start of the region.

    Returns: int64 [axes], start of the window.

    Parity: random numbers differ from DALI's, but have the same distribution. Traced values are not
        checked; the start of a window that does not fit is then unspecified.

    Example:
        corner = fn.roi_random_crop(crop_shape=[3, 4], roi_start=[2, 0], roi_end=[4, 8], in_shape=[9, 8])
    """
    crop, start = (jnp.atleast_1d(jnp.asarray(value, jnp.int32)) for value in (crop_shape, roi_start))
    end = jnp.asarray(roi_end, jnp.int32) if roi_shape is None else start + jnp.asarray(roi_shape, jnp.int32)
    low, high = jnp.minimum(start, end - crop), jnp.maximum(start, end - crop)
    bounds: Any = in_shape
    if picture is not None:
        bounds = extent[0] if isinstance(extent, (tuple, list)) else extent
    if bounds is not None:
        low = jnp.maximum(low, 0)
        high = jnp.minimum(high, jnp.atleast_1d(jnp.asarray(bounds, jnp.int32))[: crop.size] - crop)
    words = jax.random.key_data(key)
    drawn = integer(split((words[0], words[1]), crop.size), jnp.maximum(high - low, 0) + 1)
    return jnp.resize(low + drawn, out_shape).astype(narrowed(np.dtype(np.int64)))
