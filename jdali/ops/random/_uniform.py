from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jdali._batches import BatchSpec, size_text
from jdali._errors import check_samples
from jdali._kernels.random_output import output_spec
from jdali._numerics.random import element_index, element_uniform
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import PerSample, Static, extents_of, is_traced, operator


def setup(
    *shape_like: BatchSpec, shape: np.ndarray | None, dtype: np.dtype | None, batch_size: int,
    range: Any, values: Any,
) -> BatchSpec:  # fmt: skip
    if values is None:
        _check_range(range)
    else:
        extents = values.extents if is_traced(values) else extents_of(values)
        empty = np.zeros(0) if extents is None else extents.prod(axis=1) == 0
        check_samples(empty, lambda _: "random.uniform: values is empty", argument="values")
    return output_spec("random.uniform", shape_like, shape, dtype or np.dtype(np.float32), batch_size)


def _check_range(limits: Any) -> None:
    """Raises an error unless begin < end in each row (begin, end) of `limits`, [N, 2]; a tracer is not checked."""
    shape = limits.known_shape if is_traced(limits) else limits.shape
    if shape is not None and shape[1:] != (2,):
        raise ValueError(
            f'random.uniform: Argument "range" expected shape 2 but got {size_text(shape[1:])} values, which can\'t be '
            "interpreted as the expected shape: (begin, end)"
        )
    if is_traced(limits):
        return
    check_samples(
        ~(limits[:, 0] < limits[:, 1]),
        lambda i: f"random.uniform: Invalid range [{limits[i, 0]:g}, {limits[i, 1]:g}). It is empty",
        argument="range",
    )


@operator(
    setup=setup,
    name="random.uniform",
    setup_needs=lambda arguments: ("shape", "range"),
    source="operators/random/uniform_distribution.h",
)
def uniform(
    key: Array,
    shape_like: Array | None = None,
    /,
    *,
    dtype: Static[np.dtype | None] = None,
    range: PerSample[tuple[float, ...]] = (-1.0, 1.0),
    shape: PerSample[tuple[int, ...] | None] = None,
    values: PerSample[tuple[float, ...] | list[float] | None] = None,
    _values_extent: PerSample[Array | None] = None,
    out_extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Draws from a range, excluding its end, or from a list of values.

    Args:
        shape_like: tensor whose shape the output takes.
        dtype: type of the output; None: float32. Integers round half away from zero and saturate. For the range
            [0, 10], 10 may therefore be drawn, and 0 and 10 have half the probability of the other integers, as in
            DALI. `random.choice(11)` draws 0 to 10 with equal probabilities.
        range: (begin, end), begin < end.
        shape: shape of the output; None: the shape of `shape_like`, or a scalar.
        values: values to draw from; `range` is then ignored.

    Returns: `shape`, `dtype`; numbers from a range have 23 random bits, choices from a list 32.

    Parity: for integers, DALI truncates the limits of the range first ([0.5, 2.5] gives 0, 1 and 2), and wraps
    limits that `dtype` cannot hold.

    Example: values = fn.random.uniform(range=[-1.0, 1.0], shape=[3])
    """
    dtype = np.dtype(dtype or np.float32)
    if values is not None:
        listed = jnp.asarray(values, jnp.float32).reshape(-1)
        count = listed.size if _values_extent is None else _values_extent[0].astype(jnp.uint32)
        return saturate_cast(listed[element_index(key, out_extent, out_shape, count)], dtype)
    limits: Any = range
    begin, end = limits[0], limits[1]
    drawn = begin + element_uniform(key, out_extent, out_shape) * (end - begin)
    # The minimum is needed, because a value could be rounded up to the end of the range.
    largest = jnp.nextafter(*(lax.stop_gradient(jnp.float32(limit)) for limit in (end, begin)))
    return saturate_cast(jnp.minimum(drawn, largest), dtype)
