"""Which samples a batch holds: their identity for random keys and for messages."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jdali._names import LazyNames, chosen_names


@dataclasses.dataclass(frozen=True, eq=False)
class SampleIds:
    """Identity of the samples of one batch, or of the part of it that a branch works on.

    Attributes:
        epoch: uint32 [n].
        index: uint32 [n], index of the sample in the data set (or in the stream, without a reader).
        position: int [n], place in the whole batch.
        sources: for each sample of the whole batch where it came from, "" if not known.
    """

    epoch: np.ndarray
    index: np.ndarray
    position: np.ndarray
    sources: Sequence[str]

    def __len__(self) -> int:
        return len(self.position)

    def select(self, chosen: np.ndarray) -> SampleIds:
        return SampleIds(self.epoch[chosen], self.index[chosen], self.position[chosen], self.sources)

    def source(self, sample: int) -> str:
        position = int(self.position[sample])
        return self.sources[position] if position < len(self.sources) else ""

    def names(self) -> Sequence[str] | None:
        """Where the samples of this part came from; None if that is not known of any."""
        if not isinstance(self.sources, LazyNames) and not any(self.sources):
            return None
        return chosen_names(self.sources, self.position)
