from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali import types
from jdali._batches import BatchSpec
from jdali._kernels.fit import fit
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import Static, operator

_LARGEST_KEY = 65535


def _vector(values: object) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)


def setup(data: BatchSpec, *, dtype: np.dtype, keys: object, values: object) -> BatchSpec:
    keys, values = _vector(keys), _vector(values)
    if data.dtype.kind not in "iu":
        raise ValueError(f"lookup_table: Unsupported input type: {data.dtype}. It must be an integer type")
    if len(keys) != len(values):
        raise ValueError(
            f"lookup_table: `keys` size should match `values` size, got {len(keys)} and {len(values)}"
        )
    if keys and not 0 <= min(keys) <= max(keys) <= _LARGEST_KEY:
        raise ValueError(
            f"lookup_table: `keys` should be in the range [0, {_LARGEST_KEY}], got {min(keys)} to {max(keys)}"
        )
    return data.replace(dtype=dtype)


@operator(setup=setup, source="operators/generic/lookup_table.h")
def lookup_table(
    data: Array,
    /,
    *,
    default_value: Static[float] = 0.0,
    dtype: Static[np.dtype | types.DALIDataType] = types.FLOAT,
    keys: Static[tuple[int, ...]] = (),
    values: Static[tuple[float, ...]] = (),
    out_shape: tuple[int, ...],
) -> Array:
    """Maps each element keys[i] to values[i], and other elements to `default_value`.

    Args:
        data: integers, any shape.
        default_value: result for elements that are not in `keys`.
        dtype: type of the result; values round half away from zero and saturate.
        keys: 0 to 65535; among equal keys, the last one counts.
        values: result for each key.

    Returns: shape of `data`, `dtype`.

    Example: classes = fn.lookup_table(classes, keys=[0, 1, 2], values=[10.0, 20.0, 30.0])
    """
    keys, values = _vector(keys), _vector(values)
    table = np.full(max(keys, default=0) + 1, default_value, np.float32)
    table[list(keys)] = values
    # uint32 values from 2³¹ on become negative here. This is harmless, because keys are smaller and not negative.
    wide = data if data.dtype.itemsize == 8 else data.astype(jnp.int32)
    known = (wide >= 0) & (wide < len(table))
    found = jnp.asarray(table)[jnp.where(known, wide, 0).astype(jnp.int32)]
    result = saturate_cast(jnp.where(known, found, np.float32(default_value)), types.to_dtype(dtype))
    return fit(result, out_shape)
