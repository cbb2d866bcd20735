from __future__ import annotations

from typing import Any

import numpy as np

from jdali._batches import BatchSpec, Plan, size_text
from jdali._errors import check_samples
from jdali._kernels.box_layout import borders_of, boxes_of
from jdali._operators.record import PerSample, Static, host_operator
from jdali.ops.image._rotate import canvas_size

_NAME = "bbox_rotate"
_MODES = ("expand", "fixed", "halfway")


def setup(
    boxes: BatchSpec,
    labels: BatchSpec | None = None,
    *,
    angle: np.ndarray,
    bbox_layout: str,
    input_shape: np.ndarray,
    keep_size: bool,
    mode: str,
    remove_threshold: float,
    shape_layout: str,
    size: np.ndarray,
) -> Plan:
    _check_inputs(boxes, labels)
    if bbox_layout not in ("xyXY", "xyWH"):
        raise ValueError(f"{_NAME}: Unknown bbox_layout: {bbox_layout}. Supported layouts are: xyWH, xyXY.")
    if mode not in _MODES:
        raise ValueError(f"{_NAME}: Unknown mode: {mode}. Supported modes are: {', '.join(_MODES)}.")
    if not 0 <= remove_threshold <= 1:
        raise ValueError(f"{_NAME}: remove_threshold must be from 0 to 1, got {remove_threshold}")
    axes = [shape_layout.find(letter) for letter in "HW"]
    if min(axes) < 0:
        raise ValueError(f"{_NAME}: shape_layout does not contain 'W' and/or 'H', it is {shape_layout!r}")
    if input_shape.ndim != 2 or input_shape.shape[1] <= max(axes):
        raise ValueError(
            f"{_NAME}: `input_shape` ndim is smaller than the `shape_layout` ndim: it has "
            f"{size_text(input_shape.shape[1:])} values for {shape_layout!r}"
        )
    picture = input_shape[:, axes].astype(np.int64)
    if size.shape[-1]:
        if keep_size:
            raise ValueError(
                f"{_NAME}: fn.bbox_rotate `keep_size` is mutually exclusive with `size` argument"
            )
        if size.ndim != 2 or size.shape[1] != 2:
            raise ValueError(
                f"{_NAME}: `size` list argument must be exactly two elements (HW), as must be a `size` tensor argument. "
                f"Got shape {size_text(size.shape[1:])}"
            )
        canvas = np.floor(size)
    else:
        canvas = picture if keep_size else canvas_size(picture, angle)
    sizes = np.stack([picture, canvas], axis=1)[:, :, ::-1].astype(np.float32)
    outputs = (boxes,) if labels is None else (boxes, labels)
    return Plan(outputs, {"_sizes": sizes})


def _check_inputs(boxes: BatchSpec, labels: BatchSpec | None) -> None:
    if boxes.dtype != np.float32:
        raise TypeError(f"{_NAME}: Input boxes must be float32, got {boxes.dtype}")
    wrong = boxes.extents[:, -1] != 4 if boxes.ndim == 2 else np.ones(boxes.batch_size, bool)
    check_samples(
        wrong,
        lambda i: (
            f"{_NAME}: First input to fn.bbox_rotate should be [N,4], got {size_text(boxes.extents[i])}"
        ),
    )
    if labels is None:
        return
    if labels.dtype != np.int32:
        raise TypeError(f"{_NAME}: labels must be int32, got {labels.dtype}")
    column = (labels.extents[:, 1:] == 1).all(axis=1) & (labels.ndim in (1, 2))
    check_samples(
        ~column,
        lambda i: (
            f"{_NAME}: Label input to fn.bbox_rotate should be [N] or [N, 1], got {size_text(labels.extents[i])}"
        ),
    )
    check_samples(
        labels.extents[:, 0] != boxes.extents[:, 0],
        lambda i: (
            f"{_NAME}: Number of labels must match number of boxes. Got: {labels.extents[i, 0]} and "
            f"{boxes.extents[i, 0]}"
        ),
    )


