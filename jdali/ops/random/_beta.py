from __future__ import annotations

import numpy as np
from jax import Array

from jdali._batches import BatchSpec
from jdali._errors import check_samples
from jdali._kernels.beta_draws import draw_beta
from jdali._kernels.random_output import output_spec
from jdali._operators.record import PerSample, Static, is_traced, operator


def setup(
    *shape_like: BatchSpec,
    alpha: np.ndarray,
    beta: np.ndarray,
    shape: np.ndarray | None,
    dtype: np.dtype | None,
    batch_size: int,
) -> BatchSpec:
    dtype = dtype or np.dtype(np.float32)
    if dtype not in (np.float32, np.float64):
        raise TypeError(
            f"random.beta: Data type {dtype} is not supported. Supported types are: float32, float64"
        )
    _check_positive("alpha", alpha)
    _check_positive("beta", beta)
    return output_spec("random.beta", shape_like, shape, dtype, batch_size)


def _check_positive(name: str, value: np.ndarray) -> None:
    if not is_traced(value):
        check_samples(
            ~((value > 0) & np.isfinite(value)),
            lambda i: (
                f"random.beta: The `{name}` must be a positive float32, got `{value[i]:g}` for sample at index {i}."
            ),
            argument=name,
        )


@operator(
    setup=setup,
    name="random.beta",
    setup_needs=lambda arguments: ("shape", "alpha", "beta"),
    source="operators/random/beta_distribution.h",
)
def beta(
    key: Array,
    shape_like: Array | None = None,
    /,
    *,
    alpha: PerSample[float] = 1.0,
    beta: PerSample[float] = 1.0,
    dtype: Static[np.dtype | None] = None,
    shape: PerSample[tuple[int, ...] | None] = None,
    out_extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Draws from the beta distribution, with density proportional to x^(alpha-1) (1-x)^(beta-1).

    Args:
        shape_like: tensor whose shape the output takes.
        alpha: first parameter of the distribution, above 0.
        beta: second parameter of the distribution, above 0.
        dtype: float32 or float64; None: float32.
        shape: shape of the output; None: the shape of `shape_like`, or a scalar.

    Returns: `shape`, `dtype`, from 0 to 1. An `alpha` or `beta` that is not above 0 raises an error. If the
        compiled program itself computes the parameter, it cannot raise errors, and the result is NaN.

    Example: values = fn.random.beta(alpha=2.0, beta=5.0, shape=[3])
    """
    return draw_beta(key, out_extent, out_shape, alpha, beta).astype(dtype or np.float32)
