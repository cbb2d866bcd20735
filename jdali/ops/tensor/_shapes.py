from __future__ import annotations

import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._kernels.fit import fit
from jdali._operators.record import Static, operator

_TYPES = ("int32", "uint32", "int64", "uint64", "float32", "float64")


def setup(data: BatchSpec, *, dtype: np.dtype) -> BatchSpec:
    if dtype not in [np.dtype(t) for t in _TYPES]:
        raise TypeError(f"shapes: dtype must be one of {', '.join(_TYPES)}, got {dtype}")
    return BatchSpec(np.full((data.batch_size, 1), data.ndim), dtype)


@operator(setup=setup, source="operators/generic/shapes.h")
def shapes(
    data: Array,
    /,
    *,
    dtype: Static[np.dtype] = np.dtype(np.int64),  # noqa: B008 (immutable)
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Returns the shape of each sample.

    Args:
        data: any shape and type.
        dtype: type of the result; with a 32-bit type, the program needs no 64-bit types.

    Returns: [number of axes], `dtype`, no layout.

    Example: sizes = fn.shapes(images, dtype=types.INT32)
    """
    return fit(extent, out_shape).astype(dtype)


operator(setup=setup, name="_shape", source="operators/generic/shapes.h")(shapes.run)
