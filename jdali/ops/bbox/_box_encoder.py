from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._errors import check_samples
from jdali._kernels.fit import fit
from jdali._operators.record import Static, operator

_NAME = "box_encoder"
_FORCED = 2.0  # overlap that is set for a box and its best anchor, above any real overlap


def setup(
    boxes: BatchSpec,
    labels: BatchSpec,
    *,
    anchors: tuple[float, ...],
    criteria: float,
    means: tuple[float, ...],
    stds: tuple[float, ...],
) -> tuple[BatchSpec, BatchSpec]:
    for name, spec, dtype in (("boxes", boxes, np.float32), ("labels", labels, np.int32)):
        if spec.dtype != dtype:
            raise TypeError(f"{_NAME}: {name} must be {np.dtype(dtype)}, got {spec.dtype}")
    if boxes.ndim != 2 or labels.ndim not in (1, 2):
        raise ValueError(
            f"{_NAME}: boxes must be [boxes, 4] and labels [boxes], got {boxes.ndim} and {labels.ndim} axes"
        )
    wrong = (boxes.extents[:, 1] != 4) | (labels.extents.prod(axis=1) != boxes.extents[:, 0])
    check_samples(
        wrong,
        lambda i: (
            f"{_NAME}: boxes must be [boxes, 4] and labels [boxes], got shapes {boxes.extents[i].tolist()} and "
            f"{labels.extents[i].tolist()}"
        ),
    )
    if not anchors or len(anchors) % 4:
        raise ValueError(f"{_NAME}: Anchors size must be divisible by 4, actual value = {len(anchors)}")
    if not 0 <= criteria <= 1:
        raise ValueError(
            f"{_NAME}: Expected criteria {'>= 0' if criteria < 0 else '<= 1'}, actual value = {criteria:f}"
        )
    for name, values in (("means", means), ("stds", stds)):
        if len(values) != 4:
            raise ValueError(f"{_NAME}: {name} size must be a list of 4 values. Got {len(values)}")
    count = len(anchors) // 4
    size = boxes.batch_size
    encoded = BatchSpec(np.broadcast_to([count, 4], (size, 2)), np.dtype(np.float32))
    return encoded, BatchSpec(np.full((size, 1), count), np.dtype(np.int32))


