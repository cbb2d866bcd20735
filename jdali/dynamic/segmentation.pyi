"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import builtins
import typing
from typing import Any
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._rng import RNG
from jdali.dynamic._tensor import Tensor

def random_mask_pixel(
    mask: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    foreground: int | Tensor | Batch = 0,
    threshold: float | Tensor | Batch = 0.0,
    value: int | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Any: ...

def random_object_bbox(
    labels: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    background: int | Tensor | Batch = 0,
    cache_objects: builtins.bool = False,
    class_weights: typing.Sequence[float] | Tensor | Batch | None = None,
    classes: typing.Sequence[int] | Tensor | Batch | None = None,
    foreground_prob: float | Tensor | Batch = 1.0,
    format: str = 'anchor_shape',
    ignore_class: builtins.bool = False,
    k_largest: int | None = None,
    output_class: builtins.bool = False,
    threshold: typing.Sequence[int] | Tensor | Batch | None = None,
    rng: RNG | None = None,
) -> Any: ...

def select_masks(
    mask_ids: Any,
    polygons: Any,
    vertices: Any,
    /,
    *,
    batch_size: int | None = None,
    device: Device | str | None = None,
    reindex_masks: builtins.bool = False,
) -> Any: ...
