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
    """Draws a pixel, each as likely, and gives its coordinates.

    Args:
        mask: any shape but of a scalar, any type; channels are an axis like any other.
        foreground: not 0: only pixels of the foreground are drawn, if there are any; 0: any pixel.
        threshold: pixels above it are foreground; they are compared as float32.
        value: pixels equal to it are foreground; then `threshold` does not count.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: one is made up.
        bytes_per_sample_hint: without effect.
        preserve: the operator runs also if none of its outputs is used.
        seed: seed of this operator alone; -1: it follows from the pipeline's.

    Returns: int64 [axes of the mask].

    Parity: other random numbers than DALI's, from the same distribution. DALI refuses a `threshold` beside
        `value`, and gives coordinates outside of a mask that has no pixels, which is an error here.

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
    """Draws a class, and one of its objects, and gives the object's bounding box.

    An object is a connected set of elements of one label; elements are neighbours along an axis, not across
    a corner. A class none of whose objects is large enough is not drawn. Where there is no object, or by
    chance (`foreground_prob`), the box is the whole map.

    Args:
        labels: any number of axes (channels are one like any other), integers; they count as int32.
        background: label of what is no object; of the default 0, if that is one of `classes`, the number
            below the least of them.
        cache_objects: keep the boxes of maps, by a hash of their contents, so that they are not searched for
            again in the next epoch.
        class_weights: how likely each of `classes` is, relative to the others, not negative; without
            `classes`, of the labels from 0 on, leaving out `background`.
        classes: labels that are drawn; None: all but `background`. Samples may have different numbers of both.
        foreground_prob: how likely an object is drawn at all.
        format: "anchor_shape": two outputs, start and size; "start_end": two, start and end (past the last
            element); "box": one, start and end.
        ignore_class: all objects are as likely, whatever their class; without the arguments of classes.
        k_largest: only this many of the largest boxes (by volume) of a class are drawn; with `ignore_class`, of all.
        output_class: one more output, the label of the object, or `background` for the whole map.
        threshold: least size of a box along each axis, or one for all axes.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: one is made up.
        bytes_per_sample_hint: without effect.
        preserve: the operator runs also if none of its outputs is used.
        seed: seed of this operator alone; -1: it follows from the pipeline's.

    Returns: int32 [axes] each, or int32 [2 * axes] for "box"; and int32, a scalar, if asked for.

    Parity: other random numbers than DALI's, from the same distribution. DALI takes negative weights.

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
    """Takes the polygons of the masks that are named, and their vertices, in the order of the names.

    Args:
        mask_ids: int32 [masks], of masks that are there, none twice.
        polygons: int32 [polygons, 3], of each (mask id, first vertex, vertex past its last one).
        vertices: [vertices, coordinates], any type.
        reindex_masks: the polygons get the index of their mask in `mask_ids` for an id.
        device: "cpu", "gpu" or "mixed"; None: where the inputs are.
        name: name of the node in the graph; None: one is made up.
        bytes_per_sample_hint: without effect.
        preserve: the operator runs also if none of its outputs is used.

    Returns: int32 [polygons taken, 3], polygons of one mask in the order that they had; and the vertices
        [vertices taken, coordinates] that they count.

    Parity: of a mask that has several polygons DALI takes the last one only.

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
    """Draws a pixel, each as likely, and gives its coordinates.

    Args:
        key: JAX key to draw from, typed or of `jax.random.PRNGKey`; it comes first or by name. A batch is mapped by
            `jax.vmap`, with a key for each sample.
        mask: any shape but of a scalar, any type; channels are an axis like any other.
        foreground: not 0: only pixels of the foreground are drawn, if there are any; 0: any pixel.
        threshold: pixels above it are foreground; they are compared as float32.
        value: pixels equal to it are foreground; then `threshold` does not count.
        layout: layout of the inputs, or one for each; "": by the number of axes.
        extent: true size of a padded input; the result is then the output and its true size.
        out_shape: padded shape of the output; None: the smallest.

    Returns: int64 [axes of the mask].

    Parity: other random numbers than DALI's, from the same distribution. DALI refuses a `threshold` beside
        `value`, and gives coordinates outside of a mask that has no pixels, which is an error here.

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
