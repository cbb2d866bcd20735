from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec, Plan
from jdali._errors import check_samples
from jdali._kernels.border import INDICES, border_name
from jdali._kernels.correlate import SumKind, correlate_axes, padded_taps
from jdali._kernels.fit import fit
from jdali._operators.record import PerFrame, Static, extents_of, operator

_TYPES = tuple(map(np.dtype, (np.uint8, np.int8, np.uint16, np.int16, np.float16, np.float32)))
_BORDERS = (*INDICES, "constant")
_FLOAT = np.dtype(np.float32)


def spatial_axes(layout: str, ndim: int) -> tuple[int, int]:
    """Returns the range (first, end) of the axes along which the kernel moves: two or three adjacent axes."""
    letters = layout or "DHW"[-ndim:]
    axes = [a for a, letter in enumerate(letters) if letter not in "CF"]
    frames = len(letters) - len(letters.lstrip("F"))
    followed = bool(axes) and axes == list(range(axes[0], axes[-1] + 1))
    if "F" in letters[frames:]:
        raise ValueError(
            "filter: When the input is video-like (i.e. contains frames), the frames must be an outermost dimension. However, "
            f"got input with `{layout}` layout."
        )
    if not followed or len(axes) not in (2, 3) or letters.count("C") > 1 or letters.count("F") != frames:
        raise ValueError(
            f"filter: Filter operator encountered input with unsupported layout: `{layout}` and {ndim} "
            "dimensions. However, only 2D and 3D convolutions are supported. It takes HW, HWC, CHW, DHW, DHWC, CDHW, and "
            "sequences of these, with F in front"
        )
    return axes[0], axes[-1] + 1


def setup(
    data: BatchSpec,
    filter: BatchSpec,
    fill_value: BatchSpec | None = None,
    *,
    anchor: np.ndarray,
    border: str,
    dtype: np.dtype | None,
    mode: str,
    layout: tuple[str, ...],
) -> Plan:
    border_name("filter", "border", border, _BORDERS)
    if mode not in ("same", "valid"):
        raise ValueError(
            f"filter: Unknown ``mode`` was provided: ``{mode}``. Supported modes are ``same`` and ``valid``."
        )
    if data.dtype not in _TYPES:
        names = ", ".join(kind.name for kind in _TYPES)
        raise ValueError(
            f"filter: Filter CPU does not support input type {data.dtype}. It must be one of {names}; cast it"
        )
    if filter.dtype != _FLOAT:
        raise ValueError(f"filter: Unsupported filter type: {filter.dtype}. It must be float32; cast it")
    if dtype not in (None, data.dtype, _FLOAT):
        raise ValueError(
            "filter: Output data type must be same as input, FLOAT or skipped (defaults to input type). Got "
            f"{dtype} for {data.dtype}"
        )
    first, last = spatial_axes(layout[0], data.ndim)
    axes = last - first
    frames = _frames("filter", data, filter, axes, layout[0])
    if fill_value is not None:
        if fill_value.dtype != data.dtype:
            raise ValueError(
                "filter: The padding scalars (third positional argument) must be of the same time as the input samples. Got "
                f"{fill_value.dtype} for pad values while the input samples are of type {data.dtype}."
            )
        _frames("fill_value", data, fill_value, 0, layout[0])
    sizes = filter.extents[:, frames:]
    _refuse(
        (sizes < 1).any(axis=1), "Filter of volume zero is not supported, got zero-volume filter", sizes, None
    )
    anchors = _anchors(anchor, sizes)
    extents = data.extents.copy()
    if mode == "valid":
        anchors = np.zeros_like(anchors)
        extents[:, first:last] -= sizes - 1
        _refuse(
            (extents[:, first:last] < 1).any(axis=1),
            "the filter is bigger than the sample. This is not allowed if ``mode`` is set to ``valid``. Got a filter of",
            sizes,
            None,
        )
    largest = sizes.max(axis=0) if len(sizes) else np.ones(axes, np.int64)
    taps = tuple(padded_taps(int(n)) for n in largest)
    out = BatchSpec(extents, dtype or data.dtype, data.layout)
    return Plan((out,), params={"anchor": anchors}, static={"_taps": taps})


def _frames(name: str, data: BatchSpec, values: BatchSpec, axes: int, layout: str) -> int:
    """Returns 0 if `values` has `axes` axes, and 1 if it also has a leading axis of frames. Raises otherwise."""
    extra = values.ndim - axes
    if extra not in (0, 1) or (extra and not layout.startswith("F")):
        wanted = "a scalar" if not axes else f"{axes} axes, as the data have besides F and C"
        rule = (
            "Filter dimensionality must match the number of spatial dimensions in the input samples. "
            if axes
            else ""
        )
        raise ValueError(
            f"filter: {rule}{name} has {values.ndim} axes; it must be {wanted}, or one a frame of a sequence"
        )
    if extra:
        wrong = values.extents[:, 0] != data.extents[:, 0]
        _refuse(wrong, f"{name} must have an element for each frame of the data", values.extents, None)
    return extra


