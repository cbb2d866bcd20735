from __future__ import annotations

import numpy as np

from jdali._batches import BatchSpec, Plan
from jdali._errors import SampleError
from jdali._kernels.connected_objects import Boxes, boxes_of_all, boxes_of_label, remembered
from jdali._numerics.random import SampleKeys, numpy_generator
from jdali._operators.record import PerSample, Static, host_operator

_NAME = "segmentation.random_object_bbox"
_FORMATS = ("anchor_shape", "start_end", "box")


def setup(
    labels: BatchSpec,
    *,
    class_weights: np.ndarray | None,
    classes: np.ndarray | None,
    format: str,
    ignore_class: bool,
    k_largest: int | None,
    output_class: bool,
    threshold: np.ndarray | None,
    keys: SampleKeys,
) -> Plan:
    if labels.dtype.kind not in "iub":
        raise TypeError(f"{_NAME}: Unsupported input type: {labels.dtype}. Labels are integers")
    if labels.ndim == 0:
        raise ValueError(f"{_NAME}: Unsuported number of dimensions 0; a map of labels has at least one")
    if format not in _FORMATS:
        raise ValueError(
            f'{_NAME}: Invalid output format: "{format}". Possible values: {", ".join(_FORMATS)}'
        )
    if ignore_class and (output_class or classes is not None or class_weights is not None):
        raise ValueError(
            f"{_NAME}: Class-related arguments ``classes``, ``weights`` and ``output_class`` cannot be used when "
            "``ignore_class`` is True"
        )
    if k_largest is not None and k_largest < 1:
        raise ValueError(f"{_NAME}: ``k_largest`` must be at least 1; got {k_largest}")
    if threshold is not None and threshold.ndim > 1 and threshold.shape[1] not in (1, labels.ndim):
        raise ValueError(
            f'{_NAME}: Argument "threshold" expected shape {labels.ndim} but got {threshold.shape[1]} values, which '
            "can't be interpreted as the expected shape"
        )
    count = labels.batch_size
    axes = 2 * labels.ndim if format == "box" else labels.ndim
    vectors = BatchSpec(np.full((count, 1), axes), np.dtype(np.int32))
    outputs = [vectors] * (1 if format == "box" else 2)
    if output_class:
        outputs.append(BatchSpec(np.zeros((count, 0)), np.dtype(np.int32)))
    return Plan(tuple(outputs), {"_words": keys.numpy_words()})


@host_operator(
    name=_NAME,
    setup=setup,
    outputs=lambda arguments: 2 - (arguments.get("format") == "box") + bool(arguments.get("output_class")),
    devices=("cpu",),
    source="operators/segmentation/random_object_bbox.cc",
)
def random_object_bbox(
    key: object,
    labels: np.ndarray,
    /,
    *,
    background: PerSample[int] = 0,
    cache_objects: Static[bool] = False,
    class_weights: PerSample[list[float] | None] = None,
    classes: PerSample[list[int] | None] = None,
    foreground_prob: PerSample[float] = 1.0,
    format: Static[str] = "anchor_shape",
    ignore_class: Static[bool] = False,
    k_largest: Static[int | None] = None,
    output_class: Static[bool] = False,
    threshold: PerSample[tuple[int, ...] | None] = None,
    _words: PerSample[tuple[int, ...] | None] = None,
) -> tuple[np.ndarray, ...]:
    """Draws a class and one of its objects; returns the object's bounding box.

    An object is a connected set of elements with one label; elements are connected along an axis, not across
    a corner. A class without a large enough object is not drawn. If there is no object, or with a probability of
    1 - `foreground_prob`, the box is the whole map.

    Args:
        labels: integers, any number of axes (channels are an axis like any other); converted to int32.
        background: label of the background. If it is 0, the default, and 0 is one of `classes`, the background is
            min(classes) - 1.
        cache_objects: cache the boxes of maps, by a hash of their contents, for the next epoch.
        class_weights: relative probabilities of `classes`, 0 or more. Without `classes`, the weights belong to the
            labels 0, 1, 2, ... except `background`.
        classes: labels to draw from; None: all labels but `background`. Samples may have different numbers of classes.
        foreground_prob: probability that an object is drawn.
        format: "anchor_shape": two outputs, start and size; "start_end": two outputs, start and end (exclusive);
            "box": one output, start and end.
        ignore_class: draw all objects with equal probabilities, whatever their class; not allowed with `classes`,
            `class_weights` or `output_class`.
        k_largest: draw only from the k boxes of the drawn class that have the largest volume; with `ignore_class`, from
            the k largest boxes of all classes.
        output_class: add an output: the label of the object, or `background` if the box is the whole map.
        threshold: smallest size of a box: one value for all axes, or one per axis.

    Returns: int32 [axes] each, or int32 [2 * axes] for "box"; with `output_class`, an int32 scalar as well.

    Parity: random numbers differ from DALI's, but have the same distribution. DALI takes negative weights.

    Example: anchor, size = fn.segmentation.random_object_bbox(mask)
    """
    rng = numpy_generator(np.asarray(_words))
    wanted = None if classes is None else np.asarray(classes, np.int64).reshape(-1)
    nothing = _background(int(background), wanted)
    least = np.zeros(labels.ndim) if threshold is None else np.broadcast_to(threshold, labels.ndim)
    whole = (np.zeros(labels.ndim, np.int64), np.array(labels.shape, np.int64))
    (start, end), label = whole, nothing
    # This number is always drawn, so that later draws do not depend on `foreground_prob`.
    if rng.random() < foreground_prob and labels.size:
        as_known = labels.astype(np.int32)
        drawn: tuple[tuple[np.ndarray, np.ndarray], int] | None
        if ignore_class:
            found = _objects(as_known, None, nothing, cache_objects)
            box = _one_of(rng, found, least, k_largest)
            drawn = None if box is None else (box, nothing)
        else:
            chances = _chances(as_known, nothing, wanted, class_weights)
            drawn = _of_a_class(rng, as_known, chances, least, k_largest, cache_objects)
        if drawn is not None:
            (start, end), label = drawn
    corners = {
        "anchor_shape": (start, end - start), "start_end": (start, end), "box": (np.concatenate([start, end]),)
    }[format]  # fmt: skip
    outputs = tuple(corner.astype(np.int32) for corner in corners)
    return (*outputs, np.array(label, np.int64).astype(np.int32)) if output_class else outputs


