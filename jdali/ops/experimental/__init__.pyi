"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from jdali import types
from typing import overload
from jax import Array
from jax.typing import ArrayLike
from jdali.data_node import DataNode
from jdali.fn._classes import OperatorClass
from jdali.ops.experimental import decoders as decoders
from jdali.ops.experimental import inputs as inputs
from jdali.ops.experimental import readers as readers
from jdali.ops import AudioResample as AudioResample
from jdali.ops import Debayer as Debayer
from jdali.ops import Equalize as Equalize
from jdali.ops import Filter as Filter
from jdali.ops.decoders import Inflate as Inflate
from jdali.ops import PeekImageShape as PeekImageShape
from jdali.ops import Resize as Resize
from jdali.ops import TensorResize as TensorResize

class Dilate(OperatorClass):
    def __init__(
        self,
        *,
        anchor: typing.Sequence[int] | DataNode = ...,
        border_mode: str = 'constant',
        iterations: int = 1,
        mask_size: typing.Sequence[int] | DataNode = ...,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Erode(OperatorClass):
    def __init__(
        self,
        *,
        anchor: typing.Sequence[int] | DataNode = ...,
        border_mode: str = 'constant',
        iterations: int = 1,
        mask_size: typing.Sequence[int] | DataNode = ...,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class MedianBlur(OperatorClass):
    def __init__(
        self,
        *,
        window_size: typing.Sequence[int] | DataNode = ...,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class Remap(OperatorClass):
    def __init__(
        self,
        *,
        interp: types.DALIInterpType = ...,
        pixel_origin: str = 'corner',
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

class WarpPerspective(OperatorClass):
    def __init__(
        self,
        *,
        border_mode: str = 'constant',
        fill_value: float | typing.Sequence[float] = ...,
        interp_type: types.DALIInterpType = ...,
        inverse_map: bool = True,
        matrix: typing.Sequence[float] | typing.Sequence[typing.Sequence[float]] | DataNode = ...,
        pixel_origin: str = 'corner',
        size: typing.Sequence[float] | DataNode = ...,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
    ) -> None: ...

@overload
def dilate(
    image: Any,
    /,
    *,
    anchor: Any = ...,
    border_mode: str = 'constant',
    iterations: int = 1,
    mask_size: Any = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def dilate(
    image: Any,
    /,
    *,
    anchor: Any = ...,
    border_mode: str = 'constant',
    iterations: int = 1,
    mask_size: Any = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def erode(
    image: Any,
    /,
    *,
    anchor: Any = ...,
    border_mode: str = 'constant',
    iterations: int = 1,
    mask_size: Any = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def erode(
    image: Any,
    /,
    *,
    anchor: Any = ...,
    border_mode: str = 'constant',
    iterations: int = 1,
    mask_size: Any = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def median_blur(
    image: Any,
    /,
    *,
    window_size: Any = ...,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def median_blur(
    image: Any,
    /,
    *,
    window_size: Any = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

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
    fill_value: float | typing.Sequence[float] = ...,
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
    fill_value: float | typing.Sequence[float] = ...,
    interp_type: types.DALIInterpType = ...,
    inverse_map: bool = True,
    matrix: Any = ...,
    pixel_origin: str = 'corner',
    size: Any = ...,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...
