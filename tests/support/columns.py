"""Columns of every kind that tables have, and what their samples are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

COUNT = 50
BYTES = [bytes([i]) * (i % 7) for i in range(COUNT)]
KINDS = {
    "bytes": (pa.array(BYTES), BYTES),
    "large bytes": (pa.array(BYTES, pa.large_binary()), BYTES),
    "bytes by views": (pa.array(BYTES, pa.binary_view()), BYTES),
    "bytes of one size": (pa.array([bytes([i, 1, 2]) for i in range(COUNT)], pa.binary(3)),
                          [bytes([i, 1, 2]) for i in range(COUNT)]),
    "strings": (pa.array([f"ä{i % 3}" for i in range(COUNT)]), [f"ä{i % 3}".encode() for i in range(COUNT)]),
    "categories": (pa.array([f"c{i % 3}" for i in range(COUNT)]).dictionary_encode(),
                   [f"c{i % 3}".encode() for i in range(COUNT)]),
    "a struct with bytes": (pa.array([{"bytes": b, "path": str(i)} for i, b in enumerate(BYTES)]), BYTES),
    **{
        str(kind): (pa.array(np.arange(COUNT).astype(kind)), np.arange(COUNT).astype(kind))
        for kind in map(np.dtype, ("u1", "i1", "i2", "u4", "i8", "f2", "f4", "f8"))
    },
    "bools": (pa.array([i % 3 == 0 for i in range(COUNT)]), np.arange(COUNT) % 3 == 0),
    "dates": (pa.array(range(COUNT), pa.date32()), np.arange(COUNT, dtype=np.int32)),
    "times": (pa.array(range(COUNT), pa.timestamp("us")), np.arange(COUNT)),
    "lists": (pa.array([[1.5 * i] * (i % 4) for i in range(COUNT)]), [np.full(i % 4, 1.5 * i) for i in range(COUNT)]),
    "lists of one size": (pa.array([[i, -i] for i in range(COUNT)], pa.list_(pa.int16(), 2)),
                          np.stack([np.arange(COUNT), -np.arange(COUNT)], 1).astype(np.int16)),
    "matrices": (pa.array([[[i, 1], [2, 3]][: i % 3] for i in range(COUNT)], pa.list_(pa.list_(pa.int32()))),
                 [np.int32([[i, 1], [2, 3]][: i % 3]).reshape(i % 3, 2 * (i % 3 > 0)) for i in range(COUNT)]),
    "tensors": (
        pa.FixedShapeTensorArray.from_numpy_ndarray(np.arange(COUNT * 6, dtype=np.float32).reshape(COUNT, 2, 3)),
        np.arange(COUNT * 6, dtype=np.float32).reshape(COUNT, 2, 3),
    ),
}  # fmt: skip


def same(found: Sequence[tuple[np.ndarray, ...]], expected: Sequence[Any]) -> None:
    """Checks the samples of a column."""
    for (mine,), value in zip(found, expected, strict=True):
        value = np.frombuffer(value, np.uint8) if isinstance(value, bytes) else np.asarray(value)
        assert (mine.dtype, mine.shape) == (value.dtype, value.shape)
        np.testing.assert_array_equal(mine, value)
