"""Tabulates the parameter of an augmentation for each magnitude, and looks it up for each sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jdali import fn, types
from jdali.data_node import DataNode


def magnitudes_of(mag_range: Any, num_magnitude_bins: int | None, who: str) -> np.ndarray:
    """Returns the magnitude of each bin.

    Args:
        mag_range: ends (low, high) of evenly spaced magnitudes, or an array of all magnitudes.
        num_magnitude_bins: number of bins; may be None for an array.
        who: name of the augmentation, for messages.
    """
    if isinstance(mag_range, np.ndarray):
        if num_magnitude_bins is not None and len(mag_range) != num_magnitude_bins:
            raise ValueError(
                f"The augmentation `{who}` has nd.array of length {len(mag_range)} specified as the `mag_range`. However, the "
                f"`num_magnitude_bins` passed to the call is {num_magnitude_bins}."
            )
        return mag_range
    if num_magnitude_bins is None:
        raise TypeError(
            f"The `num_magnitude_bins` argument is missing in the call of the `{who}` augmentation: it has a `mag_range`, so the "
            "number of bins must be given beside `magnitude_bin`."
        )
    if not hasattr(mag_range, "__len__") or len(mag_range) != 2:
        raise ValueError(
            "The `mag_range` must be a tuple of (low, high) ends of magnitude range or nd.array of explicitly defined "
            f"magnitudes. Got `{mag_range!r}` for augmentation `{who}`."
        )
    low, high = mag_range
    return np.linspace(low, high, num_magnitude_bins, dtype=np.float32)


def table_of(
    magnitudes: Sequence[object] | np.ndarray, mag_to_param: Callable[[object], object], who: str
) -> np.ndarray:
    """Tabulates the parameter of each magnitude, [magnitudes, ...].

    Raises:
        TypeError: `mag_to_param` returns a `DataNode`.
        ValueError: results of `mag_to_param` differ in shape or type.
    """
    rows = []
    for magnitude in magnitudes:
        row = mag_to_param(magnitude)
        if _has_node(row):
            raise TypeError(
                f"The `mag_to_param` callback of `{who}` augmentation returned `DataNode`. Parameters are computed once, before "
                "the pipeline runs: return an array or numbers, and call operators in the augmentation itself."
            )
        rows.append(np.array(row))
    for magnitude, row in zip(magnitudes, rows, strict=True):
        if (row.shape, row.dtype) != (rows[0].shape, rows[0].dtype):
            raise ValueError(
                f"The `mag_to_param` callback of `{who}` augmentation must return the arrays of the same type and shape for "
                f"different magnitudes. Got param of shape {rows[0].shape} and {rows[0].dtype} type for magnitude "
                f"{magnitudes[0]}, but {row.shape} and {row.dtype} for {magnitude}."
            )
    return types.constant_array(np.array(rows))


def _has_node(value: object) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_has_node, value))
    return isinstance(value, DataNode)


def rows_of(table: np.ndarray, index: DataNode) -> DataNode:
    """Looks up a row of a table [rows, ...] for each sample.

    Subscripting a node checks the index on the host. This function does so only if float32 cannot represent the table.
    Otherwise, the lookup can be compiled into one program with the operators before and after it.

    Args:
        table: any type.
        index: an integer for each sample, which the caller guarantees to be in range.
    """
    exact = table.dtype.kind in "iufb" and np.array_equal(table.astype(np.float32).astype(table.dtype), table)
    if not exact:  # lookup tables store float32
        constant: Any = types.Constant(table)
        return fn.reshape(constant, shape=list(table.shape))[index]
    columns = [column.tobytes() for column in table.reshape(len(table), -1).T]
    found = {
        column: _looked_up(np.frombuffer(column, table.dtype), index) for column in dict.fromkeys(columns)
    }
    if not table.shape[1:]:
        return found[columns[0]]
    return fn.reshape(fn.stack(*(found[column] for column in columns)), shape=list(table.shape[1:]))


def _looked_up(column: np.ndarray, index: DataNode) -> DataNode:
    values = column.astype(np.float32).tolist()
    dtype = types.to_dali_type(column.dtype)
    return fn.lookup_table(index, keys=list(range(len(values))), values=values, dtype=dtype)
