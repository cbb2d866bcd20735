from __future__ import annotations

import warnings

import numpy as np

from jdali._batches import BatchSpec, Plan, size_text
from jdali._errors import SampleError, check_samples, wrong_dtype
from jdali._kernels.box_layout import borders_of, boxes_of, checked_layout
from jdali._kernels.box_window_search import MOST_ATTEMPTS, FoundWindow, Search, find_window, kept
from jdali._numerics.random import SampleKeys, numpy_generator
from jdali._operators.record import PerSample, Static, host_operator

_NAME = "random_bbox_crop"


def setup(
    boxes: BatchSpec,
    labels: BatchSpec | None = None,
    *,
    all_boxes_above_threshold: bool,
    allow_no_crop: bool,
    aspect_ratio: tuple[float, ...],
    bbox_layout: str | None,
    bbox_prune_threshold: float | None,
    crop_shape: np.ndarray | None,
    input_shape: np.ndarray | None,
    ltrb: bool,
    num_attempts: int,
    output_bbox_indices: bool,
    scaling: tuple[float, ...],
    shape_layout: str | None,
    threshold_type: str,
    thresholds: tuple[float, ...] | float,
    total_num_attempts: int,
    keys: SampleKeys,
) -> Plan:
    ndim = _axes(boxes, labels)
    _check_fixed_size(crop_shape, input_shape, aspect_ratio, scaling)
    if not ltrb and bbox_layout:
        raise ValueError(
            f"{_NAME}: `ltrb` and `bbox_layout` can't be provided at the same time. `ltrb` was deprecated in favor of "
            "`bbox_layout`."
        )
    search = Search(
        thresholds=_shares("thresholds", thresholds),
        # If windows have a fixed size, a round cannot choose the whole image.
        allow_no_crop=allow_no_crop and crop_shape is None,
        scaling=_scaling(scaling),
        aspect_ratio=_aspect_ratios(aspect_ratio, ndim),
        num_attempts=_count("num_attempts", num_attempts),
        total_num_attempts=(
            None if total_num_attempts == -1 else _count("total_num_attempts", total_num_attempts)
        ),
        all_boxes=all_boxes_above_threshold,
        iou=_is_iou(threshold_type),
        prune_threshold=(
            None if bbox_prune_threshold is None else _shares("bbox_prune_threshold", bbox_prune_threshold)[0]
        ),
    )
    default = "xyzXYZ" if ndim == 3 else "xyXY"
    layout = bbox_layout or (default if ltrb else "xyz"[:ndim] + "WHD"[:ndim])
    sizes = {"input_shape": input_shape, "crop_shape": crop_shape}
    per_sample: dict[str, np.ndarray] = {"_words": keys.numpy_words()}
    for name, value in sizes.items():
        if value is not None:
            per_sample[name] = _in_order(name, value, shape_layout, ndim)
    vector = BatchSpec(np.full((boxes.batch_size, 1), ndim), np.dtype(np.float32))
    outputs = [vector, vector, boxes.replace(layout="")]
    if labels is not None:
        outputs.append(labels)
    if output_bbox_indices:
        outputs.append(BatchSpec(boxes.extents[:, :1], np.dtype(np.int32)))
    return Plan(
        tuple(outputs), per_sample, {"_search": search, "bbox_layout": checked_layout(_NAME, layout, ndim)}
    )


def _axes(boxes: BatchSpec, labels: BatchSpec | None) -> int:
    """Checks types and shapes; returns the number of axes, 2 or 3, which is half the number of coordinates of a box."""
    if boxes.dtype != np.float32:
        raise wrong_dtype(_NAME, "boxes", boxes.dtype, "float32")
    if boxes.ndim != 2:
        raise ValueError(
            f"{_NAME}: Unexpected number of dimensions for bounding boxes input: {boxes.ndim}. Boxes are "
            "[boxes, coordinates]"
        )
    columns = int(boxes.extents[0, 1]) if boxes.batch_size else 4
    wrong = (boxes.extents[:, 1] != columns) | (columns not in (4, 6))
    check_samples(
        wrong,
        lambda i: (
            f"{_NAME}: Unexpected number of coordinates for bounding boxes: {boxes.extents[i, 1]}. It must be 4 or 6, in "
            f"all samples as many; the shape is {size_text(boxes.extents[i])}"
        ),
    )
    if labels is not None:
        if labels.dtype != np.int32:
            raise wrong_dtype(_NAME, "labels", labels.dtype, "int32")
        few = labels.extents[:, 0] != boxes.extents[:, 0] if labels.ndim else np.ones(labels.batch_size, bool)
        check_samples(
            few,
            lambda i: (
                f"{_NAME}: labels of shape {labels.extents[i].tolist()} for {boxes.extents[i, 0]} boxes"
            ),
        )
    return columns // 2


