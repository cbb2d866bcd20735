"""JAX's element types: 32 bits for 64, unless `jax_enable_x64` is set."""

from __future__ import annotations

import contextlib
import warnings

import jax
import numpy as np

from jdali._numerics.rounding import x64_context
from jdali._system.devices import AnyArray, is_local, to_host


def narrowed(dtype: np.dtype) -> np.dtype:
    """Returns the element type that JAX uses for `dtype`."""
    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))


def narrow(array: AnyArray, what: str) -> AnyArray:
    """Converts an array to the element type that JAX uses for it; values that do not fit wrap, as in JAX.

    Args:
        array: of any type.
        what: its name in the warning that values wrap, which comes once for each name. What is on an accelerator
            is not looked at: the host would wait for it.
    """
    dtype = narrowed(array.dtype)
    if array.dtype == dtype:
        return array
    # Outside of the context JAX would not take its own arrays of 64 bits.
    with contextlib.nullcontext() if isinstance(array, np.ndarray) else x64_context(True):
        result = array.astype(dtype)
    if dtype.kind in "iu" and is_local(array) and not np.array_equal(to_host(array), to_host(result)):
        warnings.warn(
            f"{what}: {array.dtype} values that {dtype} cannot hold wrap, for JAX has no 64-bit types unless "
            "`jax_enable_x64` is set",
            stacklevel=2,
        )
    return result
