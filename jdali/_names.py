"""Names of the samples of a batch, made when somebody asks for them: mostly nobody does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class LazyNames(Sequence[str]):
    """A name for each sample, from its index.

    Args:
        name: gives the name of the sample with an index.
        indices: int [n], of the samples; must not change afterwards.
    """

    __slots__ = ("_indices", "_name")

    def __init__(self, name: Callable[[int], str], indices: np.ndarray):
        self._name, self._indices = name, indices

    def __len__(self) -> int:
        return len(self._indices)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return LazyNames(self._name, self._indices[i])
        return self._name(int(self._indices[i]))

    def select(self, chosen: np.ndarray) -> LazyNames:
        return LazyNames(self._name, self._indices[chosen])


def fixed_names(names: Sequence[str]) -> Sequence[str]:
    """The names as something that does not change."""
    return names if isinstance(names, LazyNames) else tuple(names)


def chosen_names(names: Sequence[str], chosen: np.ndarray) -> Sequence[str]:
    """The names at these places."""
    return names.select(chosen) if isinstance(names, LazyNames) else [names[i] for i in chosen]
