"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import overload
from jax import Array
from jax.typing import ArrayLike

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
