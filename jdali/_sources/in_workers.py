"""Finds the parts of a graph that run in worker processes, and starts these."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any

from jdali._workers import MadeTask
from jdali._workers.callbacks import CallbackWorkers
from jdali.graph import Node

# Parts that the samples of a batch are cut into, for each worker: some samples take longer than others.
_PARTS = 4


class InWorkers(abc.ABC):
    """The `runtime` of a node whose user code runs in the workers of its pipeline."""

    _workers: CallbackWorkers | None = None
    _number = -1

    @abc.abstractmethod
    def remote(self) -> Any:
        """The object whose methods the workers call, see `CallbackWorkers`."""

    @abc.abstractmethod
    def in_process(self) -> Any:
        """The `runtime` that does the same in this process."""

    def attach(self, workers: CallbackWorkers, number: int) -> None:
        """Says which workers serve it, and its number among their objects."""
        self._workers, self._number = workers, number

    def _call(self, method: str, *arguments: object, **room: int) -> Future[MadeTask]:
        """Calls a method of what `remote` gave; `room` is `samples` and `bytes_per_sample` of `CallbackWorkers.submit`."""
        assert self._workers is not None
        return self._workers.submit(self._number, method, *arguments, **room)

    def _parts(self, count: int) -> list[range]:
        """The samples of a batch in parts for the workers."""
        assert self._workers is not None
        step = max(1, -(-count // (_PARTS * self._workers.size)))
        return [range(i, min(i + step, count)) for i in range(0, count, step)]


def start_workers(
    nodes: Iterable[Node],
    *,
    workers: int,
    start_method: str | None,
    pickler: object,
    timeout: float | None,
    seed: int,
) -> CallbackWorkers | None:
    """Starts the processes for the nodes of a graph that want them; None: there is none.

    Args:
        nodes: of the graph.
        workers, start_method, pickler, timeout, seed: see `CallbackWorkers`.
    """
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
