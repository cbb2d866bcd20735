"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from jdali import types
from typing import overload
from jax import Array
from jax.typing import ArrayLike

@overload
def remap(
    image: Any,
    mapx: Any,
    mapy: Any,
    /,
    *,
    interp: types.DALIInterpType = ...,
    pixel_origin: str = 'corner',
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def remap(
    image: Any,
    mapx: Any,
    mapy: Any,
    /,
    *,
    interp: types.DALIInterpType = ...,
    pixel_origin: str = 'corner',
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def warp_perspective(
    image: Any,
    matrix_input: Any = None,
    /,
    *,
    border_mode: str = 'constant',
    fill_value: typing.Sequence[float] | float = ...,
    interp_type: types.DALIInterpType = ...,
    inverse_map: bool = True,
    matrix: Any = ...,
    pixel_origin: str = 'corner',
    size: Any = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def warp_perspective(
    image: Any,
    matrix_input: Any = None,
    /,
    *,
    border_mode: str = 'constant',
    fill_value: typing.Sequence[float] | float = ...,
    interp_type: types.DALIInterpType = ...,
    inverse_map: bool = True,
    matrix: Any = ...,
    pixel_origin: str = 'corner',
    size: Any = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...
