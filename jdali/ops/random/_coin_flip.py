from __future__ import annotations

import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._kernels.random_output import output_spec
from jdali._numerics.random import element_uniform
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import PerSample, Static, operator


def setup(
    *shape_like: BatchSpec, shape: np.ndarray | None, dtype: np.dtype | None, batch_size: int
) -> BatchSpec:
    return output_spec("random.coin_flip", shape_like, shape, dtype or np.dtype(np.int32), batch_size)


@operator(
    setup=setup,
    name="random.coin_flip",
    setup_needs=lambda arguments: ("shape",),
    source="operators/random/coin_flip.h",
)
def coin_flip(
    key: Array,
    shape_like: Array | None = None,
    /,
    *,
    dtype: Static[np.dtype | None] = None,
    probability: PerSample[float] = 0.5,
    shape: PerSample[tuple[int, ...] | None] = None,
    out_extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Draws 1 with the probability `probability`, else 0.

    Args:
        shape_like: tensor whose shape the output takes.
        dtype: type of the output; None: int32.
        probability: probability of a 1; values outside of 0 to 1 are clipped.
        shape: shape of the output; None: the shape of `shape_like`, or a scalar.

    Returns: `shape`, `dtype`.

    Example: flip = fn.random.coin_flip(probability=0.3)
    """
    return saturate_cast(element_uniform(key, out_extent, out_shape) < probability, dtype or np.int32)
