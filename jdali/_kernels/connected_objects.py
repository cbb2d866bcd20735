"""Bounding boxes of the objects in a segmentation map: connected elements of one label."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import NamedTuple

import numpy as np

# Maximum number of entries in the cache. Each pair of map and label has an entry of a few hundred bytes.
_MOST_KEPT = 1 << 16


class Boxes(NamedTuple):
    """Boxes of objects, ordered by the objects' first elements. Fields: int64 [objects, axes]; `end` is exclusive."""

    start: np.ndarray
    end: np.ndarray


def boxes_of_label(labels: np.ndarray, label: int) -> Boxes:
    boxes, _ = _connected(labels == label)
    return boxes


def boxes_of_all(labels: np.ndarray, background: int) -> Boxes:
    """Finds the boxes of all objects whose label is not `background`."""
    from scipy import ndimage  # takes half a second to import

    values, indices = np.unique(labels, return_inverse=True)
    indices = indices.reshape(labels.shape)
    starts, ends, firsts = [], [], []
    for number, window in enumerate(ndimage.find_objects(indices + 1)):
        if values[number] == background:
            continue
        boxes, first = _connected(indices[window] == number)
        corner = np.array([axis.start for axis in window], np.int64)
        starts.append(boxes.start + corner)
        ends.append(boxes.end + corner)
        firsts.append(np.ravel_multi_index(tuple((first + corner).T), labels.shape))
    if not starts:
        return Boxes(*np.zeros((2, 0, labels.ndim), np.int64))
    order = np.argsort(np.concatenate(firsts))
    return Boxes(np.concatenate(starts)[order], np.concatenate(ends)[order])


def _connected(mask: np.ndarray) -> tuple[Boxes, np.ndarray]:
    """Finds the boxes of a mask's connected components, and the indices of their first elements, int64 [n, axes]."""
    from scipy import ndimage

    numbers, _ = ndimage.label(mask)
    found = ndimage.find_objects(numbers)
    bounds = np.array([[(axis.start, axis.stop) for axis in window] for window in found], np.int64)
    bounds = bounds.reshape(len(found), mask.ndim, 2)
    # Components are numbered in the order of their first elements, so the running maximum of the numbers increases exactly at
    # the first elements.
    highest = np.maximum.accumulate(numbers.reshape(-1))
    first = np.flatnonzero(np.diff(highest, prepend=0))
    return Boxes(bounds[..., 0], bounds[..., 1]), np.stack(np.unravel_index(first, mask.shape), axis=-1)


_kept: OrderedDict[Hashable, Boxes] = OrderedDict()
_lock = threading.Lock()


def remembered(labels: np.ndarray, what: Hashable, search: Callable[[], Boxes]) -> Boxes:
    """Returns the result of `search()`, cached by the contents of `labels` and by `what`."""
    contents = np.ascontiguousarray(labels)
    digest = hashlib.blake2b(contents.data, digest_size=32).digest()
    key = (digest, labels.shape, what)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    boxes = search()
    with _lock:
        _kept[key] = boxes
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    return boxes
