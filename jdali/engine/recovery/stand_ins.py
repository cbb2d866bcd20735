"""Stand-ins: the samples that take the positions of those that fail."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping

import numpy as np

from jdali.engine.task import BatchTask
from jdali.readers.order.epochs import SampleRefs

# At most this many samples are tried in a position; all, if the data set has no more.
MOST_TRIED = 1024


class StandIns:
    """Gives the tasks that a batch is made of, attempt by attempt.

    A reader's sample is replaced by a function of (epoch, index, attempt) alone: another sample of the same epoch, which
    comes where it belongs as well. So no batch depends on another. An external source has given all that there is for
    a batch: there a good sample of the batch stands in, with what readers gave beside it.

    Args:
        task: as it was drawn.
        sizes: of the readers' data sets, by name.
        chosen: by name of readers that read some of their samples only: which, ascending.
    """

    def __init__(
        self, task: BatchTask, sizes: Mapping[str, int], chosen: Mapping[str, np.ndarray] | None = None
    ):
        self._chosen = dict(chosen or {})
        self._task, self._sizes = task, dict(sizes) | {name: len(own) for name, own in self._chosen.items()}
        self._tried = np.zeros(len(task), np.int64)  # stand-ins, by position
        self._copied: dict[int, int] = {}  # of one position to another

    def replace(self, bad: Iterable[int]) -> BatchTask:
        """Returns the task with other samples in the positions that failed, where its mask is False.

        It is empty if an external source gave nothing else.

        Raises:
            LookupError: no sample can be made.
        """
        origins = {self._copied.get(position, position) for position in bad}
        self._tried[list(origins)] += 1
        replaced = np.flatnonzero(self._tried)
        if self._task.data or not self._task.refs:
            return self._repeating(replaced)
        sizes = {name: self._sizes[name] for name in self._task.refs}
        if self._tried.max() >= min(max(sizes.values()), MOST_TRIED):
            raise LookupError
        refs = {name: self._shifted(name, refs) for name, refs in self._task.refs.items()}
        return self._task.reading(refs).masking(replaced)

    def _repeating(self, bad: np.ndarray) -> BatchTask:
        good = np.flatnonzero(self._tried == 0)
        if not len(good):
            return self._task.keeping(good)
        self._copied = dict.fromkeys(bad.tolist(), int(good[0]))
        return self._task.repeating(int(good[0]), bad).masking(bad)

    def _shifted(self, name: str, refs: SampleRefs) -> SampleRefs:
        # The next sample, then samples from all over the data set: damage is often local, and each attempt makes a batch.
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
    """Returns a stride that goes through all samples, and after how many steps it would come to the bad one itself."""
    stride = max(round(0.618 * size), 1)
    while math.gcd(stride, size) > 1:
        stride += 1
    return stride, -pow(stride, -1, size) % size
