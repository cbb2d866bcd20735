from __future__ import annotations

import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._kernels.random_output import output_spec
from jdali._numerics.random import element_normal
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import PerSample, Static, operator


def setup(
    *shape_like: BatchSpec, shape: np.ndarray | None, dtype: np.dtype | None, batch_size: int
) -> BatchSpec:
    return output_spec("random.normal", shape_like, shape, dtype or np.dtype(np.float32), batch_size)


@operator(
    setup=setup,
    name="random.normal",
    setup_needs=lambda arguments: ("shape",),
    source="operators/random/normal_distribution.h",
)
def normal(
    key: Array,
    shape_like: Array | None = None,
    /,
    *,
    dtype: Static[np.dtype | None] = None,
    mean: PerSample[float] = 0.0,
    shape: PerSample[tuple[int, ...] | None] = None,
    stddev: PerSample[float] = 1.0,
    out_extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Draws from a normal distribution.

    Args:
        shape_like: tensor whose shape the output takes.
        dtype: type of the output; None: float32. Integers round half away from zero and saturate.
        mean: centre of the distribution.
        shape: shape of the output; None: the shape of `shape_like`, or a scalar.
        stddev: standard deviation; a negative one mirrors values about the mean.

    Returns: `shape`, `dtype`; within 5.5 standard deviations of the mean.

    Example: values = fn.random.normal(mean=1.0, stddev=0.5, shape=[3])
    """
    drawn = mean + stddev * element_normal(key, out_extent, out_shape)
    return saturate_cast(drawn, dtype or np.float32)
