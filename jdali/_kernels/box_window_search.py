"""Searches for a random window that shows enough of an image's boxes."""

from __future__ import annotations

import dataclasses

import numpy as np

# Default limit of attempts. This many attempts take a fraction of a second, and find all but extremely unlikely windows.
MOST_ATTEMPTS = 200_000
# Maximum number of attempts that are made at once.
_BLOCK = 4096
# Maximum number of (window, box) pairs that are compared at once. It bounds the memory for images with many boxes.
_PAIRS = 1 << 18
_FIRST_ROUNDS = 8
_Float = np.float32


@dataclasses.dataclass(frozen=True)
class Search:
    """Options of a search for windows.

    Attributes:
        thresholds: required overlaps; each round draws one of them.
        allow_no_crop: True: a round may also choose the whole image.
        scaling: smallest and largest size of a window along each axis, as a share of the image's size.
        aspect_ratio: smallest and largest ratio for each pair of axes: x/y, and in 3D also x/z and y/z.
        num_attempts: windows drawn in a round.
        total_num_attempts: number of windows after which the best window so far is taken; None: the search fails after
            `MOST_ATTEMPTS` windows.
        all_boxes: True: all boxes must reach the threshold; False: one box must.
        iou: True: overlap is intersection over union; False: the share of the box that lies in the window.
        prune_threshold: a box stays if at least this share of it lies in the window; None: a box stays if its centre
            lies in the window.
    """

    thresholds: tuple[float, ...]
    allow_no_crop: bool
    scaling: tuple[float, float]
    aspect_ratio: tuple[tuple[float, float], ...]
    num_attempts: int
    total_num_attempts: int | None
    all_boxes: bool
    iou: bool
    prune_threshold: float | None


@dataclasses.dataclass(frozen=True)
class Windows:
    """Candidate windows.

    Attributes:
        anchor: float32 [K, ndim], low borders as the operator returns them: relative to the image, or in pixels for windows
            of a fixed size.
        shape: float32 [K, ndim], sizes, in the unit of `anchor`.
        first: float32 [K, ndim], low borders, always relative to the image.
        last: float32 [K, ndim], high borders, relative to the image.
        allowed: bool [K], whether the aspect ratios are in range.
    """

    anchor: np.ndarray
    shape: np.ndarray
    first: np.ndarray
    last: np.ndarray
    allowed: np.ndarray

    def row(self, index: int) -> FoundWindow:
        return FoundWindow(*(value[index] for value in (self.anchor, self.shape, self.first, self.last)))


@dataclasses.dataclass(frozen=True)
class FoundWindow:
    """One window; see `Windows`. `satisfying` is False for the best window of a failed search."""

    anchor: np.ndarray
    shape: np.ndarray
    first: np.ndarray
    last: np.ndarray
    satisfying: bool = True
    whole: bool = False


def whole_picture(ndim: int) -> FoundWindow:
    zero, one = np.zeros(ndim, _Float), np.ones(ndim, _Float)
    return FoundWindow(zero, one, zero, one, whole=True)


