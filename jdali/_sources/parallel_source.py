"""Runs the callback of an external source in worker processes, some batches ahead."""

from __future__ import annotations

import abc
import collections
import functools
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeAlias

from jdali._sources.external_source import SourceFeed
from jdali._sources.items import SourceItems, has_state, is_callback
from jdali._sources.user_batches import Samples, host_sample, in_host_memory
from jdali._workers import MadeTask
from jdali._workers.callbacks import CallbackWorkers
from jdali.graph import Node

# Number of parts of a batch for each worker. Some samples take longer than others, so several parts balance the load.
_PARTS = 4


class InWorkers(abc.ABC):
    """Base class for the `runtime` of a node that runs user code in worker processes."""

    _workers: CallbackWorkers | None = None
    _number = -1

    @abc.abstractmethod
    def remote(self) -> Any:
        """Returns the object whose methods the workers call, see `CallbackWorkers`."""

    @abc.abstractmethod
    def in_process(self) -> Any:
        """Returns an equivalent `runtime` that runs the user code in this process."""

    def attach(self, workers: CallbackWorkers, number: int) -> None:
        """Sets the workers, and the number by which they know the remote object."""
        self._workers, self._number = workers, number

    def _call(self, method: str, *arguments: object, **room: int) -> Future[MadeTask]:
        """Calls a method of the remote object; `room` is passed to `CallbackWorkers.submit`."""
        assert self._workers is not None
        return self._workers.submit(self._number, method, *arguments, **room)

    def _parts(self, count: int) -> list[range]:
        assert self._workers is not None
        step = max(1, -(-count // (_PARTS * self._workers.size)))
        return [range(i, min(i + step, count)) for i in range(0, count, step)]


def start_workers(
    nodes: Iterable[Node], *, workers: int, start_method: str | None, pickler: object, timeout: float | None,
    seed: int,
) -> CallbackWorkers | None:  # fmt: skip
    """Starts the processes for the nodes of a graph that need them; returns None if no node does."""
    served = [node.runtime for node in nodes if isinstance(node.runtime, InWorkers)]
    if not served:
        return None
    remote = [one.remote() for one in served]
    pool = CallbackWorkers(
        remote, workers=workers, start_method=start_method, pickler=pickler, timeout=timeout, seed=seed
    )
    for number, one in enumerate(served):
        one.attach(pool, number)
    return pool


_Request: TypeAlias = tuple[int, int, int, int]  # arguments of `SourceFeed.next`


class RemoteSource:
    """Runs a source in a worker process; `alone` if it makes batches only in order, so that one worker makes them all."""

    def __init__(self, source: Any, options: Mapping[str, Any], alone: bool):
        self.callback, self._options, self.alone = source, dict(options), alone

    @functools.cached_property
    def _local(self) -> SourceFeed:
        return SourceFeed(self.callback, held=True, **self._options)

    def next_batch(self, *request: int) -> tuple[list[Any], list[str], dict[str, Any]]:
        """Returns the samples of a batch for each output, their layouts, and the state after them."""
        source = self._local
        outputs = [in_host_memory(samples) for samples in source.next(*request)]
        return outputs, source.drawn_layouts, source.get_state()

    def rows(self, numbers: range, *request: int) -> list[Any]:
        rows = self._local.rows(numbers, *request)
        return [[*map(host_sample, row)] if isinstance(row, list) else host_sample(row) for row in rows]

    def moved(self, method: str, *arguments: Any) -> dict[str, Any]:
        """Calls a method that changes the position of the source, and returns the new state."""
        getattr(self._local, method)(*arguments)
        return self._local.get_state()


class _Ahead(NamedTuple):
    """Represents a batch that workers make ahead, in parts."""

    wanted: tuple[int, ...]
    size: int  # maximum number of samples
    parts: list[Future[MadeTask]]


class ParallelSource(SourceFeed, InWorkers):
    """Implements an external source with `parallel=True`.

    Args:
        source: an iterable, a generator function, or a callback that takes the index of the batch or sample.
        prefetch_queue_depth: number of batches that workers make ahead, 1 or more.

    Raises:
        TypeError: the source cannot run in another process.
    """

    def __init__(
        self, source: Any, *, prefetch_queue_depth: int | None = None, bytes_per_sample: int = 0, **options: Any
    ):  # fmt: skip
        super().__init__(source, **options)
        self._options, self._bytes_per_sample = options, bytes_per_sample
        self._depth = 1 if prefetch_queue_depth is None else int(prefetch_queue_depth)
        if self.is_fed:
            raise TypeError(f"{self.title}: parallel=True needs a source; this one is fed with feed_input")
        if is_callback(source) and not self._takes_index:
            raise TypeError(
                f"{self.title}: Callable passed to External Source in parallel mode (when `parallel=True`) must accept "
                "exactly one argument: `jdali.types.SampleInfo` if run with `batch=False` or either "
                "`jdali.types.BatchInfo` or integer that represents the index of the batch within the epoch if run "
                "with `batch=True`. Got a callable that does not accept arguments instead."
            )
        if self._takes_index and has_state(source):
            raise TypeError(
                f"{self.title}: a callback with get_state and set_state cannot be parallel: there would be one in "
                "each worker"
            )
        self._ahead: collections.deque[_Ahead] = collections.deque()
        self._state: dict[str, Any] = {} if self._takes_index else {"taken": 0}

    @property
    def calls_user(self) -> bool:
        """False, because the user's functions run in workers."""
        return False

    def remote(self) -> RemoteSource:
        return RemoteSource(self.source, self._options, not self._takes_index)

    def in_process(self) -> SourceFeed:
        return SourceFeed(self.source, **self._options)

    def anew(self) -> ParallelSource:
        return ParallelSource(
            self.source, prefetch_queue_depth=self._depth, bytes_per_sample=self._bytes_per_sample,
            **self._options,
        )  # fmt: skip

    def next(self, batch_size: int, iteration: int, epoch: int, first: int) -> list[Samples]:
        """Returns a batch as `SourceFeed.next` does; lets workers make the following batches meanwhile."""
        request = (batch_size, iteration, epoch, first)
        if self._ahead and self._ahead[0].wanted != self._wanted(request):
            self._ahead.clear()
        while len(self._ahead) <= self._depth:
            k = len(self._ahead)
            self._ahead.append(self._ask((batch_size, iteration + k, epoch, first + k * batch_size)))
        try:
            batch = self._received(self._ahead.popleft())
        except StopIteration:
            if self.cycle == "raise":
                self.restart()
            self._ahead.clear()
            raise
        self.drawn_layouts = batch.layouts
        return batch.outputs

    def _wanted(self, request: _Request) -> tuple[int, ...]:
        """Returns the part of a request on which the contents of the batch depend.

        For a source of whole batches, this part excludes the number of the first sample, which the source does not get.
        The number would differ if an earlier batch was smaller than expected.
        """
        return () if not self._takes_index else request[:-1] if self.batch else request

    def _ask(self, request: _Request) -> _Ahead:
        call = functools.partial(self._call, bytes_per_sample=self._bytes_per_sample)
        size, *rest = request
        if self.batch or not self._takes_index:
            parts = [call("next_batch", *request, samples=size)]
        else:
            parts = [call("rows", part, *rest, samples=len(part)) for part in self._parts(size)]
        return _Ahead(self._wanted(request), size, parts)

    def _received(self, ahead: _Ahead) -> Any:
        size = ahead.size
        if self.batch or not self._takes_index:
            outputs, layouts, self._state = _answers(ahead.parts)[0]
            return self._batch(outputs, layouts, size, copy=False)
        rows = [row for part in _answers(ahead.parts) for row in part]
        return self._batch(self._outputs(self._columns(rows)), self.layouts, size, copy=False)

    def restart(self) -> None:
        self._ahead.clear()
        self._move("restart")

    def _move(self, *request: Any) -> None:
        self._state = self._call("moved", *request).result().result

    def get_state(self) -> dict[str, Any]:
        return self._state

    def set_state(self, state: dict[str, Any]) -> None:
        self._ahead.clear()
        if not self._takes_index:
            self._move("set_state", state)

    def leave_epoch(self, state: dict[str, Any], batches: int | None, batch_size: int) -> None:
        self._ahead.clear()
        if not self._takes_index:
            self._move("leave_epoch", state, batches, batch_size)

    def twin(self) -> SourceFeed:
        """Returns a twin as `SourceFeed.twin` does. The twin calls the source in this process."""
        twin = SourceFeed(self.source, **self._options)
        twin._turn = self._turn
        if not self._takes_index:
            twin._items = SourceItems(self.source, self.cycle).twin()  # raises before it takes any items
            twin._items.set_state(self._state)
        return twin


def _answers(parts: list[Future[MadeTask]]) -> list[Any]:
    """Returns the results of workers. Drops the futures, because their exceptions would form cycles with this frame."""
    parts.reverse()
    answers = []
    try:
        while parts:
            answers.append(parts.pop().result().result)
    finally:
        parts.clear()
    return answers
