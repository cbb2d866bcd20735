"""Prefetches samples of remote data sets, to hide the latency of the network."""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import threading
from collections.abc import Iterable
from concurrent.futures import CancelledError, Future
from typing import Any

import numpy as np

from jdali._errors import SampleError
from jdali._storage import Scope
from jdali.readers.base import Loaded, Reader, joined, nothing, one_by_one, with_layouts
from jdali.readers.order.epochs import SampleRefs
from jdali.storage import options

_Sample = tuple[np.ndarray, ...]


def reading_ahead(reader: Reader) -> Reader:
    """Wraps a reader of remote samples in `ReadAhead`, unless it prefetches by itself."""
    return ReadAhead(reader) if reader.remote and not reader.parts.reads_ahead else reader


@dataclasses.dataclass(eq=False)
class _Loading:
    """A sample that is loaded ahead.

    Attributes:
        wanted_by: positions in the reading order at which batches will take the sample.
        future: resolves to the sample's outputs.
        bytes: size of the outputs; -1 until they are loaded.
        kept: False after the sample was taken or dropped.
    """

    wanted_by: collections.deque[int]
    future: Future[_Sample] = dataclasses.field(default_factory=Future)
    bytes: int = -1
    kept: bool = True


class ReadAhead(Reader):
    """Loads the next samples of a reader in threads, before their batches take them.

    If the reader packs several parts into a sample, `ReadAhead` loads these parts. Loads start in the order of the
    samples. A loaded sample is kept until its batch takes it. If the batch does not take it, the sample is dropped two
    batches later.
    """

    def __init__(self, reader: Reader):
        self._reader, self._parts = reader, reader.parts
        self._order, self.count, self.selection = reader._order, reader.count, reader.selection
        self.num_outputs, self.class_names = reader.num_outputs, reader.class_names
        settings = options()
        self._requests, self._samples_ahead = settings.requests, settings.samples_ahead
        self._bytes_ahead = settings.bytes_ahead
        self._scope = Scope(settings.requests)
        self._begin_anew()
        self._scope.serves(self, self._begin_anew)

    def _begin_anew(self) -> None:
        self._lock = threading.Lock()
        # Number of samples handed out.
        self._position = 0
        # For each of the last three batches: the position at its end, and the indices of its samples.
        self._handed_out: collections.deque[tuple[int, list[int]]] = collections.deque(maxlen=3)
        # A copy of the reader's order that runs ahead of the reader.
        self._further = self._order.cursor()
        # `_foreseen`: indices of the next samples. `_waiting`: (position, index) of those whose load has not started.
        self._foreseen: collections.deque[int] = collections.deque()
        self._waiting: collections.deque[tuple[int, int]] = collections.deque()
        self._loadings: dict[int, _Loading] = {}
        # `_open`: number of samples being loaded. `_held`: bytes of loaded samples that no batch has taken. `_done` and `_seen`:
        # number and bytes of all samples loaded so far.
        self._open = self._held = self._done = self._seen = 0

    def meta(self) -> dict[str, Any]:
        return self._reader.meta()

    def source(self, index: int) -> str:
        return self._reader.source(index)

    def interrupt(self) -> None:
        self._scope.end()
        self._reader.interrupt()

    def close(self) -> None:
        self._scope.close()
        self._reader.close()

    def take(self, count: int) -> SampleRefs:
        batch = super().take(count)
        indices = self._indices_of(batch)
        with self._lock:
            if list(itertools.islice(self._foreseen, len(indices))) != indices:
                self._forget_foreseen()
                self._foresee(indices)
            for _ in indices:
                self._foreseen.popleft()
            self._position += len(indices)
            # Starts the remaining loads of this batch, even beyond the limits.
            while self._waiting and self._waiting[0][0] < self._position:
                self._begin(*self._waiting.popleft())
            self._handed_out.append((self._position, indices))
            if len(self._handed_out) == self._handed_out.maxlen:
                end, taken = self._handed_out[0]
                self._drop(taken, 0, end)
            ahead = self._samples_ahead or max(
                (1 + self._reader.batches_ahead) * len(indices), self._requests
            )
            while len(self._foreseen) < ahead:
                self._foresee(self._indices_of(self._further.take(count)))
            self._begin_more()
        return batch

    def _indices_of(self, batch: SampleRefs) -> list[int]:
        indices: list[int] = self._reader.parts_of(batch.wanted).tolist()
        return indices

    def load(self, index: int) -> _Sample:
        if self._parts is not self._reader:
            return self._reader.load(index)
        return self._load_part(index)

    def _load_part(self, index: int) -> _Sample:
        with self._lock:
            loading = self._loadings.get(index)
            if loading is not None:
                loading.wanted_by.popleft()
                if not loading.wanted_by:
                    self._let_go(index)
                self._begin_more()
        if loading is None:
            with self._scope:
                return self._parts.load(index)
        try:
            return loading.future.result()
        except CancelledError:
            raise self._closed_at(index) from None

    def load_many(self, indices: np.ndarray, **arguments: np.ndarray) -> Loaded:
        if not arguments:
            return self._reader.packed(indices, self._load_parts)
        # The values of per-sample arguments are known only now, so no sample was loaded ahead. Loads all in parallel.
        columns, failures = [], {}
        parts = [
            self._scope.submit(
                functools.partial(
                    self._reader.load_many,
                    indices[i : i + 1],
                    **{name: values[i : i + 1] for name, values in arguments.items()},
                )
            )
            for i in range(len(indices))
        ]
        for i, part in enumerate(parts):
            try:
                loaded = part.result()
            except CancelledError:
                loaded = Loaded((nothing(),) * self.num_outputs, {0: self._closed_at(indices.item(i))})
            columns.append(loaded.columns)
            if loaded.failures:
                failures[i] = loaded.failures[0]
        return Loaded(joined(columns), failures)

    def _load_parts(self, indices: np.ndarray) -> Loaded:
        # Sets the layouts, which the arrays from `load` lack.
        return with_layouts(
            one_by_one(self._load_part, indices, self._parts.num_outputs), self._parts.layouts
        )

    def _closed_at(self, index: int) -> SampleError:
        return SampleError(f"{self.source(index)}: the reader was closed")

    def _load(self, index: int, loading: _Loading) -> _Sample:
        size = 0
        try:
            sample = self._parts.load(index)
            size = sum(output.nbytes for output in sample)
            return sample
        finally:
            with self._lock:
                loading.bytes = size
                self._done, self._seen = self._done + 1, self._seen + size
                if loading.kept:
                    self._open, self._held = self._open - 1, self._held + size
                    self._begin_more()

    def _begin_more(self) -> None:
        while self._waiting and self._has_room():
            self._begin(*self._waiting.popleft())

    def _has_room(self) -> bool:
        if not self._done:  # sample sizes are still unknown
            return self._open < self._requests
        mean = self._seen / self._done
        return self._held + mean * (self._open + 1) <= self._bytes_ahead

    def _foresee(self, indices: list[int]) -> None:
        self._waiting.extend(enumerate(indices, self._position + len(self._foreseen)))
        self._foreseen.extend(indices)

    def _begin(self, position: int, index: int) -> None:
        if index in self._loadings:
            self._loadings[index].wanted_by.append(position)
            return
        loading = self._loadings[index] = _Loading(collections.deque([position]))
        self._open += 1
        loading.future = self._scope.submit(self._load, index, loading)

    def _let_go(self, index: int) -> None:
        loading = self._loadings.pop(index)
        loading.kept = False
        if loading.bytes < 0:
            self._open -= 1
        else:
            self._held -= loading.bytes

    def _drop(self, indices: Iterable[int], start: int, stop: int) -> None:
        """Drops samples that were to be taken at positions from `start` to `stop` - 1."""
        for index in indices:
            if (loading := self._loadings.get(index)) is None:
                continue
            loading.wanted_by = collections.deque(at for at in loading.wanted_by if not start <= at < stop)
            if not loading.wanted_by:
                self._let_go(index)
                loading.future.cancel()

    def _forget_foreseen(self) -> None:
        """Drops all samples loaded ahead, after a new state or batch size was set."""
        self._waiting.clear()
        self._drop(self._foreseen, self._position, self._position + len(self._foreseen))
        self._foreseen.clear()
        self._further = self._order.cursor()
