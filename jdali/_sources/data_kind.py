"""Checks that the batches of an external source keep their type, number of axes and layout."""

from __future__ import annotations

from typing import Any

import numpy as np

from jdali import types
from jdali._sources.user_batches import Samples, kind_of


class DataKind:
    """Element type, number of axes and layout of the batches of one output so far."""

    def __init__(self) -> None:
        self._dtype: np.dtype[Any] | None = None
        self._ndim = 0
        self._layout = ""

    def check(self, samples: Samples, layout: str) -> None:
        """Takes note of a batch. One without samples has no kind, and one without a layout before any had one is as good.

        Raises:
            RuntimeError: it is of another kind than the one before it, in DALI's words.
        """
        if not len(samples):
            return
        dtype, ndim = kind_of(samples, 0)
        if self._dtype is None:
            self._dtype, self._ndim = dtype, ndim
        if dtype != self._dtype:
            raise RuntimeError(
                "Type of the data fed to the external source has changed from the previous iteration. Type in the "
                f"previous iteration was {types.type_name(self._dtype)} and the current type is "
                f"{types.type_name(dtype)}."
            )
        if ndim != self._ndim:
            raise RuntimeError(
                "Number of dimensions of the data fed to the external source has changed from previous iteration. "
                f"Dimensionality in the previous iteration was {self._ndim} and the current is {ndim}."
            )
        if self._layout and layout != self._layout:
            raise RuntimeError(
                "Layout of the data fed to the external source has changed from previous iteration. Layout in the "
                f'previous iteration was "{self._layout}" and the current is "{layout}".'
            )
        self._layout = layout
