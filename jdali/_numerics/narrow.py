"""Converts 64-bit arrays to JAX's 32-bit types, unless `jax_enable_x64` is set."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np

from jdali._numerics.rounding import narrowed, x64_context
from jdali._system.devices import AnyArray, is_local, to_host


def narrow(array: AnyArray, what: str) -> AnyArray:
    """Converts an array to the element type that JAX uses for it; values out of range wrap, as in JAX.

    Args:
        what: name of the array, for the warning if values wrap. No warning is given for arrays on an accelerator, because
            the host would have to wait for them.
    """
    dtype = narrowed(array.dtype)
    if array.dtype == dtype:
        return array
    # Outside of this context, JAX does not accept 64-bit arrays.
    with contextlib.nullcontext() if isinstance(array, np.ndarray) else x64_context(True):
        result = array.astype(dtype)
    if dtype.kind in "iu" and is_local(array) and not np.array_equal(to_host(array), to_host(result)):
        warnings.warn(
            f"{what}: {array.dtype} values that {dtype} cannot hold wrap, since JAX has no 64-bit types unless "
            "`jax_enable_x64` is set",
            stacklevel=2,
        )
    return result
