"""Computes the output sizes and input windows of resize operators for each sample."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from jdali._batches import BatchSpec
from jdali._errors import check_samples
from jdali._kernels.resample_filters import all_nearest
from jdali._kernels.window import check_positions
from jdali._numerics.rounding import np_round_half_away
from jdali._operators.record import Scaled

MODES = ("default", "stretch", "not_larger", "not_smaller")
_ROUNDINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "round": np_round_half_away,
    "truncate": np.floor,
    "ceil": np.ceil,
}
# Smallest size of a window, as in DALI (resize_attr.cc), because an empty window would make the scale infinite.
_LEAST_WINDOW = 1e-3


@dataclasses.dataclass(frozen=True)
class ResizeWindow:
    """Windows to resample. Along each axis, the part [low, high) of the input becomes `size` elements.

    Attributes:
        low, high: float64 [N, d], in input elements; high < low mirrors the axis.
        size: int64 [N, d].
    """

    low: np.ndarray
    high: np.ndarray
    size: np.ndarray

    def in_scaled(self, scaled: Scaled | None) -> ResizeWindow:
        """Converts the window to pixels of an image that was decoded at a fraction of its size."""
        if scaled is None:
            return self
        low = self.low / scaled.denominator + scaled.offset
        return dataclasses.replace(self, low=low, high=self.high / scaled.denominator + scaled.offset)


def check_types(
    name: str,
    images: BatchSpec,
    dtype: np.dtype | None,
    interp_type: np.ndarray,
    min_filter: np.ndarray | None,
    mag_filter: np.ndarray | None,
) -> np.dtype:
    """Returns the output dtype, which must be the input's or float32. Raises for types that the filters do not take."""
    filtered = images.dtype in (np.uint8, np.int16, np.uint16, np.float32)
    kinds = [interp_type if kind is None else kind for kind in (min_filter, mag_filter)]
    if not filtered and not (images.dtype.kind in "iu" and all_nearest(np.stack(kinds))):
        nearest = ", or take the nearest pixels (interp_type=types.INTERP_NN)" * (images.dtype.kind in "iu")
        raise TypeError(
            f"{name}: Unsupported type: {images.dtype}. Supported types are: uint8, int16, uint16 and float; cast it{nearest}"
        )
    if dtype is not None and dtype not in (images.dtype, np.float32):
        raise ValueError(
            f"{name}: Resize must output original type or float. Got: {dtype} for {images.dtype}"
        )
    return np.dtype(dtype or images.dtype)


def per_axis(name: str, argument: str, value: np.ndarray, count: int) -> np.ndarray:
    """Broadcasts [N], [N, 1] or [N, count] to float64 [N, count]."""
    value = np.asarray(value, np.float64)
    value = value[:, None] if value.ndim == 1 else value
    if value.shape[1] not in (1, count):
        raise ValueError(
            f'{name}: Argument "{argument}" expects either a single value or a list of {count} elements. '
            f"{value.shape[1]} given."
        )
    return np.broadcast_to(value, (len(value), count))


def resize_window(
    name: str,
    extents: np.ndarray,
    *,
    size: np.ndarray | None,
    separate: tuple[np.ndarray | None, ...] = (),
    resize_shorter: np.ndarray | None = None,
    resize_longer: np.ndarray | None = None,
    mode: str,
    max_size: tuple[float, ...] | float | None,
    roi_start: np.ndarray | None,
    roi_end: np.ndarray | None,
    roi_relative: bool,
    subpixel_scale: bool,
    alignment: np.ndarray | float = 0.5,
    size_rounding: str = "round",
) -> ResizeWindow:
    """Computes output sizes and input windows by DALI's rules.

    Args:
        extents: [N, d] of the inputs.
        separate: resize_z (if there are three axes), resize_y, resize_x, each [N] or None.
        alignment: [N, d], see `tensor_resize`.
        size_rounding: see `tensor_resize`.
        (other arguments): as passed to the operator; per-sample arguments have a leading axis N.
    """
    if size_rounding not in _ROUNDINGS:
        raise ValueError(
            f"{name}: size_rounding must be one of {', '.join(_ROUNDINGS)}, got {size_rounding!r}"
        )
    count = extents.shape[1]
    wanted, mode = _wanted(name, count, size, separate, resize_shorter, resize_longer, mode)
    low, high = _region(name, extents, roi_start, roi_end, roi_relative)
    limit = None
    if max_size is not None:
        limit = per_axis(name, "max_size", np.atleast_1d(np.asarray(max_size))[None], count)
    # Sizes are rounded to float32, as in DALI.
    exact = _fill_in(wanted, high - low, mode, limit).astype(np.float32).astype(np.float64)
    _check_finite(name, exact)
    mirror = exact < 0
    low, high = np.where(mirror, high, low), np.where(mirror, low, high)
    exact = np.abs(exact)
    rounded = np.maximum(_ROUNDINGS[size_rounding](exact), 1)
    if subpixel_scale:  # scale the window by the factor by which rounding changed the size
        change = rounded / np.where(exact == 0, 1, exact)
        centre = low + (high - low) * alignment
        low, high = centre + (low - centre) * change, centre + (high - centre) * change
    return ResizeWindow(low, high, np.where(extents == 0, 0, rounded).astype(np.int64))


