"""Output shapes of random generators."""

from __future__ import annotations

import numpy as np

from jdali._batches import BatchSpec, size_text
from jdali._errors import check_samples


def output_shape(
    name: str, shape_like: BatchSpec | None, shape: np.ndarray | None, batch_size: int
) -> np.ndarray:
    """Returns the true sizes of a random operator's output, int64 [N, ndim].

    Without `shape_like` and `shape`, samples are scalars.

    Args:
        shape_like: spec of the input whose shape the output takes.
        shape: [N, ndim] argument, or [N] for one axis.
    """
    if shape is None:
        return np.zeros((batch_size, 0), np.int64) if shape_like is None else shape_like.extents
    if shape_like is not None:
        raise ValueError(
            f'{name}: Providing argument "shape" is incompatible with providing a shape-like input'
        )
    extents = np.asarray(shape, np.int64).reshape(batch_size, -1)
    negative = (extents < 0).any(axis=1)
    check_samples(
        negative,
        lambda i: f"{name}: Input size less than zero not supported. Got shape {size_text(extents[i])}",
        argument="shape",
    )
    return extents


def output_spec(
    name: str,
    shape_like: tuple[BatchSpec, ...],
    shape: np.ndarray | None,
    dtype: np.dtype,
    batch_size: int,
) -> BatchSpec:
    """Makes the spec of a random operator's output; see `output_shape`. `shape_like` has one spec, or is empty."""
    like = shape_like[0] if shape_like else None
    return BatchSpec(output_shape(name, like, shape, batch_size), dtype)