def _check_fixed_size(
    crop_shape: object, input_shape: object, aspect_ratio: tuple[float, ...], scaling: tuple[float, ...]
) -> None:
    if crop_shape is None:
        return
    if input_shape is None:
        raise ValueError(
            f"{_NAME}: ``input_shape`` must be provided when providing ``crop_shape``: the size of the picture"
        )
    for name, value in (("aspect_ratio", aspect_ratio), ("scaling", scaling)):
        if tuple(value) != (1.0, 1.0):
            raise ValueError(f"{_NAME}: `{name}` is incompatible with providing the crop shape explicitly")


def _shares(name: str, values: tuple[float, ...] | float) -> tuple[float, ...]:
    shares = values if isinstance(values, tuple) else (values,)
    if not shares:
        raise ValueError(f"{_NAME}: At least one threshold value must be provided, {name} is empty")
    if not all(0 <= share <= 1 for share in shares):
        title = "Threshold value" if name == "thresholds" else f"`{name}`"
        raise ValueError(f"{_NAME}: {title} must be within the range [0.0, 1.0]. Received: {values}")
    return tuple(map(float, shares))


def _scaling(scaling: tuple[float, ...]) -> tuple[float, float]:
    if len(scaling) != 2 or not 0 <= scaling[0] <= scaling[1]:
        raise ValueError(
            f"{_NAME}: `scaling` range must be positive and min <= max, a range `[min, max]`. Got: {scaling}"
        )
    return scaling[0], scaling[1]


def _aspect_ratios(values: tuple[float, ...], ndim: int) -> tuple[tuple[float, float], ...]:
    ranges = tuple(zip(values[::2], values[1::2], strict=False))
    if len(values) not in ((2, 6) if ndim == 3 else (2,)):
        raise ValueError(
            f"{_NAME}: `aspect_ratio` range argument should have 2 elements, or 6 elements in case of 3D bounding boxes. "
            f"Got {len(values)} elements"
        )
    if not all(0 < a <= b for a, b in ranges):
        raise ValueError(f"{_NAME}: `aspect_ratio` range must be positive and min <= max. Got: {values}")
    return ranges


def _count(name: str, value: int) -> int:
    if value < 1:
        words = {"num_attempts": "number of attempts", "total_num_attempts": "total number of attempts"}
        raise ValueError(f"{_NAME}: Minimum {words[name]} must be greater than zero, {name} is {value}")
    return value


def _is_iou(threshold_type: str) -> bool:
    if threshold_type not in ("iou", "overlap"):
        raise ValueError(
            f'{_NAME}: Not supported ``threshold_type`` value: "{threshold_type}". Supported values are: "iou", "overlap".'
        )
    return threshold_type == "iou"


def _in_order(name: str, sizes: np.ndarray, shape_layout: str | None, ndim: int) -> np.ndarray:
    """Returns sizes [N, ndim] with the width first."""
    layout, letters = shape_layout or "WHD"[:ndim], "WHD"[:ndim]
    if sorted(layout) != sorted(letters):
        raise ValueError(
            f"{_NAME}: `shape_layout` should be a permutation of `{letters}` for the provided inputs, got {layout!r}"
        )
    if sizes.ndim != 2 or sizes.shape[1] != ndim:
        raise ValueError(
            f"{_NAME}: Argument `{name}` must be a {ndim}D vector. Got {size_text(sizes.shape[1:])} elements."
        )
    check_samples(
        (sizes < 1).any(axis=1),
        lambda i: (
            f"{_NAME}: ``{name}`` argument should contain non negative values, and no 0. Got: {sizes[i].tolist()}"
        ),
        argument=name,
    )
    return sizes[:, [layout.index(letter) for letter in letters]]