def _wanted(
    name: str,
    count: int,
    size: np.ndarray | None,
    separate: tuple[np.ndarray | None, ...],
    resize_shorter: np.ndarray | None,
    resize_longer: np.ndarray | None,
    mode: str,
) -> tuple[np.ndarray, str]:
    """Returns the requested sizes, [N, d] (0: no size requested), and the resize mode that applies to them."""
    sides = [s for s in separate if s is not None]
    methods = (size is not None, resize_shorter is not None, resize_longer is not None, bool(sides))
    if sum(methods) != 1:
        raise ValueError(
            f"{name}: Exactly one method of specifying size must be used: separate resize_x, resize_y, resize_z "
            "arguments, the size argument, resize_longer or resize_shorter"
        )
    if mode not in MODES:
        raise ValueError(f"{name}: Invalid resize mode: {mode}. It must be one of {', '.join(MODES)}")
    if (resize_shorter is not None or resize_longer is not None) and mode != "default":
        raise ValueError(
            f"{name}: `resize_shorter`, ``resize_longer`` and ``mode`` arguments are mutually exclusive"
        )
    if resize_shorter is not None:
        return per_axis(name, "resize_shorter", resize_shorter, count), "not_smaller"
    if resize_longer is not None:
        return per_axis(name, "resize_longer", resize_longer, count), "not_larger"
    if size is not None:
        return per_axis(name, "size", size, count), mode
    none = np.zeros(len(sides[0]))
    return np.stack(
        [none if s is None else np.asarray(s, np.float64) for s in separate[-count:]], axis=1
    ), mode


def _region(
    name: str,
    extents: np.ndarray,
    roi_start: np.ndarray | None,
    roi_end: np.ndarray | None,
    roi_relative: bool,
) -> tuple[np.ndarray, np.ndarray]:
    count = extents.shape[1]
    if (roi_start is None) != (roi_end is None):
        raise ValueError(f"{name}: ``roi_start`` and ``roi_end`` must be specified together")
    if roi_start is None or roi_end is None:
        return np.zeros(extents.shape), extents.astype(np.float64)
    low = per_axis(name, "roi_start", roi_start, count)
    high = per_axis(name, "roi_end", roi_end, count)
    if roi_relative:
        low, high = low * extents, high * extents
    middle, half = (low + high) / 2, np.where(high < low, -0.5, 0.5) * _LEAST_WINDOW
    narrow = np.abs(high - low) < _LEAST_WINDOW
    return np.where(narrow, middle - half, low), np.where(narrow, middle + half, high)


def _fill_in(wanted: np.ndarray, source: np.ndarray, mode: str, limit: np.ndarray | None) -> np.ndarray:
    """Computes the unrounded sizes of all axes by the mode and `limit`; the size of a mirrored axis is negative.

    Args:
        wanted: [N, d], requested sizes; 0: none.
        source: [N, d], size of the input window.
        limit: [N or 1, d], largest sizes; 0 or None: no limit.
    """
    requested = (wanted != 0) & (source != 0)
    scale = np.where(source != 0, wanted / np.where(source == 0, 1, source), 1.0)
    scale = scale.astype(np.float32).astype(np.float64)  # as in DALI, because rounding affects positions
    size = np.abs(scale)
    any_requested = requested.any(axis=1, keepdims=True)
    limit = np.where(limit > 0, limit, np.inf) if limit is not None else np.full((1, 1), np.inf)
    if mode in ("default", "stretch"):
        if mode == "default":  # axes without a size get the geometric mean of the other axes' scales
            logs = np.where(requested, np.log(np.where(requested, size, 1)), 0).sum(axis=1, keepdims=True)
            other = np.exp(logs / np.maximum(requested.sum(axis=1, keepdims=True), 1))
        else:
            other = np.ones_like(any_requested, float)
        result = np.where(requested, wanted, source * other)
        result = np.sign(result) * np.minimum(np.abs(result), limit)
        return np.where(any_requested, result, source)
    pick, neutral = (np.max, -np.inf) if mode == "not_smaller" else (np.min, np.inf)
    common = pick(np.where(requested, size, neutral), axis=1, keepdims=True)
    common = np.where(any_requested, common, 1.0)
    fits = np.where(source != 0, limit / np.where(source == 0, 1, np.abs(source)), np.inf)
    common = np.minimum(common, fits.min(axis=1, keepdims=True))
    kept = requested & (size == common)
    result = np.where(kept, wanted, source * common * np.where(scale < 0, -1, 1))
    return np.where(any_requested, result, source)  # no limit applies to samples without a requested size


def _check_finite(name: str, size: np.ndarray) -> None:
    check_samples(
        ~(np.abs(size) < 2**31 - 1),
        lambda i, _: f"{name}: the size {tuple(size[i].tolist())} is too large or no number",
    )


def crop_window(
    name: str,
    window: ResizeWindow,
    crop: np.ndarray,
    position: np.ndarray,
    rounding: str,
) -> ResizeWindow:
    """Shrinks `window` so that resizing it gives only the cropped part of the output.

    Args:
        crop: [N, d], size of the crop; 0: no crop along that axis.
        position: [N, d], share of the free space that lies before the crop.
        rounding: how to round the index of the crop's first element: "round" (half away from zero) or "truncate".
    """
    if rounding not in ("round", "truncate"):
        raise ValueError(
            f"{name}: ``rounding`` value {rounding} is not supported. Supported values are 'round', 'truncate'"
        )
    size = np.where(crop > 0, np.trunc(crop), window.size)
    check_positions(name, size != window.size, list(position.T), "DHW"[-position.shape[1] :])
    free = position * (window.size - size)
    first = np_round_half_away(free) if rounding == "round" else np.trunc(free)
    # DALI rounds the edges and their distance to float32, and continues in float64. The rounding decides which pixel is
    # nearest to a position on a border.
    start, end = window.low.astype(np.float32), window.high.astype(np.float32)
    step = (end - start).astype(np.float64) / np.maximum(window.size, 1)
    low = start + first * step
    return ResizeWindow(low, low + size * step, np.where(window.size == 0, 0, size).astype(np.int64))