def _anchors(anchor: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Returns anchors, int32 [N, axes]; -1 becomes the middle."""
    count, axes = sizes.shape
    lengths = extents_of(anchor).prod(axis=1)
    _refuse(
        (lengths != 1) & (lengths != axes),
        f'Argument "anchor" expected shape {axes}, or 1 value, but got',
        lengths[:, None],
        "anchor",
    )
    if anchor.dtype == object:
        anchors = np.array([np.broadcast_to(one, (axes,)) for one in anchor]).reshape(count, axes)
    else:
        anchors = np.broadcast_to(anchor.reshape(count, -1), (count, axes)) if count else np.zeros((0, axes))
    wrong = ((anchors < -1) | (anchors >= sizes)).any(axis=1)
    _refuse(wrong, "Anchor must lie within the filter. Got anchor", anchors, "anchor")
    middle: np.ndarray = np.where(anchors == -1, sizes // 2, anchors).astype(np.int32)
    return middle


def _refuse(bad: Any, message: str, values: np.ndarray, argument: str | None) -> None:
    check_samples(bad, lambda i: f"filter: {message} {tuple(values[i].tolist())}", argument=argument)


@operator(setup=setup, takes_frames="inputs", source="operators/image/convolution/filter.cc")
def filter(
    data: Array,
    filter: Array,
    fill_value: Array | None = None,
    /,
    *,
    anchor: PerFrame[tuple[int, ...] | list[int]] = (-1,),
    border: Static[str] = "reflect_101",
    dtype: Static[np.dtype | None] = None,
    mode: Static[str] = "same",
    _taps: Static[tuple[int, ...] | None] = None,
    extent: tuple[Array, ...],
    out_shape: tuple[int, ...],
    layout: tuple[str, ...],
) -> Array:
    """Correlates images with a kernel: out[x] is the sum of filter[i] · data[x + i - anchor] over all i, in float32.

    The kernel is not flipped; for a convolution, flip its axes.

    Args:
        data: images (HW, HWC, CHW) or volumes (DHW, DHWC, CDHW), or sequences of these with F in front; without a
            layout HW or DHW. uint8, int8, uint16, int16, float16 or float32.
        filter: float32, one axis for each of D, H, W; for sequences also one filter per frame, with F in front.
        fill_value: value outside of images with `border="constant"`, of the data's type; for sequences also
            one value per frame; None: 0.
        anchor: index of the filter's element that lies over the output element, one value for all axes, or one
            per axis; -1: the middle, size // 2. Ignored with `mode="valid"`.
        border: continuation of the data past their borders: "reflect_101" (dcb|abcd|cba), "reflect_1001"
            (cba|abcd|dcb), "wrap" (bcd|abcd|abc), "clamp" (aaa|abcd|ddd), "constant"; or one of DALI's aliases, see
            `slice`.
        dtype: type of the output, float32 or the data's; None: the data's.
        mode: "same": the output has the size of the data; "valid": only positions where the filter lies within the
            data, so axes are shorter by the filter's size - 1.

    Returns: `dtype`, layout of the data; integers are rounded half to even and saturated.

    Parity: volumes, int8 and float16 work on every device; DALI's CPU backend refuses them. Sums are computed in a different
    order, so integers may differ by 1 where a sum is close to a half. A filter of 40 elements or more is applied axis by axis
    if it is separable to within 2⁻²² of its largest element.

    Example: images = fn.filter(images, kernel)
    """
    first, last = spatial_axes(layout[0], data.ndim)
    axes = last - first
    assert _taps is not None
    if not data.size or not filter.size:
        return jnp.zeros(out_shape, dtype or data.dtype)
    fills = jnp.zeros((), data.dtype) if fill_value is None else fill_value
    by_frame = filter.ndim > axes, fills.ndim > 0
    kind = SumKind(
        None if mode == "valid" else border_name("filter", "border", border, _BORDERS),
        np.dtype(dtype or data.dtype), half_to_even=True,
    )  # fmt: skip
    sizes, anchors = extent[1][-axes:], jnp.asarray(anchor, jnp.int32)
    if not any(by_frame):
        return correlate_axes(
            kind, (first, last), _taps, data, filter, fills, anchors, extent[0], sizes, shape=out_shape
        )
    one = functools.partial(correlate_axes, kind, (first - 1, last - 1), _taps, shape=out_shape[1:])
    lead = (0, *(0 if mapped else None for mapped in by_frame), None, None, None)
    return fit(jax.vmap(one, lead)(data, filter, fills, anchors, extent[0][1:], sizes), out_shape)
