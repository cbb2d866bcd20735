"""Layouts of bounding boxes: the order of their float32 coordinates, such as "xyXY", "xyWH" or "xyzXYZ"."""

from __future__ import annotations

import numpy as np

from jdali._batches import BatchSpec, size_text
from jdali._errors import check_samples, wrong_dtype

# Letters of a box's low border, high border and size along each axis.
_FIRST, _LAST, _SIZE = "xyz", "XYZ", "WHD"


def check_flat_boxes(name: str, boxes: BatchSpec) -> None:
    """Raises an error unless boxes are float32 and the last axis of each sample holds whole 2D boxes."""
    if boxes.dtype != np.float32:
        raise wrong_dtype(name, "Bounding box in wrong format: it", boxes.dtype, "float32")
    wrong = boxes.extents[:, -1] % 4 != 0 if boxes.ndim else np.ones(boxes.batch_size, bool)
    check_samples(
        wrong,
        lambda i: (
            f"{name}: Bounding box tensor size must be a multiple of 4. Got: {boxes.extents[i].prod()}; boxes have 4 "
            f"coordinates in the last axis, the shape is {size_text(boxes.extents[i])}"
        ),
    )


def checked_layout(name: str, layout: str, ndim: int) -> str:
    """Returns `layout` after checking that it is a permutation of all borders, or of all low borders and sizes.

    Args:
        ndim: number of axes, 2 or 3.

    Raises:
        ValueError: `layout` is neither.
    """
    borders = _FIRST[:ndim] + _LAST[:ndim]
    sizes = _FIRST[:ndim] + _SIZE[:ndim]
    if sorted(layout) not in (sorted(borders), sorted(sizes)):
        raise ValueError(
            f"{name}: `bbox_layout` should be a permutation of `{borders}` or `{sizes}`. Got: `{layout}`"
        )
    return layout


def borders_of(boxes: np.ndarray, layout: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns the low and high borders of boxes, float32 [N, ndim] each, x first.

    Args:
        boxes: float32 [N, 2 * ndim].
        layout: result of `checked_layout`.
    """
    ndim = len(layout) // 2
    first = boxes[:, [layout.index(letter) for letter in _FIRST[:ndim]]]
    if "X" in layout:
        return first, boxes[:, [layout.index(letter) for letter in _LAST[:ndim]]]
    return first, first + boxes[:, [layout.index(letter) for letter in _SIZE[:ndim]]]


def boxes_of(first: np.ndarray, last: np.ndarray, layout: str) -> np.ndarray:
    """Makes boxes [N, 2 * ndim] from their low and high borders; the inverse of `borders_of`."""
    ndim = len(layout) // 2
    has_last = "X" in layout
    columns = np.concatenate([first, last if has_last else last - first], axis=1)
    letters = _FIRST[:ndim] + (_LAST if has_last else _SIZE)[:ndim]
    return columns[:, [letters.index(letter) for letter in layout]]