@host_operator(
    setup=setup, outputs=lambda arguments: 3 + bool(arguments.get("output_bbox_indices")),
    output_per_optional=True, devices=("cpu",), source="operators/image/crop/bbox_crop.cc",
)  # fmt: skip
def random_bbox_crop(
    key: object,
    boxes: np.ndarray,
    labels: np.ndarray | None = None,
    /,
    *,
    all_boxes_above_threshold: Static[bool] = True,
    allow_no_crop: Static[bool] = True,
    aspect_ratio: Static[tuple[float, ...]] = (1.0, 1.0),
    bbox_layout: Static[str | None] = None,
    bbox_prune_threshold: Static[float | None] = None,
    crop_shape: PerSample[tuple[int, ...] | None] = None,
    input_shape: PerSample[tuple[int, ...] | None] = None,
    ltrb: Static[bool] = True,
    num_attempts: Static[int] = 1,
    output_bbox_indices: Static[bool] = False,
    quiet: Static[bool] = False,
    scaling: Static[tuple[float, ...]] = (1.0, 1.0),
    shape_layout: Static[str | None] = None,
    threshold_type: Static[str] = "iou",
    thresholds: Static[tuple[float, ...]] = (0.0,),
    total_num_attempts: Static[int] = -1,
    _search: Static[Search | None] = None,
    _words: PerSample[tuple[int, ...] | None] = None,
) -> tuple[np.ndarray, ...]:
    """Draws windows until one shows enough of the boxes; returns the window and the boxes in it.

    Each round draws one of `thresholds`, or decides not to crop, and draws `num_attempts` windows. A window is accepted if
    its overlap with the boxes reaches the threshold, and at least one box stays. A box stays if its centre is in the window
    (but see `bbox_prune_threshold`). Boxes that stay are cut at the window's borders. Without boxes, every window is
    accepted.

    Args:
        boxes: float32 [boxes, 4], or [boxes, 6] in 3D, relative to the image (0 to 1).
        labels: int32 [boxes, ...]; labels of boxes that stay are returned.
        all_boxes_above_threshold: True: all boxes must reach the threshold; False: one box must.
        allow_no_crop: a round may also choose the whole image with all boxes; without effect with `crop_shape`.
        aspect_ratio: smallest and largest ratio of width to height: in pixels if `input_shape` is given,
            else of relative sizes. In 3D, one such pair, or three pairs for x/y, x/z and y/z.
        bbox_layout: order of the coordinates, letters of "xyzXYZWHD"; None: "xyXY" or "xyzXYZ".
        bbox_prune_threshold: a box stays if at least this share of it is in the window, 0 to 1. At 0, a box
            stays if any part of it is in the window. None: a box stays if its centre is in the window.
        crop_shape: size of the windows, pixels; needs `input_shape`.
        input_shape: size of the image, pixels.
        ltrb: without `bbox_layout`: True: boxes are (left, top, right, bottom); False: (left, top, width, height).
        num_attempts: windows drawn in a round, at least 1.
        output_bbox_indices: also return the indices of the boxes that stay.
        quiet: do not warn if no window was accepted and the best one is returned.
        scaling: smallest and largest size of a window along each axis, as a share of the image's size.
        shape_layout: order of `crop_shape` and `input_shape`, e.g. "HW"; None: "WH" or "WHD".
        threshold_type: definition of overlap: "iou", the intersection over the union of box and window, or
            "overlap", the intersection over the area of the box.
        thresholds: required overlaps, 0 to 1; each round draws one of them.
        total_num_attempts: number of windows after which the best one is returned; -1: no limit.

    Returns: float32 [2] anchor and [2] shape (x first) of the window, as shares of the image, or in pixels
        with `crop_shape`; float32 [kept, 4] boxes relative to the window; with `labels`, int32 [kept, ...]
        labels; with `output_bbox_indices`, int32 [kept] indices.

    Parity: windows have DALI's distribution, not its values. With `input_shape` and a single aspect ratio, DALI draws
        windows that extend past the image; here such a window is made smaller. Where DALI searches forever, jdali raises an
        error for the sample after 200,000 attempts. If no window has an allowed aspect ratio, the result after
        `total_num_attempts` is the whole image; in DALI, it is an empty window.

    Example:
        anchor, size, boxes, box_labels = fn.random_bbox_crop(
            boxes, box_labels, bbox_layout="xyXY", thresholds=[0.1, 0.5], scaling=[0.3, 1.0]
        )
    """
    assert _search is not None  # only `setup` passes these arguments
    assert _words is not None
    assert bbox_layout is not None
    first, last = borders_of(boxes, bbox_layout)
    # As in DALI, first <= last is not checked. NaN is an error, because it fails the comparisons.
    inside = ((first >= 0) & (first <= 1) & (last >= 0) & (last <= 1)).all(axis=1)
    outside = boxes[~inside]
    if len(outside):
        raise SampleError(
            f"{_NAME}: box {outside[0].tolist()} is out of bounds; boxes are in shares of the picture, from 0 to 1"
        )
    picture, crop = (None if size is None else np.asarray(size) for size in (input_shape, crop_shape))
    window = find_window(numpy_generator(np.asarray(_words)), first, last, _search, picture, crop)
    if window is None:
        raise SampleError(
            f"{_NAME}: none of {MOST_ATTEMPTS} windows had an overlap above the threshold and an allowed "
            "aspect ratio; loosen thresholds, scaling or aspect_ratio, or give total_num_attempts to take the "
            "best window"
        )
    if not window.satisfying and not quiet:
        warnings.warn(
            f"{_NAME}: no window satisfies the thresholds in {total_num_attempts} attempts; the best one is "
            "taken (quiet=True silences this)",
            RuntimeWarning,
            stacklevel=2,
        )
    stay, remapped = _boxes_in(window, first, last, bbox_layout, _search.prune_threshold)
    outputs = [window.anchor, window.shape, boxes if remapped is None else remapped]
    if labels is not None:
        outputs.append(labels[stay])
    if output_bbox_indices:
        outputs.append(stay.astype(np.int32))
    return tuple(outputs)


def _boxes_in(
    window: FoundWindow, first: np.ndarray, last: np.ndarray, layout: str, prune_threshold: float | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Returns the indices of the boxes that stay, and the boxes relative to the window (None if all are unchanged)."""
    if window.whole:
        return np.arange(len(first)), None
    stay = np.flatnonzero(kept(window.first, window.last, first, last, prune_threshold))
    size = window.last - window.first
    cut = [(np.clip(b[stay], window.first, window.last) - window.first) / size for b in (first, last)]
    return stay, boxes_of(cut[0], cut[1], layout)
