"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from numpy.typing import DTypeLike
from typing import overload
from jax import Array
from jax.typing import ArrayLike

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