def _background(background: int, classes: np.ndarray | None) -> int:
    """Returns `background`. If it is one of `classes`, 0 becomes min(classes) - 1, and any other value raises."""
    if classes is None or background not in classes:
        return background
    if background != 0:
        raise SampleError(
            f"{_NAME}: Class label {background} coincides with background label - please specify a different background label "
            "or remove it from your list of foreground classes.",
            argument="classes",
        )
    return int(classes.min()) - 1


def _chances(
    labels: np.ndarray, background: int, classes: np.ndarray | None, class_weights: object
) -> dict[int, float]:
    """Returns the weight of each class that may be drawn."""
    if class_weights is None:
        found = classes if classes is not None else np.unique(labels)
        weights = np.ones(len(found))
    else:
        weights = np.asarray(class_weights, np.float64).reshape(-1)
        if not (weights >= 0).all():
            raise SampleError(f"{_NAME}: class_weights {weights.tolist()} must not be negative",
                              argument="class_weights")  # fmt: skip
        numbers = np.arange(len(weights) + 1)
        found = numbers[numbers != background][: len(weights)] if classes is None else classes
    if len(found) != len(weights):
        raise SampleError(
            f"{_NAME}: If both ``classes`` and ``class_weights`` are provided, their shapes must match. Got "
            f"{len(weights)} class_weights for {len(found)} classes",
            argument="class_weights",
        )
    chances: dict[int, float] = {}
    for label, weight in zip(found.tolist(), weights.tolist(), strict=True):
        if label != background and weight > 0:
            chances[label] = chances.get(label, 0.0) + weight
    return chances


def _of_a_class(
    rng: np.random.Generator,
    labels: np.ndarray,
    chances: dict[int, float],
    least: np.ndarray,
    k_largest: int | None,
    cached: bool,
) -> tuple[tuple[np.ndarray, np.ndarray], int] | None:
    """Draws a class and one of its boxes; returns None if no class has a box. Searches boxes only for drawn classes."""
    while chances:
        ends = np.cumsum(list(chances.values()))
        index = int(np.searchsorted(ends, rng.random() * ends[-1], side="right"))
        label = list(chances)[min(index, len(chances) - 1)]
        box = _one_of(rng, _objects(labels, label, 0, cached), least, k_largest)
        if box is not None:
            return box, label
        del chances[label]
    return None


def _objects(labels: np.ndarray, label: int | None, background: int, cached: bool) -> Boxes:
    """Finds the boxes of the objects with a label. If `label` is None, finds the boxes of all objects except the background."""

    def search() -> Boxes:
        return boxes_of_all(labels, background) if label is None else boxes_of_label(labels, label)

    return remembered(labels, (label, background), search) if cached else search()


def _one_of(
    rng: np.random.Generator, boxes: Boxes, least: np.ndarray, k_largest: int | None
) -> tuple[np.ndarray, np.ndarray] | None:
    """Draws one of the boxes that are large enough; returns None if there is none."""
    sizes = boxes.end - boxes.start
    chosen = np.flatnonzero((sizes >= least).all(axis=1))
    if not len(chosen):
        return None
    if k_largest is not None and len(chosen) > k_largest:
        largest_first = np.argsort(-sizes[chosen].prod(axis=1), kind="stable")
        chosen = chosen[largest_first[:k_largest]]
    one = chosen[rng.integers(len(chosen))]
    return boxes.start[one], boxes.end[one]
