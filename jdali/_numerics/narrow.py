"""JAX's element types: 32 bits for 64, unless `jax_enable_x64` is set."""

from __future__ import annotations

import jax
import numpy as np

from jdali._numerics.rounding import x64_context
from jdali._system.devices import AnyArray


def narrowed(dtype: np.dtype) -> np.dtype:
    """The element type that JAX uses for `dtype`."""
    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))


def narrow(array: AnyArray) -> AnyArray:
    """The array in the element type that JAX uses for it; values that do not fit wrap, as in JAX."""
    dtype = narrowed(array.dtype)
    if array.dtype == dtype:
        return array
    if isinstance(array, np.ndarray):
        return array.astype(dtype)
    with x64_context(True):  # outside of it JAX would not take the array
        return array.astype(dtype)
