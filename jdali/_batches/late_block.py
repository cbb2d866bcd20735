"""Samples that are made when they are asked for, and not kept: a batch of them takes no memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from jdali._system.devices import HostArray

MakeRows: TypeAlias = "Callable[[np.ndarray[Any, Any]], Sequence[HostArray]]"
"""make(rows): the samples in these rows, int64 [m], each of its true size."""


class LateBlock:
    """A block for values that are read once: a second read makes the sample again.

    Args:
        make: makes samples.
        count: of the rows.
    """

    __slots__ = ("_make", "count")

    local = True
    sharding = None
    nbytes = 0

    def __init__(self, make: MakeRows, count: int):
        self._make, self.count = make, count

    def host_samples(self, rows: np.ndarray[Any, Any]) -> list[HostArray]:
        """Makes the samples in these rows."""
        return list(self._make(rows))

    def host_sample(self, row: int) -> HostArray:
        return self._make(np.array([row]))[0]

    def sample(self, row: int) -> HostArray:
        return self.host_sample(row)

    def to_host(self) -> LateBlock:
        return self

    def view(self, dtype: np.dtype) -> LateBlock:
        make = self._make
        return LateBlock(lambda rows: [np.ascontiguousarray(s).view(dtype) for s in make(rows)], self.count)
