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
    """Draws a pixel, with equal probabilities, and returns its coordinates.

    Args:
        mask: at least one axis, any type; channels are an axis like any other.
        foreground: if not 0, draw from the pixels of the foreground; if 0, or if there are none, draw from all pixels.
        threshold: pixels above it are foreground, compared as float32.
        value: pixels equal to it are foreground; `threshold` is then ignored.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: generator of random values; None: the thread's default one.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: int64 [axes of the mask].

    Parity: random numbers differ from DALI's, but have the same distribution. DALI refuses `threshold` together with
        `value`. For a mask without pixels, DALI returns coordinates outside of it; jdali raises an error.

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
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.
        rng: generator of random values; None: the thread's default one.
        key: JAX key to draw from, in place of `rng`; each sample of a batch draws its own values.

    Returns: int32 [axes] each, or int32 [2 * axes] for "box"; with `output_class`, an int32 scalar as well.

    Parity: random numbers differ from DALI's, but have the same distribution. DALI takes negative weights.

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
    """Selects the polygons of masks, and their vertices, in the order of `mask_ids`.

    Args:
        mask_ids: int32 [masks], ids of existing masks, without duplicates.
        polygons: int32 [polygons, 3], rows (mask id, first vertex, end vertex), with an exclusive end.
        vertices: [vertices, coordinates], any type.
        reindex_masks: replace mask ids by their indices in `mask_ids`.
        batch_size: size of the resulting batch if no input is a batch; None: a tensor.
        device: "cpu" or "gpu"; None: where the inputs are.

    Returns: int32 [selected polygons, 3], and [selected vertices, coordinates], which the polygons refer to. Polygons of
        one mask keep their order.

    Parity: DALI selects only the last polygon of a mask that has several.

    Example: polygons, vertices = fn.segmentation.select_masks(mask_ids, polygons, vertices)
    """
