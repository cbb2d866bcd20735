"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from jdali.data_node import DataNode

def random_mask_pixel(
    mask: DataNode,
    /,
    *,
    foreground: int | DataNode = 0,
    threshold: float | DataNode = 0.0,
    value: int | DataNode | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
    seed: Any = -1,
) -> DataNode: ...

def random_object_bbox(
    labels: DataNode,
    /,
    *,
    background: int | DataNode = 0,
    cache_objects: bool = False,
    class_weights: typing.Sequence[float] | DataNode | None = None,
    classes: typing.Sequence[int] | DataNode | None = None,
    foreground_prob: float | DataNode = 1.0,
    format: str = 'anchor_shape',
    ignore_class: bool = False,
    k_largest: int | None = None,
    output_class: bool = False,
    threshold: typing.Sequence[int] | DataNode | None = None,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
    seed: Any = -1,
) -> Any: ...

def select_masks(
    mask_ids: DataNode,
    polygons: DataNode,
    vertices: DataNode,
    /,
    *,
    reindex_masks: bool = False,
    device: Any = None,
    name: Any = None,
    bytes_per_sample_hint: Any = 0,
    preserve: Any = False,
) -> Any: ...
