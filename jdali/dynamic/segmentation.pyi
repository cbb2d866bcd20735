"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
import typing
from typing import Any
from typing import Literal
from typing import overload
from numpy.typing import NDArray
from numpy.typing import ArrayLike
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._rng import RNG
from jdali.dynamic._tensor import Tensor

def random_mask_pixel(
    mask: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    foreground: int | Tensor | Batch = 0,
    threshold: float | Tensor | Batch = 0.0,
    value: int | Tensor | Batch | None = None,
    rng: RNG | None = None,
    key: Any = None,
) -> Tensor | Batch:
    """Draws a pixel, each as likely, and gives its coordinates.

    Args:
        mask: any shape but of a scalar, any type; channels are an axis like any other.
        foreground: not 0: only pixels of the foreground are drawn, if there are any; 0: any pixel.
        threshold: pixels above it are foreground; they are compared as float32.
        value: pixels equal to it are foreground; then `threshold` does not count.
        batch_size: size of the batch to make, where no input is one; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: where the random values are drawn from; None: the default of the thread.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: int64 [axes of the mask].

    Parity: other random numbers than DALI's, from the same distribution. DALI refuses a `threshold` beside
        `value`, and gives coordinates outside of a mask that has no pixels, which is an error here.

    Example: pixel = fn.segmentation.random_mask_pixel(mask, foreground=1)
    """

@overload
def random_object_bbox(
    labels: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    background: int | Tensor | Batch = 0,
    cache_objects: builtins.bool = False,
    class_weights: float | typing.Sequence[float] | NDArray[Any] | Tensor | Batch | None = None,
    classes: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch | None = None,
    foreground_prob: float | Tensor | Batch = 1.0,
    format: Literal['anchor_shape', 'start_end', 'box'] = 'anchor_shape',
    ignore_class: builtins.bool = False,
    k_largest: int | None = None,
    output_class: Literal[False] = False,
    threshold: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch | None = None,
    rng: RNG | None = None,
    key: Any = None,
) -> tuple[Tensor | Batch, Tensor | Batch]:
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
        batch_size: size of the batch to make, where no input is one; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: where the random values are drawn from; None: the default of the thread.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: int32 [axes] each, or int32 [2 * axes] for "box"; and int32, a scalar, if asked for.

    Parity: other random numbers than DALI's, from the same distribution. DALI takes negative weights.

    Example: anchor, size = fn.segmentation.random_object_bbox(mask)
    """

@overload
def random_object_bbox(
    labels: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    background: int | Tensor | Batch = 0,
    cache_objects: builtins.bool = False,
    class_weights: float | typing.Sequence[float] | NDArray[Any] | Tensor | Batch | None = None,
    classes: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch | None = None,
    foreground_prob: float | Tensor | Batch = 1.0,
    format: Literal['anchor_shape', 'start_end', 'box'] = 'anchor_shape',
    ignore_class: builtins.bool = False,
    k_largest: int | None = None,
    output_class: Literal[True],
    threshold: int | typing.Sequence[int] | NDArray[Any] | Tensor | Batch | None = None,
    rng: RNG | None = None,
    key: Any = None,
) -> tuple[Tensor | Batch, Tensor | Batch, Tensor | Batch]: ...

def select_masks(
    mask_ids: Tensor | Batch | ArrayLike,
    polygons: Tensor | Batch | ArrayLike,
    vertices: Tensor | Batch | ArrayLike,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    reindex_masks: builtins.bool = False,
) -> tuple[Tensor | Batch, Tensor | Batch]:
    """Takes the polygons of the masks that are named, and their vertices, in the order of the names.

    Args:
        mask_ids: int32 [masks], of masks that are there, none twice.
        polygons: int32 [polygons, 3], of each (mask id, first vertex, vertex past its last one).
        vertices: [vertices, coordinates], any type.
        reindex_masks: the polygons get the index of their mask in `mask_ids` for an id.
        batch_size: size of the batch to make, where no input is one; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: int32 [polygons taken, 3], polygons of one mask in the order that they had; and the vertices
        [vertices taken, coordinates] that they count.

    Parity: of a mask that has several polygons DALI takes the last one only.

    Example: polygons, vertices = fn.segmentation.select_masks(mask_ids, polygons, vertices)
    """