def find_window(
    rng: np.random.Generator,
    first: np.ndarray,
    last: np.ndarray,
    search: Search,
    picture: np.ndarray | None,
    crop: np.ndarray | None,
) -> FoundWindow | None:
    """Searches for a window of one image; returns None if `MOST_ATTEMPTS` attempts find no window.

    A round either returns the whole image, or draws one of the thresholds and `num_attempts` windows. The round's last
    window that reaches the threshold is returned if a box stays in it; otherwise the next round begins.

    Args:
        first: float32 [N, ndim], low borders of the boxes, relative to the image.
        last: float32 [N, ndim], high borders.
        picture: size of the image, pixels, x first; None: unknown.
        crop: size of the windows, pixels; None: random.
    """
    ndim, attempts = first.shape[1], search.num_attempts
    total = search.total_num_attempts
    rounds_left = -(-(MOST_ATTEMPTS if total is None else total) // attempts)
    thresholds = np.array([*search.thresholds, *[np.inf] * search.allow_no_crop], _Float)
    best: tuple[float, FoundWindow | None] = (-1.0, None)
    rounds, most_rounds = _FIRST_ROUNDS, max(1, min(_BLOCK, _PAIRS // max(1, len(first))) // attempts)
    while rounds_left > 0:
        rounds = min(rounds, rounds_left, most_rounds)
        options = rng.integers(0, len(thresholds), rounds)
        if crop is None:
            windows = _random_windows(rng, rounds * attempts, ndim, search, picture)
        else:
            assert picture is not None
            windows = _fixed_windows(rng, rounds * attempts, crop, picture)
        metric = _metric(windows, first, last, search)
        good: np.ndarray = windows.allowed & (metric >= np.repeat(thresholds[options], attempts))
        holds_some: np.ndarray = windows.allowed
        if len(first):
            stay = kept(windows.first, windows.last, first, last, search.prune_threshold)
            holds_some = np.asarray(stay.any(axis=1))
        else:
            good = windows.allowed
        by_round = good.reshape(rounds, attempts)
        latest = np.arange(rounds) * attempts + attempts - 1 - by_round[:, ::-1].argmax(axis=1)
        no_crop = np.asarray(options >= len(search.thresholds))
        ends: np.ndarray = no_crop | (by_round.any(axis=1) & holds_some[latest])
        if ends.any():
            end = int(ends.argmax())
            return whole_picture(ndim) if no_crop[end] else windows.row(latest[end])
        if total is not None:
            best = _best(best, windows, metric, good)
        rounds_left -= rounds
        rounds *= 4
    if total is None:
        return None
    return dataclasses.replace(best[1] or whole_picture(ndim), satisfying=False)


def _best(
    best: tuple[float, FoundWindow | None], windows: Windows, metric: np.ndarray, good: np.ndarray
) -> tuple[float, FoundWindow | None]:
    """Returns the overlap of the best candidate so far, and the candidate.

    A window that reaches the threshold replaces any earlier candidate. A window that does not reach the threshold
    replaces a candidate only if its overlap is larger.
    """
    value, window = best
    for i in np.flatnonzero(windows.allowed).tolist():
        if good[i] or metric[i] > value:
            value, window = float(metric[i]), windows.row(i)
    return value, window


def _fixed_windows(rng: np.random.Generator, count: int, crop: np.ndarray, picture: np.ndarray) -> Windows:
    """Draws windows of a fixed size in pixels. A window longer than the image along an axis covers this whole axis."""
    free = picture.astype(np.int64) - crop
    anchor = rng.integers(np.minimum(free, 0), np.maximum(free, 0) + 1, (count, len(crop))).astype(_Float)
    shape = np.broadcast_to(crop.astype(_Float), anchor.shape)
    size = picture.astype(_Float)
    first = anchor / size
    return Windows(anchor, shape, first, first + shape / size, np.ones(count, bool))


def _random_windows(
    rng: np.random.Generator, count: int, ndim: int, search: Search, picture: np.ndarray | None
) -> Windows:
    """Draws windows of random size and position, relative to the image."""
    low, high = map(_Float, search.scaling)
    shape = low + (high - low) * rng.random((count, ndim), _Float)
    size = np.ones(ndim, _Float) if picture is None else picture.astype(_Float)
    pairs = [(a, b) for a in range(ndim) for b in range(a + 1, ndim)]
    ranges = dict(zip(pairs, search.aspect_ratio * (len(pairs) // len(search.aspect_ratio)), strict=True))
    fixed = {pair: _Float(low) for pair, (low, high) in ranges.items() if low == high}
    if fixed:
        shape = _with_aspect_ratios(rng, shape * size, fixed) / size
        # A side may now be longer than the image.
        shape /= np.maximum(shape.max(axis=1, keepdims=True) / max(high, _Float(1)), 1)
    allowed = np.ones(count, bool)
    for (a, b), (least, most) in ranges.items():
        ratio = shape[:, a] * size[a] / (shape[:, b] * size[b])
        slack = _Float(1e-5) if (a, b) in fixed else _Float(0)  # rounding changes a fixed ratio slightly
        allowed &= (ratio >= _Float(least) * (1 - slack)) & (ratio <= _Float(most) * (1 + slack))
    first = (1 - shape) * rng.random((count, ndim), _Float)
    last = first + shape
    return Windows(first, last - first, first, last, allowed)


def _with_aspect_ratios(
    rng: np.random.Generator, shape: np.ndarray, fixed: dict[tuple[int, int], np.float32]
) -> np.ndarray:
    """Changes sizes [K, ndim] to the fixed ratios, then scales each window so that its longest side is as long as before.

    Axes are visited in random order. The size of an axis determines the sizes of later axes to which it has a fixed ratio.
    """
    longest = shape.max(axis=1, keepdims=True)
    ndim = shape.shape[1]
    ratio = np.zeros((ndim, ndim), _Float)
    for (a, b), value in fixed.items():
        ratio[a, b], ratio[b, a] = value, 1 / value
    order = rng.permuted(np.broadcast_to(np.arange(ndim), shape.shape), axis=1)
    rows = np.arange(len(shape))
    shape = shape.copy()
    for i in range(ndim):
        for j in range(i + 1, ndim):
            source, target = order[:, i], order[:, j]
            wanted = ratio[target, source]
            follows = shape[rows, source] * wanted
            shape[rows, target] = np.where(wanted > 0, follows, shape[rows, target])
    return shape * (longest / shape.max(axis=1, keepdims=True))


def _areas(
    low: np.ndarray, high: np.ndarray, first: np.ndarray, last: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Computes the areas of the intersections of windows and boxes, [..., N], and the areas of the boxes, [N]."""
    sides = np.minimum(high[..., None, :], last) - np.maximum(low[..., None, :], first)
    return np.maximum(sides, 0).prod(axis=-1), np.maximum(last - first, 0).prod(axis=-1)


def _quotient(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _metric(windows: Windows, first: np.ndarray, last: np.ndarray, search: Search) -> np.ndarray:
    """Computes each window's smallest overlap with a box if `search.all_boxes`, else its largest: float32 [K]."""
    if not len(first):
        return np.zeros(len(windows.first), _Float)
    shared, area = _areas(windows.first, windows.last, first, last)
    whole = np.broadcast_to(area, shared.shape)
    if search.iou:
        whole = whole + (windows.last - windows.first).prod(axis=1)[:, None] - shared
    overlap = _quotient(shared, whole)
    return overlap.min(axis=1) if search.all_boxes else overlap.max(axis=1)


def kept(
    low: np.ndarray, high: np.ndarray, first: np.ndarray, last: np.ndarray, prune_threshold: float | None
) -> np.ndarray:
    """Returns which boxes stay in each window: bool [..., N].

    Args:
        low: float32 [..., ndim], low borders of the windows.
        high: their high borders.
        first: float32 [N, ndim], low borders of the boxes.
        last: their high borders.
        prune_threshold: see `Search`; 0 to 1.
    """
    if prune_threshold is None:
        centre = (first + last) / 2
        inside: np.ndarray = ((centre >= low[..., None, :]) & (centre < high[..., None, :])).all(axis=-1)
        return inside
    shared, area = _areas(low, high, first, last)
    share = _quotient(shared, np.broadcast_to(area, shared.shape))
    return (share > 0) & (share >= _Float(prune_threshold))
