from __future__ import annotations

import numpy as np

from jdali._batches import BatchSpec, Plan, size_text
from jdali._errors import SampleError, check_samples
from jdali._kernels.box_window_search import MOST_ATTEMPTS, Search, find_window, kept
from jdali._numerics.random import SampleKeys, numpy_generator
from jdali._numerics.rounding import np_round_half_away
from jdali._operators.record import PerSample, Static, host_operator

_NAME = "ssd_random_crop"
# Thresholds of DALI's random_crop.h; DALI's option to accept any window is the threshold 0.
_THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9, 0.0)


def setup(
    images: BatchSpec, boxes: BatchSpec, labels: BatchSpec, *, num_attempts: int, keys: SampleKeys
) -> Plan:
    if num_attempts < 1:
        raise ValueError(f"{_NAME}: num_attempts must be at least 1, got {num_attempts}")
    if images.ndim != 3:
        raise ValueError(f"{_NAME}: images must be [H, W, C], got {images.ndim} axes")
    if boxes.dtype != np.float32 or boxes.ndim != 2:
        raise ValueError(
            f"{_NAME}: boxes must be float32 [boxes, 4], got {boxes.dtype} with {boxes.ndim} axes"
        )
    check_samples(
        boxes.extents[:, 1] != 4,
        lambda i: (
            f"{_NAME}: The second dimension of the bounding box tensor should be 4. Got {size_text(boxes.extents[i])}"
        ),
    )
    check_samples(
        labels.extents[:, 0] != boxes.extents[:, 0] if labels.ndim else np.ones(labels.batch_size, bool),
        lambda i: (
            f"{_NAME}: boxes of shape {boxes.extents[i].tolist()} and labels of shape {labels.extents[i].tolist()}; "
            "they must be [boxes, 4] and [boxes, ...]"
        ),
    )
    return Plan((images, boxes, labels), {"_words": keys.numpy_words()})


@host_operator(setup=setup, outputs=3, devices=("cpu",), source="operators/ssd/random_crop.cc")
def ssd_random_crop(
    key: object,
    image: np.ndarray,
    boxes: np.ndarray,
    labels: np.ndarray,
    /,
    *,
    num_attempts: Static[int] = 1,
    _words: PerSample[tuple[int, ...] | None] = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cuts out a random window that overlaps with all boxes. Returns the window and the boxes and labels in it.

    Each round draws a threshold (0, 0.1, 0.3, 0.5, 0.7 or 0.9), or decides not to crop, and draws `num_attempts` windows.
    The sides of a window are 0.3 to 1 times the sides of the image, and the ratio of these two factors is 1/2 to 2. A window
    is accepted if the intersection over union of the window and each box reaches the threshold, and if it contains the
    centre of at least one box. Boxes whose centre is outside of the window are removed. Deprecated in DALI in favour of
    `random_bbox_crop`.

    Args:
        image: [H, W, C].
        boxes: float32 [boxes, 4]: (left, top, right, bottom), as shares of the sides, 0 to 1.
        labels: [boxes, ...].
        num_attempts: windows drawn in a round, at least 1.

    Returns: the window [h, w, C], its borders rounded half away from zero; float32 [kept, 4] boxes relative to it, cut
        at its borders; labels [kept, ...].

    Parity: windows have DALI's distribution, not its values. If no window is accepted, DALI never ends; jdali raises an error
        for the sample after 200,000 attempts.

    Example: images, boxes, box_labels = fn.ssd_random_crop(images, boxes, box_labels, num_attempts=20)
    """
    assert _words is not None  # only `setup` passes this argument
    first, last = boxes[:, :2], boxes[:, 2:]
    outside = boxes[~((boxes >= 0) & (boxes <= 1)).all(axis=1)]
    if len(outside):
        raise SampleError(
            f"{_NAME}: box {outside[0].tolist()} is out of bounds; boxes are in shares of the sides, from 0 to 1"
        )
    search = Search(
        thresholds=_THRESHOLDS, allow_no_crop=True, scaling=(0.3, 1.0), aspect_ratio=((0.5, 2.0),),
        num_attempts=num_attempts, total_num_attempts=None, all_boxes=True, iou=True, prune_threshold=None,
    )  # fmt: skip
    window = find_window(numpy_generator(np.asarray(_words)), first, last, search, None, None)
    if window is None:
        raise SampleError(f"{_NAME}: none of {MOST_ATTEMPTS} windows overlaps with all boxes")
    if window.whole:
        return image, boxes, labels
    stay = np.flatnonzero(kept(window.first, window.last, first, last, None))
    low, high = window.first, window.last
    borders = [(np.clip(edge[stay], low, high) - low) / (high - low) for edge in (first, last)]
    sides = np.array(image.shape[1::-1])
    left, top = np_round_half_away(low * sides).astype(int)
    right, bottom = np_round_half_away(high * sides).astype(int)
    cut = np.concatenate(borders, axis=1).astype(np.float32)
    return np.ascontiguousarray(image[top:bottom, left:right]), cut, labels[stay]
