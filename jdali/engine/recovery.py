"""Finds the samples that fail, and makes the task of the next attempt at their batch.

```
 a step fails ──▶ blame: samples that made it fail, by their provenance ──▶ StandIns: the task of another attempt
```
A stand-in is a sample that replaces a failed sample. It depends only on the epoch and index of the failed sample and
the number of the attempt, so no batch depends on another batch.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from jdali._batches import Drawn, Provenance
from jdali._errors import OperatorError, SkippedSample
from jdali.engine.failure import NodeFailure
from jdali.engine.task import BatchTask, SampleIds
from jdali.readers.order.epochs import SampleRefs


@dataclasses.dataclass
class Blamed:
    """Describes a sample on which an operator failed."""

    error: Exception
    sources: list[str] = dataclasses.field(default_factory=list)
    files: list[str] = dataclasses.field(default_factory=list)

    def add_origin(self, drawn: Drawn, position: int) -> None:
        if drawn.source is not None and drawn.source not in self.sources:
            self.sources.append(drawn.source)
        name = drawn.name(int(drawn.index[position]))
        if name and name not in self.files:
            self.files.append(name)


@dataclasses.dataclass(frozen=True, eq=False)
class AttemptFailure:
    """Describes the failure of an operator that ended an attempt at a batch."""

    operator: str
    cause: Exception
    # Returns a new error, to be raised from `cause`. A stored error would form a reference cycle with its traceback.
    user_error: Callable[[], OperatorError]
    blamed: Mapping[int, Blamed]  # failed samples by position; empty if no sample caused the failure
    node: str = ""  # name of the node that failed; "" if it is unknown


def blame(failure: NodeFailure, part: SampleIds, made_of: Provenance | None) -> dict[int, Blamed]:
    """Returns the samples that made an operator fail, by their position in the task.

    If a failed output combines several samples, all of them are blamed, except samples that are also in a good output.
    """

    def origins(i: int) -> list[tuple[Drawn | None, int]]:
        known = [] if made_of is None else made_of.origins(i)
        return [*known] or [(None, int(part.position[i]))]

    rows = {i: origins(i) for i in failure.failures if i is not None}
    good: set[int] = set()
    if any(len({position for _, position in found}) > 1 for found in rows.values()):
        good = {position for i in range(len(part)) if i not in rows for _, position in origins(i)}
    blamed: dict[int, Blamed] = {}
    for i, found in rows.items():
        for drawn, position in [origin for origin in found if origin[1] not in good] or found:
            mine = blamed.setdefault(position, Blamed(failure.failures[i]))
            if drawn is not None:
                mine.add_origin(drawn, position)
    return blamed


def to_be_listed(task: BatchTask, operator: str, blamed: Mapping[int, Blamed]) -> list[SkippedSample]:
    """Returns the entries of `Pipeline.errors` for samples that an operator could not work on."""
    found = []
    for position, why in blamed.items():
        refs = [task.refs[name] for name in why.sources if name in task.refs]
        epochs, indices, padded, *_ = refs[0] if refs else (task.ids.epoch, task.ids.index, ~task.mask)
        if padded[position] or not task.mask[position]:
            continue  # a repetition or a stand-in of a sample that is listed
        epoch, index = int(epochs[position]), int(indices[position])
        found.append(SkippedSample(", ".join(why.files), epoch, index, operator, str(why.error)))
    return found


class MainFailure(NamedTuple):
    """The node that failed on most of the samples that were tried."""

    node: str
    failed: int  # number of samples that it failed on
    tried: int  # number of samples that were tried; all failed, in this node or in others


# Maximum number of stand-ins that are tried for one position of a batch.
MOST_TRIED = 1024


class StandIns:
    """Makes the task for each retry of a batch: stand-ins replace the samples that failed.

    A stand-in is another sample that the reader reads in the same epoch; it also appears at its usual place. It depends
    only on (epoch, index, attempt), not on other batches. An external source cannot read another sample. So in a
    pipeline with an external source, the first good sample of the batch replaces every failed sample, in all sources.
    `chosen` has, for each reader that reads only a part of its data set, the indices that it reads, in any order.
    """

    def __init__(
        self, task: BatchTask, sizes: Mapping[str, int], chosen: Mapping[str, np.ndarray] | None = None
    ):
        self._chosen = {name: np.sort(own) for name, own in (chosen or {}).items()}
        self._task, self._sizes = task, dict(sizes) | {name: len(own) for name, own in self._chosen.items()}
        self._tried = np.zeros(len(task), np.int64)  # number of samples tried, by position
        self._failed: dict[str, np.ndarray] = {}  # by node: number of samples it failed on, by position
        self._copied: dict[int, int] = {}  # the good position that each bad position repeats

    def replace(self, bad: Iterable[int], node: str = "") -> BatchTask:
        """Returns the task with stand-ins at the positions that failed; the mask is False at these positions.

        In a pipeline with an external source or without readers, the task is empty if all samples of the batch failed.
        Raises LookupError if too many stand-ins failed.
        """
        origins = list({self._copied.get(position, position) for position in bad})
        self._tried[origins] += 1
        self._failed.setdefault(node, np.zeros_like(self._tried))[origins] += 1
        replaced = np.flatnonzero(self._tried)
        if self._repeats:
            return self._repeating(replaced)
        sizes = {name: self._sizes[name] for name in self._task.refs}
        if self._tried.max() >= min(max(sizes.values()), MOST_TRIED):
            raise LookupError
        refs = {name: self._shifted(name, refs) for name, refs in self._task.refs.items()}
        return self._task.reading(refs).masking(replaced)

    def main_failure(self) -> MainFailure:
        """Returns the node that failed most at the position where most samples were tried.

        If samples of the batch replace those that failed, each position was tried once, and all positions count.
        """
        place = slice(None) if self._repeats else int(self._tried.argmax())
        counts = {node: int(np.sum(failed[place])) for node, failed in self._failed.items()}
        # Of two that failed equally often, takes the one that failed later: fewer samples reached it.
        node = max(reversed(counts), key=counts.__getitem__)
        return MainFailure(node, counts[node], sum(counts.values()))

    @property
    def _repeats(self) -> bool:
        """True if a sample of the batch replaces those that failed, because no source can read another sample."""
        return bool(self._task.data) or not self._task.refs

    def _repeating(self, bad: np.ndarray) -> BatchTask:
        good = np.flatnonzero(self._tried == 0)
        if not len(good):
            return self._task.keeping(good)
        self._copied = dict.fromkeys(bad.tolist(), int(good[0]))
        return self._task.repeating(int(good[0]), bad).masking(bad)

    def _shifted(self, name: str, refs: SampleRefs) -> SampleRefs:
        # Try the next sample, then samples far apart. Bad samples are often neighbours, and each attempt costs a batch.
        size, chosen = self._sizes[name], self._chosen.get(name)
        stride, own = _stride(size)
        steps = self._tried - 1
        steps += steps >= own
        places = refs.indices if chosen is None else np.searchsorted(chosen, refs.indices)
        others = (places + 1 + steps * stride) % size
        indices = np.where(self._tried, others if chosen is None else chosen[others], refs.indices)
        return refs.reading(indices)


@functools.lru_cache
def _stride(size: int) -> tuple[int, int]:
    """Returns a stride that visits all samples, and how many strides lead from sample i + 1 to sample i."""
    stride = max(round(0.618 * size), 1)
    while math.gcd(stride, size) > 1:
        stride += 1
    return stride, -pow(stride, -1, size) % size
