"""Made by tools/make_stubs.py from the operators' records; do not edit."""

from typing import Any
from jax import Array

def combine(
    *matrices: Any,
    reverse_order: bool = False,
    layout: Any = '',
) -> Array: ...

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
) -> Array: ...

def rotation(
    matrix: Any = None,
    /,
    *,
    angle: Any,
    axis: Any = None,
    center: Any = None,
    reverse_order: bool = False,
    layout: Any = '',
) -> Array: ...

def scale(
    matrix: Any = None,
    /,
    *,
    scale: Any,
    center: Any = None,
    ndim: int | None = None,
    reverse_order: bool = False,
    layout: Any = '',
) -> Array: ...

def shear(
    matrix: Any = None,
    /,
    *,
    angles: Any = None,
    center: Any = None,
    reverse_order: bool = False,
    shear: Any = None,
    layout: Any = '',
) -> Array: ...

def translation(
    matrix: Any = None,
    /,
    *,
    offset: Any,
    reverse_order: bool = False,
    layout: Any = '',
) -> Array: ...
