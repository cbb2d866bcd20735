"""A constant as an operator, for where a graph needs a node: an output, or a value on a device."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali._batches.extent import BatchSpec
from jdali._operators.record import PerSample, Static, operator


def setup(*, value: np.ndarray, layout_name: str) -> BatchSpec:
    extents = np.broadcast_to(np.array(value.shape[1:], np.int64), (len(value), value.ndim - 1))
    return BatchSpec(extents, value.dtype, layout_name)


@operator(setup=setup, name="_constant")
def constant(*, value: PerSample[Any], layout_name: Static[str] = "") -> Array:
    """The same array for every sample.

    Args:
        value: any shape and type.
        layout_name: layout of the array.
    """
    return jnp.asarray(value)