@host_operator(
    setup=setup, output_per_optional=True, devices=("cpu",),
    source="operators/bbox/bbox_rotate.cc",
)  # fmt: skip
def bbox_rotate(
    boxes: np.ndarray,
    labels: np.ndarray | None = None,
    /,
    *,
    angle: PerSample[float],
    bbox_layout: Static[str] = "xyXY",
    bbox_normalized: Static[bool] = True,
    input_shape: PerSample[tuple[int | np.integer, ...]],
    keep_size: Static[bool] = False,
    mode: Static[str] = "expand",
    remove_threshold: Static[float] = 0.1,
    shape_layout: Static[str] = "HW",
    size: PerSample[tuple[float | np.integer, ...]] = (),
    _sizes: PerSample[Any] = None,
) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """Moves boxes as `rotate` moves the image.

    Args:
        boxes: float32 [boxes, 4].
        labels: int32 [boxes] or [boxes, 1]; labels of kept boxes are returned.
        angle: degrees, counter-clockwise.
        bbox_layout: "xyXY" or "xyWH".
        bbox_normalized: True: boxes are shares of the image, and new boxes shares of the canvas; False: pixels.
        input_shape: size of the image, pixels.
        keep_size: the canvas has the size of the image.
        mode: size of the new boxes: "expand": around the whole rotated box; "fixed": the old width and height, swapped
            if the rotation makes a tall box wide or a wide box tall; "halfway": the mean of these two sizes.
        remove_threshold: share of a box, 0 to 1, that must lie on the canvas; boxes with less are removed.
        shape_layout: order of `input_shape`.
        size: size of the canvas, (height, width), rounded down; empty: the size of the image with `keep_size`, else the
            size that `rotate` chooses.

    Returns: float32 [kept, 4] boxes, cut at the borders of the canvas; with `labels`, int32 [kept, ...] labels.

    Example:
        boxes, box_labels = fn.bbox_rotate(
            boxes, box_labels, angle=20.0, input_shape=[480, 640], bbox_layout="xyXY"
        )
    """
    picture, canvas = _sizes
    scale = picture if bbox_normalized else np.ones(2, np.float32)
    first, last = borders_of(boxes, bbox_layout)
    # Corners relative to the middle of the image, which becomes the middle of the canvas.
    half = np.float32(0.5) if bbox_normalized else picture / 2
    low, high = (first - half) * scale, (last - half) * scale
    x = np.stack([low[:, 0], high[:, 0], low[:, 0], high[:, 0]], axis=1)
    y = np.stack([low[:, 1], low[:, 1], high[:, 1], high[:, 1]], axis=1)
    radians = np.asarray(angle, np.float32) * np.float32(np.pi / 180)
    cos, sin = np.cos(radians), np.sin(radians)
    # y points down.
    corners = np.stack([x * cos + y * sin, y * cos - x * sin], axis=2) + canvas / 2
    first, last = corners.min(axis=1), corners.max(axis=1)
    if mode != "expand":
        shrink = _growth(last - first, high - low) * np.float32(0.5 if mode == "fixed" else 0.25)
        first, last = first + shrink, last - shrink
    area = (last - first).prod(axis=1)
    first, last = (np.clip(border, 0, canvas) for border in (first, last))
    left = (last - first).prod(axis=1)
    stay = np.divide(left, area, out=np.zeros_like(left), where=area != 0) >= np.float32(remove_threshold)
    moved = boxes_of(first[stay], last[stay], bbox_layout)
    if bbox_normalized:
        moved = moved * np.tile(1 / canvas, 2)
    return moved if labels is None else (moved, labels[stay])


def _growth(new: np.ndarray, old: np.ndarray) -> np.ndarray:
    """Subtracts `old` from `new` sizes, [N, 2]. If a tall box became wide or vice versa, first swaps the old sides."""
    turned = (old[:, 0] < old[:, 1]) != (new[:, 0] < new[:, 1])
    return new - np.where(turned[:, None], old[:, ::-1], old)
