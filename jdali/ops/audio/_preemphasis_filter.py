from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali import types
from jdali._batches import BatchSpec
from jdali._kernels.fit import fit
from jdali._kernels.relayout import linear_index, take_linear
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import PerSample, Static, operator

_BORDERS = ("clamp", "reflect", "zero")


def setup(signal: BatchSpec, *, border: str, dtype: np.dtype) -> BatchSpec:
    if border not in _BORDERS:
        raise ValueError(
            f'preemphasis_filter: ``border`` mode "{border}" is not supported. It must be one of {", ".join(_BORDERS)}'
        )
    return signal.replace(dtype=dtype)


@operator(setup=setup, nanoseconds=3.0, source="operators/audio/preemphasis_filter_op.h")
def preemphasis_filter(
    signal: Array,
    /,
    *,
    border: Static[str] = "clamp",
    dtype: Static[np.dtype | types.DALIDataType] = types.FLOAT,
    preemph_coeff: PerSample[float] = 0.97,
    extent: Array,
    out_shape: tuple[int, ...],
) -> Array:
    """Computes out[t] = in[t] - preemph_coeff · in[t - 1], in row-major order over all axes.

    Args:
        signal: numbers, any shape.
        border: value in front of the first element: "clamp": the first element; "reflect": the second element
            (the first if there is only one); "zero": 0.
        dtype: type of the result; integers round half away from zero and saturate.
        preemph_coeff: share of the previous element.

    Returns: shape of `signal`, `dtype`.

    Example: sound = fn.preemphasis_filter(sound, preemph_coeff=0.97)
    """
    value = signal if signal.dtype == jnp.float64 else signal.astype(jnp.float32)
    index = linear_index(extent, signal.shape)
    count = jnp.prod(extent) if signal.ndim else jnp.int32(1)
    first = jnp.minimum(1, count - 1) if border == "reflect" else jnp.int32(0)
    before = jnp.where(index == 0, first, index - 1)
    if signal.ndim == 1:
        earlier = value[jnp.clip(before, 0, max(len(value) - 1, 0))] if len(value) else value
    else:
        earlier = take_linear(value, extent, jnp.clip(before, 0, max(math.prod(signal.shape) - 1, 0)))
    if border == "zero":
        earlier = jnp.where(index == 0, 0, earlier)
    # With a coefficient of 0, NaN and infinity must not affect the next sample, but 0 times NaN or infinity is NaN.
    earlier = jnp.where((jnp.asarray(preemph_coeff) == 0) & ~jnp.isfinite(earlier), 0, earlier)
    return fit(saturate_cast(value - preemph_coeff * earlier, types.to_dtype(dtype)), out_shape)
