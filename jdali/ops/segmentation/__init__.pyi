"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import Literal
from typing import overload
from numpy.typing import NDArray
from jax import Array
from jax.typing import ArrayLike
from jdali.data_node import DataNode
from jdali.fn._classes import OperatorClass

class RandomMaskPixel(OperatorClass):
    """Draws a pixel, with equal probabilities, and returns its coordinates.

    Args:
        mask: at least one axis, any type; channels are an axis like any other.
        foreground: if not 0, draw from the pixels of the foreground; if 0, or if there are none, draw from all pixels.
        threshold: pixels above it are foreground, compared as float32.
        value: pixels equal to it are foreground; `threshold` is then ignored.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: int64 [axes of the mask].

    Parity: random numbers differ from DALI's, but have the same distribution. DALI refuses `threshold` together with
        `value`. For a mask without pixels, DALI returns coordinates outside of it; jdali raises an error.

    Example: pixel = fn.segmentation.random_mask_pixel(mask, foreground=1)
    """
    def __init__(
        self,
        *,
        foreground: int | DataNode = 0,
        threshold: float | DataNode = 0.0,
        value: int | DataNode | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
        seed: int | None = -1,
    ) -> None: ...

class RandomObjectBBox(OperatorClass):
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
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.
        seed: seed of this operator; -1: follows from the pipeline's.

    Returns: int32 [axes] each, or int32 [2 * axes] for "box"; with `output_class`, an int32 scalar as well.

    Parity: random numbers differ from DALI's, but have the same distribution. DALI takes negative weights.

    Example: anchor, size = fn.segmentation.random_object_bbox(mask)
    """
    def __init__(
        self,
        *,
        background: int | DataNode = 0,
        cache_objects: bool = False,
        class_weights: float | typing.Sequence[float | ArrayLike] | NDArray[Any] | DataNode | None = None,
        classes: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode | None = None,
        foreground_prob: float | DataNode = 1.0,
        format: Literal['anchor_shape', 'start_end', 'box'] = 'anchor_shape',
        ignore_class: bool = False,
        k_largest: int | None = None,
        output_class: bool = False,
        threshold: int | typing.Sequence[int | ArrayLike] | NDArray[Any] | DataNode | None = None,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
        seed: int | None = -1,
    ) -> None: ...

class SelectMasks(OperatorClass):
    """Selects the polygons of masks, and their vertices, in the order of `mask_ids`.

    Args:
        mask_ids: int32 [masks], ids of existing masks, without duplicates.
        polygons: int32 [polygons, 3], rows (mask id, first vertex, end vertex), with an exclusive end.
        vertices: [vertices, coordinates], any type.
        reindex_masks: replace mask ids by their indices in `mask_ids`.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: a generated one.
        bytes_per_sample_hint: without effect.
        preserve: run the operator even if none of its outputs is used.

    Returns: int32 [selected polygons, 3], and [selected vertices, coordinates], which the polygons refer to. Polygons of
        one mask keep their order.

    Parity: DALI selects only the last polygon of a mask that has several.

    Example: polygons, vertices = fn.segmentation.select_masks(mask_ids, polygons, vertices)
    """
    def __init__(
        self,
        *,
        reindex_masks: bool = False,
        device: Literal['cpu', 'gpu', 'mixed'] | None = None,
        name: str | None = None,
        bytes_per_sample_hint: int | typing.Sequence[int | ArrayLike] | NDArray[Any] = 0,
        preserve: bool = False,
    ) -> None: ...

@overload
def random_mask_pixel(
    key: ArrayLike,
    mask: Any,
    /,
    *,
    foreground: Any = 0,
    threshold: Any = 0.0,
    value: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array:
    """Draws a pixel, with equal probabilities, and returns its coordinates.

    Args:
        key: JAX key to draw from, typed or of `jax.random.PRNGKey`; it comes first or by name. A batch is mapped by
            `jax.vmap`, with a key for each sample.
        mask: at least one axis, any type; channels are an axis like any other.
        foreground: if not 0, draw from the pixels of the foreground; if 0, or if there are none, draw from all pixels.
        threshold: pixels above it are foreground, compared as float32.
        value: pixels equal to it are foreground; `threshold` is then ignored.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: int64 [axes of the mask].

    Parity: random numbers differ from DALI's, but have the same distribution. DALI refuses `threshold` together with
        `value`. For a mask without pixels, DALI returns coordinates outside of it; jdali raises an error.

    Example: pixel = fn.segmentation.random_mask_pixel(mask, foreground=1)
    """

@overload
def random_mask_pixel(
    key: ArrayLike,
    mask: Any,
    /,
    *,
    foreground: Any = 0,
    threshold: Any = 0.0,
    value: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def random_mask_pixel(
    mask: Any,
    /,
    *,
    key: ArrayLike,
    foreground: Any = 0,
    threshold: Any = 0.0,
    value: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def random_mask_pixel(
    mask: Any,
    /,
    *,
    key: ArrayLike,
    foreground: Any = 0,
    threshold: Any = 0.0,
    value: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...