@operator(setup=setup, outputs=2, source="operators/ssd/box_encoder.cc")
def box_encoder(
    boxes: Array,
    labels: Array,
    /,
    *,
    anchors: Static[tuple[float, ...]],
    criteria: Static[float] = 0.5,
    means: Static[tuple[float, ...]] = (0.0, 0.0, 0.0, 0.0),
    offset: Static[bool] = False,
    scale: Static[float] = 1.0,
    stds: Static[tuple[float, ...]] = (1.0, 1.0, 1.0, 1.0),
    extent: tuple[Array, ...],
    out_shape: tuple[tuple[int, ...], ...],
) -> tuple[Array, Array]:
    """Assigns to each anchor the box that it overlaps with most, as SSD does.

    A box is assigned to all anchors with which its intersection over union is above `criteria`, and always to the
    anchor with the largest value. Among equal values, the last one counts.

    Args:
        boxes: float32 [boxes, 4], (left, top, right, bottom).
        labels: int32 [boxes] or [boxes, 1].
        anchors: (left, top, right, bottom) of each anchor, one after the other.
        criteria: overlap that must be exceeded, 0 to 1.
        means: subtracted from the offsets of x, y, width and height.
        offset: return offsets from the anchors: distances of centres in units of the anchor's size, and logarithms of size
            ratios. `means` are subtracted, then the results are divided by `stds`.
        scale: factor for boxes and anchors before offsets are computed.
        stds: divisors of the offsets of x, y, width and height.

    Returns: float32 [anchors, 4] boxes (centre x, centre y, width, height), or offsets; for an anchor without a box, the
        anchor itself, or offsets of 0. int32 [anchors] labels, 0 for an anchor without a box.

    Example:
        encoded, matched = fn.box_encoder(
            boxes, box_labels, anchors=[0.1, 0.2, 0.5, 0.7, 0.5, 0.3, 0.9, 0.9, 0.0, 0.0, 0.2, 0.2]
        )
    """
    count = extent[0][0]
    # A last row, which counts as no box, is added, so that the arrays are never empty.
    boxes = jnp.pad(boxes[:, :4], ((0, 1), (0, 0)))
    flat = jnp.pad(labels if labels.ndim == 1 else labels[:, 0], (0, 1))
    anchor = jnp.asarray(np.asarray(anchors, np.float32).reshape(-1, 4))
    real = jnp.arange(boxes.shape[0], dtype=jnp.int32) < count
    overlap = jnp.where(real[:, None], _overlaps(boxes, anchor), jnp.float32(-1))
    best = _last_argmax(overlap, axis=1)
    indices = jnp.arange(anchor.shape[0], dtype=jnp.int32)
    overlap = jnp.where(real[:, None] & (indices == best[:, None]), jnp.float32(_FORCED), overlap)
    owner = _last_argmax(overlap, axis=0)
    found = jnp.take_along_axis(overlap, owner[None], axis=0)[0] > jnp.float32(criteria)
    own = (_centre(anchor), _size(anchor))
    # An anchor without a box uses itself as its box. With a box of size 0, the logarithm would be infinite.
    chosen = jnp.where(found[:, None], boxes[owner], anchor)
    theirs = (_centre(chosen), _size(chosen))
    if offset:

        def unfolded(values: Array) -> Array:
            """Hides constants from XLA, which rounds a division by a constant differently in some padded shapes."""
            return jnp.where(count >= 0, values, jnp.float32(1))

        own, theirs = ((c * jnp.float32(scale), s * jnp.float32(scale)) for c, s in (own, theirs))
        sizes = unfolded(own[1])
        encoded = jnp.concatenate([(theirs[0] - own[0]) / sizes, jnp.log(theirs[1] / sizes)], axis=1)
        encoded = (encoded - np.asarray(means, np.float32)) / unfolded(
            jnp.asarray(np.asarray(stds, np.float32))
        )
        encoded = jnp.where(found[:, None], encoded, jnp.float32(0))
    else:
        encoded = jnp.concatenate(theirs, axis=1)
    outputs = (encoded, jnp.where(found, jnp.take(flat, owner, mode="clip"), jnp.int32(0)))
    encoded, numbers = (fit(value, shape) for value, shape in zip(outputs, out_shape, strict=True))
    return encoded, numbers


def _centre(boxes: Array) -> Array:
    return (boxes[:, :2] + boxes[:, 2:]) * jnp.float32(0.5)


def _size(boxes: Array) -> Array:
    return boxes[:, 2:] - boxes[:, :2]


def _overlaps(boxes: Array, anchor: Array) -> Array:
    """Computes the intersection over union of boxes and anchors, float32 [B, A]; 0 where both are empty."""
    sides = jnp.minimum(boxes[:, None, 2:], anchor[:, 2:]) - jnp.maximum(boxes[:, None, :2], anchor[:, :2])
    both = jnp.where((sides > 0).all(axis=2), sides[..., 0] * sides[..., 1], jnp.float32(0))
    areas = [_size(b)[:, 0] * _size(b)[:, 1] for b in (boxes, anchor)]
    union = areas[0][:, None] + areas[1] - both
    return jnp.where(both > 0, both / jnp.where(union > 0, union, jnp.float32(1)), jnp.float32(0))


def _last_argmax(values: Array, axis: int) -> Array:
    """Returns the index of the largest value along an axis, int32. Among equal values, the last one counts."""
    index: Array = values.shape[axis] - 1 - jnp.flip(values, axis).argmax(axis).astype(jnp.int32)
    return index
