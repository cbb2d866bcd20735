"""Anchors of a detector: where they are, which boxes they stand for, and how good the found boxes are.

Boxes are (left, top, right, bottom), relative to the picture.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

# Offsets are divided by these, so that they are about as large as the scores.
SPREAD = np.array([0.2, 0.2, 0.4, 0.4], np.float32)


def anchors(grids: Sequence[int], sizes: Sequence[Sequence[float]], ratios: Sequence[float]) -> np.ndarray:
    """float32 [A, 4]: for each cell of each grid a box of each size and ratio of width to height."""
    boxes = []
    for grid, edges in zip(grids, sizes, strict=True):
        middles = (np.arange(grid) + 0.5) / grid
        y, x = np.meshgrid(middles, middles, indexing="ij")
        extents = np.array([(edge * ratio**0.5, edge / ratio**0.5) for edge in edges for ratio in ratios])
        centres = np.stack([x, y], axis=-1)[:, :, None]
        boxes.append(np.concatenate([centres - extents / 2, centres + extents / 2], axis=-1).reshape(-1, 4))
    return np.concatenate(boxes).astype(np.float32)


def overlaps(a: jax.Array | np.ndarray, b: jax.Array | np.ndarray) -> jax.Array:
    """Intersection over union of boxes [A, 4] and [B, 4]: [A, B]."""
    sides = jnp.minimum(a[:, None, 2:], b[:, 2:]) - jnp.maximum(a[:, None, :2], b[:, :2])
    both = jnp.maximum(sides, 0).prod(-1)
    area_a, area_b = ((c[:, 2:] - c[:, :2]).prod(-1) for c in (a, b))
    return both / jnp.maximum(area_a[:, None] + area_b - both, 1e-9)


def match(boxes: jax.Array, labels: jax.Array, count: jax.Array, anchor: jax.Array) -> tuple[jax.Array, ...]:
    """What each anchor should say.

    Args:
        boxes: [B, 4], padded.
        labels: int32 [B], from 1 on.
        count: how many of the boxes are real.
        anchor: [A, 4].

    Returns: int32 [A] labels, 0: nothing is there, -1: a box is, but not as the anchor would have it;
        [A, 4] offsets from the anchor to its box.
    """
    # One more box that is never real, so that there is at least one.
    boxes, labels = jnp.pad(boxes, ((0, 1), (0, 0))), jnp.pad(labels, (0, 1))
    real = jnp.arange(len(boxes)) < count
    iou = jnp.where(real, overlaps(anchor, boxes), -1)
    # A box belongs to the anchor that fits it best, however badly.
    best = jnp.where(real, iou.argmax(axis=0), len(anchor))
    iou = iou.at[best, jnp.arange(len(boxes))].set(2, mode="drop")
    owner, fit = iou.argmax(axis=1), iou.max(axis=1)
    found = jnp.where(fit > 0.45, labels[owner], jnp.where(fit > 0.35, -1, 0))
    return found, offsets(boxes[owner], anchor)


def _centres(boxes: jax.Array) -> tuple[jax.Array, jax.Array]:
    return (boxes[..., :2] + boxes[..., 2:]) / 2, jnp.maximum(boxes[..., 2:] - boxes[..., :2], 1e-4)


def offsets(boxes: jax.Array, anchor: jax.Array) -> jax.Array:
    """Distance of the centres, in sizes of the anchor, and logarithm of the ratio of the sizes; [A, 4]."""
    (centre, size), (at, edge) = _centres(boxes), _centres(anchor)
    return jnp.concatenate([(centre - at) / edge, jnp.log(size / edge)], axis=-1) / SPREAD


def moved(anchor: jax.Array, offset: jax.Array) -> jax.Array:
    """The boxes at these offsets from the anchors: the reverse of `offsets`."""
    at, edge = _centres(anchor)
    offset = offset * SPREAD
    centre, size = at + offset[..., :2] * edge, jnp.exp(jnp.minimum(offset[..., 2:], 4)) * edge
    return jnp.concatenate([centre - size / 2, centre + size / 2], axis=-1)


def best_boxes(scores: jax.Array, boxes: jax.Array, most: int = 50) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The boxes with the highest scores that do not repeat one another.

    Args:
        scores: [A, classes], 0 to 1.
        boxes: [A, 4].
        most: how many to look at.

    Returns: [most] scores, 0 for boxes that repeat a better one, [most] labels and [most, 4] boxes.
    """
    score, index = jax.lax.top_k(scores.reshape(-1), most)
    label, box = index % scores.shape[1] + 1, boxes[index // scores.shape[1]]
    same = (overlaps(box, box) > 0.45) & (label[:, None] == label)

    def drop(i: int, keep: jax.Array) -> jax.Array:
        better = jnp.arange(most) < i
        return keep.at[i].set(~(same[i] & keep & better).any())

    keep = jax.lax.fori_loop(0, most, drop, jnp.ones(most, bool))
    return jnp.where(keep, score, 0), label, box


class Measure:
    """Mean average precision and recall of found boxes, as they come, picture by picture."""

    def __init__(self, classes: int, least_overlap: float = 0.5):
        self.classes, self.least_overlap = classes, least_overlap
        self._found: list[tuple[float, int, bool]] = []  # score, label, right
        self._there = np.zeros(classes + 1, np.int64)

    def add(
        self, scores: np.ndarray, labels: np.ndarray, boxes: np.ndarray, true_labels: np.ndarray,
        true_boxes: np.ndarray,
    ) -> None:  # fmt: skip
        """Takes note of one picture: a found box is right if it is the first to find a true one."""
        np.add.at(self._there, true_labels, 1)
        iou = np.asarray(overlaps(boxes, true_boxes)) if len(true_boxes) else np.zeros((len(boxes), 0))
        free = np.ones(len(true_boxes), bool)
        for i in np.argsort(-scores, kind="stable"):
            if scores[i] > 0:
                fit = np.where(free & (true_labels == labels[i]), iou[i], 0)
                right = bool(fit.max(initial=0) >= self.least_overlap)
                if right:
                    free[fit.argmax()] = False
                self._found.append((float(scores[i]), int(labels[i]), right))

    def mean_average_precision(self) -> float:
        """Mean over the classes that occur of the area under precision over recall."""
        precisions = []
        for label in range(1, self.classes + 1):
            if self._there[label]:
                found = sorted((f for f in self._found if f[1] == label), key=lambda f: -f[0])
                right = np.array([f[2] for f in found], bool)
                precision = right.cumsum() / np.arange(1, len(right) + 1)
                # The best precision at this recall or a higher one.
                best = np.maximum.accumulate(precision[::-1])[::-1]
                precisions.append(float(best[right].sum() / self._there[label]))
        return float(np.mean(precisions)) if precisions else 0.0

    def recall(self, score: float = 0.5) -> float:
        """Share of the true boxes that are found with at least this score."""
        return sum(f[2] for f in self._found if f[0] >= score) / max(1, int(self._there.sum()))
