"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from numpy.typing import DTypeLike
from typing import overload
from jax import Array
from jax.typing import ArrayLike
from jdali.data_node import DataNode
from jdali.fn._classes import OperatorClass

class Beta(OperatorClass):
    def __init__(
        self,
        *,
        alpha: float | DataNode = 1.0,
        beta: float | DataNode = 1.0,
        dtype: DTypeLike | None = None,
        shape: typing.Sequence[int] | DataNode | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
        seed: Any = -1,
    ) -> None: ...

class Choice(OperatorClass):
    def __init__(
        self,
        *,
        p: typing.Sequence[float] | DataNode | None = None,
        shape: typing.Sequence[int] | DataNode | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
        seed: Any = -1,
    ) -> None: ...

class CoinFlip(OperatorClass):
    def __init__(
        self,
        *,
        dtype: DTypeLike | None = None,
        probability: float | DataNode = 0.5,
        shape: typing.Sequence[int] | DataNode | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
        seed: Any = -1,
    ) -> None: ...

class Normal(OperatorClass):
    def __init__(
        self,
        *,
        dtype: DTypeLike | None = None,
        mean: float | DataNode = 0.0,
        shape: typing.Sequence[int] | DataNode | None = None,
        stddev: float | DataNode = 1.0,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
        seed: Any = -1,
    ) -> None: ...

class Uniform(OperatorClass):
    def __init__(
        self,
        *,
        dtype: DTypeLike | None = None,
        range: typing.Sequence[float] | DataNode = ...,
        shape: typing.Sequence[int] | DataNode | None = None,
        values: typing.Sequence[float] | DataNode | None = None,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
        seed: Any = -1,
    ) -> None: ...

@overload
def beta(
    key: ArrayLike,
    shape_like: Any = None,
    /,
    *,
    alpha: Any = 1.0,
    beta: Any = 1.0,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def beta(
    key: ArrayLike,
    shape_like: Any = None,
    /,
    *,
    alpha: Any = 1.0,
    beta: Any = 1.0,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def beta(
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    alpha: Any = 1.0,
    beta: Any = 1.0,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def beta(
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    alpha: Any = 1.0,
    beta: Any = 1.0,
    dtype: DTypeLike | None = None,
    shape: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def choice(
    key: ArrayLike,
    a: Any,
    shape_like: Any = None,
    /,
    *,
    p: Any = None,
    shape: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def choice(
    key: ArrayLike,
    a: Any,
    shape_like: Any = None,
    /,
    *,
    p: Any = None,
    shape: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def choice(
    a: Any,
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    p: Any = None,
    shape: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def choice(
    a: Any,
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    p: Any = None,
    shape: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def coin_flip(
    key: ArrayLike,
    shape_like: Any = None,
    /,
    *,
    dtype: DTypeLike | None = None,
    probability: Any = 0.5,
    shape: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def coin_flip(
    key: ArrayLike,
    shape_like: Any = None,
    /,
    *,
    dtype: DTypeLike | None = None,
    probability: Any = 0.5,
    shape: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def coin_flip(
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    dtype: DTypeLike | None = None,
    probability: Any = 0.5,
    shape: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def coin_flip(
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    dtype: DTypeLike | None = None,
    probability: Any = 0.5,
    shape: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def normal(
    key: ArrayLike,
    shape_like: Any = None,
    /,
    *,
    dtype: DTypeLike | None = None,
    mean: Any = 0.0,
    shape: Any = None,
    stddev: Any = 1.0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def normal(
    key: ArrayLike,
    shape_like: Any = None,
    /,
    *,
    dtype: DTypeLike | None = None,
    mean: Any = 0.0,
    shape: Any = None,
    stddev: Any = 1.0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def normal(
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    dtype: DTypeLike | None = None,
    mean: Any = 0.0,
    shape: Any = None,
    stddev: Any = 1.0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def normal(
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    dtype: DTypeLike | None = None,
    mean: Any = 0.0,
    shape: Any = None,
    stddev: Any = 1.0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def uniform(
    key: ArrayLike,
    shape_like: Any = None,
    /,
    *,
    dtype: DTypeLike | None = None,
    range: Any = ...,
    shape: Any = None,
    values: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def uniform(
    key: ArrayLike,
    shape_like: Any = None,
    /,
    *,
    dtype: DTypeLike | None = None,
    range: Any = ...,
    shape: Any = None,
    values: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def uniform(
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    dtype: DTypeLike | None = None,
    range: Any = ...,
    shape: Any = None,
    values: Any = None,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def uniform(
    shape_like: Any = None,
    /,
    *,
    key: ArrayLike,
    dtype: DTypeLike | None = None,
    range: Any = ...,
    shape: Any = None,
    values: Any = None,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...
