"""Defines the task of a batch. The contents of a batch depend only on the pipeline and the task."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from jdali._numerics.counting import counting
from jdali._numerics.random import index_words
from jdali._sources import Samples, chosen
from jdali.readers.order.epochs import SampleRefs


@dataclasses.dataclass(frozen=True, eq=False)
class SampleIds:
    """Holds the identities of the samples of a batch or of a branch.

    Without a reader, `index` is the number of the sample in the stream.
    """

    epoch: np.ndarray  # uint32 [n]
    index: np.ndarray  # int64 [n], index of the sample in the data set
    position: np.ndarray  # int [n], position of the sample in the whole batch

    def __len__(self) -> int:
        return len(self.position)

    def select(self, chosen: np.ndarray) -> SampleIds:
        return SampleIds(self.epoch[chosen], self.index[chosen], self.position[chosen])

    def words(self) -> np.ndarray:
        """Returns uint32 [3, n], from which compiled programs make keys: epoch, low and high word of the index."""
        return np.stack([self.epoch.astype(np.uint32), *index_words(self.index)])


class SourceData(NamedTuple):
    """Holds the data of one external source for a batch."""

    outputs: tuple[Samples, ...]
    layouts: tuple[str, ...]

    def select(self, rows: np.ndarray) -> SourceData:
        return SourceData(tuple(chosen(samples, rows) for samples in self.outputs), self.layouts)


@dataclasses.dataclass(frozen=True)
class EpochShare:
    """Describes the place of a batch in an epoch of an iterator, and how many samples of the batch belong to the epoch."""

    epoch: int  # starts at 0
    number: int  # of the batch in the epoch; starts at 0
    length: int | None  # number of batches in the epoch; None if the epoch lasts until a source ends
    counts: tuple[int, ...]  # for each pipeline, how many of the first samples belong to the epoch

    @property
    def is_surplus(self) -> bool:
        """True if the batch comes after the last batch of its epoch, so it is dropped."""
        return self.length is not None and self.number >= self.length


@dataclasses.dataclass(frozen=True, eq=False)
class BatchTask:
    """Describes what to make: a batch is a function of its pipeline and its task.

    A task is immutable. It can be pickled, because it refers to sources by the names of their nodes. Its arrays are
    read-only, except for samples of external sources, whose memory may belong to the user. Operators and functions do not
    write to their inputs. Pickling drops `state` and `share`.
    """

    ids: SampleIds
    mask: np.ndarray  # bool [n], False where a stand-in takes the position of a failed sample
    refs: Mapping[str, SampleRefs] = dataclasses.field(default_factory=dict)
    data: Mapping[str, SourceData] = dataclasses.field(default_factory=dict)
    state: Mapping[str, Any] = dataclasses.field(default_factory=dict)  # of the pipeline after the task
    share: EpochShare | None = None

    def __post_init__(self) -> None:
        arrays = [self.mask, self.ids.epoch, self.ids.index, self.ids.position]
        arrays += [array for refs in self.refs.values() for array in refs if array is not None]
        for array in arrays:
            array.setflags(write=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickled arrays would be writable. The constructor and `of` make them read-only.
        if self._is_of_refs:
            return BatchTask.of, (dict(self.refs), dict(self.data))
        return BatchTask, (self.ids, self.mask, dict(self.refs), dict(self.data))

    @property
    def _is_of_refs(self) -> bool:
        """True if `refs` determine `ids` and `mask`, as in most tasks. Pickling then leaves out `ids` and `mask`."""
        first, ids = next(iter(self.refs.values()), None), self.ids
        if first is None or ids.epoch is not first.epochs or ids.index is not first.identified:
            return False
        return ids.position is counting(len(self)) and bool(self.mask.all())

    @classmethod
    def of(
        cls, refs: Mapping[str, SampleRefs], data: Mapping[str, SourceData],
        state: Mapping[str, Any] | None = None, share: EpochShare | None = None,
    ) -> BatchTask:  # fmt: skip
        """Makes a task whose samples have the identities that the first reader assigns; there must be a reader."""
        ids = _identified(refs)
        return cls(ids, np.ones(len(ids), bool), refs, data, state or {}, share)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def padded(self) -> np.ndarray:
        """bool [n], True where the first reader repeats a sample to fill up the epoch."""
        first = next(iter(self.refs.values()), None)
        return np.zeros(len(self), bool) if first is None else first.padded

    def reading(self, refs: Mapping[str, SampleRefs]) -> BatchTask:
        """Returns a copy of the task in which the readers read `refs`."""
        return dataclasses.replace(self, refs=refs, ids=_identified(refs))

    def repeating(self, good: int, positions: np.ndarray) -> BatchTask:
        """Returns a copy of the task in which `positions` repeat the sample at position `good`."""
        rows = np.arange(len(self))
        rows[positions] = good
        refs = {name: own.select(rows)._replace(padded=own.padded) for name, own in self.refs.items()}
        ids = SampleIds(self.ids.epoch[rows], self.ids.index[rows], self.ids.position)
        data = {name: given.select(rows) for name, given in self.data.items()}
        return dataclasses.replace(self, ids=ids, refs=refs, data=data)

    def masking(self, positions: np.ndarray) -> BatchTask:
        """Returns a copy of the task whose mask is also False at `positions`."""
        mask = self.mask.copy()
        mask[positions] = False
        return dataclasses.replace(self, mask=mask)

    def keeping(self, rows: np.ndarray) -> BatchTask:
        """Returns the task of a smaller batch: only the samples in these positions."""
        ids = SampleIds(self.ids.epoch[rows], self.ids.index[rows], np.arange(len(rows)))
        refs = {name: own.select(rows) for name, own in self.refs.items()}
        data = {name: given.select(rows) for name, given in self.data.items()}
        return dataclasses.replace(self, ids=ids, mask=self.mask[rows], refs=refs, data=data)


def _identified(refs: Mapping[str, SampleRefs]) -> SampleIds:
    first = next(iter(refs.values()))
    return SampleIds(first.epochs, first.identified, counting(len(first.indices)))
