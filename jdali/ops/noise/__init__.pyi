"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import overload
from jax import Array
from jax.typing import ArrayLike
from jdali.data_node import DataNode
from jdali.fn._classes import OperatorClass

class Gaussian(OperatorClass):
    def __init__(
        self,
        *,
        mean: float | DataNode = 0.0,
        stddev: float | DataNode = 1.0,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
        seed: Any = -1,
    ) -> None: ...

class SaltAndPepper(OperatorClass):
    def __init__(
        self,
        *,
        pepper_val: float | DataNode | None = None,
        per_channel: bool = False,
        prob: float | DataNode = 0.05,
        salt_val: float | DataNode | None = None,
        salt_vs_pepper: float | DataNode = 0.5,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
        seed: Any = -1,
    ) -> None: ...

class Shot(OperatorClass):
    def __init__(
        self,
        *,
        factor: float | DataNode = 12.0,
        device: Any = None,
        name: Any = None,
        bytes_per_sample_hint: Any = 0,
        preserve: Any = False,
        seed: Any = -1,
    ) -> None: ...

@overload
def gaussian(
    key: ArrayLike,
    data: Any,
    /,
    *,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def gaussian(
    key: ArrayLike,
    data: Any,
    /,
    *,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def gaussian(
    data: Any,
    /,
    *,
    key: ArrayLike,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def gaussian(
    data: Any,
    /,
    *,
    key: ArrayLike,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def salt_and_pepper(
    key: ArrayLike,
    data: Any,
    /,
    *,
    pepper_val: Any = None,
    per_channel: bool = False,
    prob: Any = 0.05,
    salt_val: Any = None,
    salt_vs_pepper: Any = 0.5,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def salt_and_pepper(
    key: ArrayLike,
    data: Any,
    /,
    *,
    pepper_val: Any = None,
    per_channel: bool = False,
    prob: Any = 0.05,
    salt_val: Any = None,
    salt_vs_pepper: Any = 0.5,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def salt_and_pepper(
    data: Any,
    /,
    *,
    key: ArrayLike,
    pepper_val: Any = None,
    per_channel: bool = False,
    prob: Any = 0.05,
    salt_val: Any = None,
    salt_vs_pepper: Any = 0.5,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def salt_and_pepper(
    data: Any,
    /,
    *,
    key: ArrayLike,
    pepper_val: Any = None,
    per_channel: bool = False,
    prob: Any = 0.05,
    salt_val: Any = None,
    salt_vs_pepper: Any = 0.5,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def shot(
    key: ArrayLike,
    data: Any,
    /,
    *,
    factor: Any = 12.0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def shot(
    key: ArrayLike,
    data: Any,
    /,
    *,
    factor: Any = 12.0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...

@overload
def shot(
    data: Any,
    /,
    *,
    key: ArrayLike,
    factor: Any = 12.0,
    layout: Any = '',
    extent: None = None,
    out_shape: Any = None,
) -> Array: ...

@overload
def shot(
    data: Any,
    /,
    *,
    key: ArrayLike,
    factor: Any = 12.0,
    layout: Any = '',
    extent: ArrayLike | typing.Sequence[Any],
    out_shape: Any = None,
) -> tuple[Array, Array]: ...
