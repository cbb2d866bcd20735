"""Identities of the samples of a batch, for random keys."""

from __future__ import annotations

import dataclasses

import numpy as np

from jdali._numerics.random import index_words


@dataclasses.dataclass(frozen=True, eq=False)
class SampleIds:
    """Identity of the samples of one batch, or of the part of it that a branch works on.

    Attributes:
        epoch: uint32 [n].
        index: int64 [n], index of the sample in the data set (or in the stream, without a reader).
        position: int [n], in the whole batch.
    """

    epoch: np.ndarray
    index: np.ndarray
    position: np.ndarray

    def __len__(self) -> int:
        return len(self.position)

    def select(self, chosen: np.ndarray) -> SampleIds:
        return SampleIds(self.epoch[chosen], self.index[chosen], self.position[chosen])

    def words(self) -> np.ndarray:
        """uint32 [3, n], what compiled programs make keys of: epoch, low and high word of the index."""
        return np.stack([self.epoch.astype(np.uint32), *index_words(self.index)])
