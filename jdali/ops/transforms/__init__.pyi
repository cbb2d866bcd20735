"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import overload
from jax import Array
from jax.typing import ArrayLike
from jdali.data_node import DataNode
from jdali.fn._classes import OperatorClass

class Combine(OperatorClass):
    def __init__(
        self,
        *,
        reverse_order: bool = False,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Crop(OperatorClass):
    def __init__(
        self,
        *,
        absolute: bool = False,
        from_end: typing.Sequence[float] | DataNode = ...,
        from_start: typing.Sequence[float] | DataNode = ...,
        reverse_order: bool = False,
        to_end: typing.Sequence[float] | DataNode = ...,
        to_start: typing.Sequence[float] | DataNode = ...,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Rotation(OperatorClass):
    def __init__(
        self,
        *,
        angle: float | DataNode | None = None,
        axis: typing.Sequence[float] | DataNode | None = None,
        center: typing.Sequence[float] | DataNode | None = None,
        reverse_order: bool = False,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Scale(OperatorClass):
    def __init__(
        self,
        *,
        scale: typing.Sequence[float] | DataNode | None = None,
        center: typing.Sequence[float] | DataNode | None = None,
        ndim: int | None = None,
        reverse_order: bool = False,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Shear(OperatorClass):
    def __init__(
        self,
        *,
        angles: typing.Sequence[float] | typing.Sequence[typing.Sequence[float]] | DataNode | None = None,
        center: typing.Sequence[float] | DataNode | None = None,
        reverse_order: bool = False,
        shear: typing.Sequence[float] | typing.Sequence[typing.Sequence[float]] | DataNode | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Translation(OperatorClass):
    def __init__(
        self,
        *,
        offset: typing.Sequence[float] | DataNode | None = None,
        reverse_order: bool = False,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

@overload
def combine(
    *matrices: Any,
    reverse_order: bool = False,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def combine(
    *matrices: Any,
    reverse_order: bool = False,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def crop(
    matrix: Any = None,
    /,
    *,
    absolute: bool = False,
    from_end: Any = ...,
    from_start: Any = ...,
    reverse_order: bool = False,
    to_end: Any = ...,
    to_start: Any = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def crop(
    matrix: Any = None,
    /,
    *,
    absolute: bool = False,
    from_end: Any = ...,
    from_start: Any = ...,
    reverse_order: bool = False,
    to_end: Any = ...,
    to_start: Any = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def rotation(
    matrix: Any = None,
    /,
    *,
    angle: Any,
    axis: Any = None,
    center: Any = None,
    reverse_order: bool = False,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def rotation(
    matrix: Any = None,
    /,
    *,
    angle: Any,
    axis: Any = None,
    center: Any = None,
    reverse_order: bool = False,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def scale(
    matrix: Any = None,
    /,
    *,
    scale: Any,
    center: Any = None,
    ndim: int | None = None,
    reverse_order: bool = False,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def scale(
    matrix: Any = None,
    /,
    *,
    scale: Any,
    center: Any = None,
    ndim: int | None = None,
    reverse_order: bool = False,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def shear(
    matrix: Any = None,
    /,
    *,
    angles: Any = None,
    center: Any = None,
    reverse_order: bool = False,
    shear: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def shear(
    matrix: Any = None,
    /,
    *,
    angles: Any = None,
    center: Any = None,
    reverse_order: bool = False,
    shear: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def translation(
    matrix: Any = None,
    /,
    *,
    offset: Any,
    reverse_order: bool = False,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def translation(
    matrix: Any = None,
    /,
    *,
    offset: Any,
    reverse_order: bool = False,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...
