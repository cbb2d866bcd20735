"""Made by tools/make_stubs.py from the operators' records; do not edit."""

import typing
from typing import Any
from typing import overload
from jax import Array
from jax.typing import ArrayLike

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
