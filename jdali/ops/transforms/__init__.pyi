"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import overload
from jax import Array
from jax.typing import ArrayLike

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
