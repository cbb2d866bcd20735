"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import overload
from jax import Array
from jax.typing import ArrayLike
from jdali.data_node import DataNode
from jdali.fn._classes import OperatorClass

class RandomMaskPixel(OperatorClass):
    def __init__(
        self,
        *,
        foreground: int | DataNode = 0,
        threshold: float | DataNode = 0.0,
        value: int | DataNode | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
        seed: Any = -1,
    ) -> None: ...

class RandomObjectBBox(OperatorClass):
    def __init__(
        self,
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
    ) -> None: ...

class SelectMasks(OperatorClass):
    def __init__(
        self,
        *,
        reindex_masks: bool = False,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
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
) -> Array: ...

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
