from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from jdali import types
from jdali._batches import BatchSpec, Plan, size_text
from jdali._kernels.affine_matrix import Matrix, Vector, apply_linear
from jdali._kernels.fit import fit
from jdali._kernels.transform_plan import length, sample_shape
from jdali._numerics.rounding import saturate_cast
from jdali._operators.record import PerFrame, Static, operator


def setup(points: BatchSpec, *, M: object, MT: object, T: object, dtype: np.dtype) -> Plan:
    if points.ndim < 2:
        raise ValueError(
            "coord_transform: CoordTransform expects an input with at least 2 dimensions, the last one of coordinates"
        )
    if MT is not None and (M is not None or T is not None):
        raise ValueError(
            "coord_transform: The combined ``MT`` argument cannot be used together with separate ``M``, ``T`` arguments."
        )
    columns = points.extents[:, -1]
    if (columns != columns[:1]).any():
        raise ValueError(
            "coord_transform: The point dimensions must be the same for all input samples. Got: "
            f"{sorted(set(columns.tolist()))}"
        )
    n = int(columns[0]) if len(columns) else 1
    rows = _rows("M", M, n) if MT is None else _rows("MT", MT, n + 1)
    rows = n if rows is None else rows
    if length(T) not in (None, 1, rows):
        raise ValueError(
            f'coord_transform: Argument "T" expects either a single value or a list of {rows} elements. {length(T)} given.'
        )
    extents = points.extents.copy()
    extents[:, -1] = rows
    return Plan((points.replace(extents=extents, dtype=dtype),), static={"_components": n})


def _rows(name: str, matrix: object, columns: int) -> int | None:
    """Returns the row count of a matrix argument; None if `matrix` is one number, None or of unknown shape."""
    count = length(matrix)
    if count is None or count == 1:
        return None
    shape = sample_shape(matrix) or ()
    if count % columns or (len(shape) == 2 and shape[1] != columns):
        words = f"Cannot form a matrix with {count} elements and {columns} columns"
        if len(shape) > 1:
            words = f"The shape of the argument ``{name}`` does not match the input shape, which requires {columns} columns"
        raise ValueError(f"coord_transform: {words}; {name} has the shape {size_text(shape)}")
    return count // columns


@operator(setup=setup, takes_frames="arguments", source="operators/geometry/coord_transform.h")
def coord_transform(
    points: Array,
    /,
    *,
    M: PerFrame[tuple[float, ...] | Matrix | None] = None,
    MT: PerFrame[tuple[float, ...] | Matrix | None] = None,
    T: PerFrame[tuple[float, ...] | None] = None,
    dtype: Static[np.dtype | types.DALIDataType] = types.FLOAT,
    _components: Static[int] = 0,
    out_shape: tuple[int, ...],
) -> Array:
    """Transforms vectors: out = M · in + T. Integer results are rounded half away from zero.

    Args:
        points: [..., n], any type.
        M: m·n values or [m, n]; one value: a factor for all components; None: the identity.
        MT: [M T] in one matrix, m·(n+1) values or [m, n+1]; one value: a factor for all components.
        T: m values, or one for all components; None: 0.
        dtype: output type.

    Returns: [..., m], `dtype`, saturated.

    Example: points = fn.coord_transform(points, M=[0.0, -1.0, 1.0, 0.0], T=[0.5, 0.0])
    """
    n = _components
    result = points[..., :n].astype(jnp.float32)
    shift: Vector | None = T
    matrix = _matrix(M, n) if MT is None else _matrix(MT, n + 1)
    if matrix is not None and matrix.ndim == 0:
        result = result * matrix
    elif matrix is not None:
        result = apply_linear(matrix[:, :n], result)
        shift = matrix[:, n] if MT is not None else T
    if shift is not None:
        result = result + jnp.asarray(shift, jnp.float32)
    return fit(saturate_cast(result, types.to_dtype(dtype)), out_shape)


def _matrix(values: Vector | Matrix | None, columns: int) -> Array | None:
    """Arranges values as float32 [m, columns], or as [] if there is one value."""
    if values is None:
        return None
    array = jnp.asarray(values, jnp.float32)
    return array.reshape(()) if array.size == 1 else array.reshape(-1, columns)
