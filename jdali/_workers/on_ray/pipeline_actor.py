"""Actor of Ray that makes tasks, in a process of its own for each pipeline that it works for.

A task that crashes ends that process and not the actor, so the death has a signal and an exit code, no other task is
blamed, and tasks of other pipelines go on.
"""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import os
import socket
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import ray

import jdali
from jdali._workers.memory import Memory
from jdali._workers.node import NODE
from jdali._workers.on_ray.actor_messages import ActorAnswer, ActorPlace, ActorStart, ActorTask, Bytes
from jdali._workers.on_ray.node_memory import shared_on_node
from jdali._workers.task_pool.jobs import MadeTask, PackedMemory, PackedResult, TaskKilledError
from jdali._workers.task_pool.pool import TaskPool
from jdali._workers.task_pool.wire import PackedValue

# A client that was killed does not say so. One that comes back later finds its pipeline started again.
_IDLE_SECONDS = 600.0


class ActorClient:
    """A pipeline that an actor works for.

    Args:
        name: of the client.
        start: its definition. The actors of a node share its arrays: names, indexes, tables.
        node: of the actor, for messages.

    Attributes:
        pool: of one process.
        tasks: that are under way.
        used: when the last one began or ended.
    """

    def __init__(self, name: str, start: ActorStart, node: str):
        self._shared = shared_on_node(name, lambda: _filled(start)) if start.start.size else None
        content = PackedMemory(start.start, None if self._shared is None else self._shared.memory)
        environment = {"JAX_PLATFORMS": "cpu", NODE: node}
        self.pool = TaskPool(1, content, environment=environment, keeps_packed=True)
        self.tasks, self.used = 0, time.monotonic()

    @property
    def is_idle(self) -> bool:
        return not self.tasks and time.monotonic() - self.used > _IDLE_SECONDS

    def submit(self, task: ActorTask) -> Future[MadeTask]:
        """Has a task made by the process."""
        content = packed_memory(task.packed, task.arrays)
        return self.pool.submit(content, task.order, patience=task.patience)

    async def close(self) -> None:
        if self._shared is not None:
            self._shared.close()
        await asyncio.to_thread(self.pool.close)


class PipelineActor:
    """Makes tasks of any number of clients; the class of the actors."""

    def __init__(self) -> None:
        self._node_id: str = ray.get_runtime_context().get_node_id()
        address = ray.util.get_node_ip_address()
        self._node = f"{socket.gethostname()} ({address}, {self._node_id[:8]})"
        self._clients: dict[str, ActorClient] = {}
        self._starting = asyncio.Lock()

    async def join(self, name: str, start: Sequence[ray.ObjectRef[ActorStart]]) -> ActorPlace:
        """Starts the process of a client, and does not wait for it.

        Args:
            name: of the client.
            start: one reference, which is not resolved unless it is needed.
        """
        try:
            await self._client(name, start)
        except VersionError as error:
            return ActorPlace(self._node, self._node_id, os.getpid(), error)
        return ActorPlace(self._node, self._node_id, os.getpid())

    async def make(self, name: str, tasks: Sequence[ActorTask]) -> tuple[ActorAnswer, ...]:
        """Makes tasks of a client that has joined."""
        client = self._clients.get(name)
        if client is None:
            return tuple(ActorAnswer(is_unknown=True) for _ in tasks)
        client.tasks += len(tasks)
        try:
            made = [client.submit(task) for task in tasks]
            await all_done(made)
            return tuple([await self._answer(name, client, future) for future in made])
        finally:
            client.tasks -= len(tasks)
            client.used = time.monotonic()

    async def leave(self, name: str) -> None:
        """Ends the process of a client."""
        client = self._clients.pop(name, None)
        if client is not None:
            await client.close()

    async def _client(self, name: str, start: Sequence[ray.ObjectRef[ActorStart]]) -> ActorClient:
        async with self._starting:
            for other in [other for other, client in self._clients.items() if client.is_idle]:
                await self.leave(other)
            if name not in self._clients:
                definition: ActorStart = await start[0]
                if definition.version != jdali.__version__:
                    raise VersionError(
                        f"jdali is {jdali.__version__} there, and {definition.version} where the pipeline is: install the same"
                    )
                self._clients[name] = await asyncio.to_thread(ActorClient, name, definition, self._node)
            return self._clients[name]

    async def _answer(self, name: str, client: ActorClient, future: Future[MadeTask]) -> ActorAnswer:
        """The answer to a task that is done."""
        try:
            made = future.result()
        except TaskKilledError as error:
            killed = tuple(dataclasses.replace(death, node=self._node) for death in error.deaths)
            return ActorAnswer(killed=killed, deaths=client.pool.counts().deaths)
        except Exception as error:
            # The process cannot be started, which may be better the next time, or the client has left.
            if self._clients.get(name) is client:
                await self.leave(name)
            return ActorAnswer(error=error)
        result: PackedResult = made.result
        memory = None if result.memory is None else result.memory[: result.packed.size]
        return ActorAnswer(
            result.packed,
            memory,
            result.is_error,
            seconds=made.seconds,
            cpu=made.cpu,
            deaths=client.pool.counts().deaths,
        )


async def all_done(futures: Sequence[Future[MadeTask]]) -> None:
    """Waits for all of them; the loop is woken once, as waking it costs more than what it does then."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    left = itertools.count(len(futures) - 1, -1)

    def finish() -> None:
        if not done.done():  # the call was cancelled
            done.set_result(None)

    def note(_: Future[MadeTask]) -> None:
        if next(left) == 0:
            loop.call_soon_threadsafe(finish)

    for future in futures:
        future.add_done_callback(note)
    await done


class VersionError(RuntimeError):
    """The node has another version of jdali."""


def packed_memory(packed: PackedValue, arrays: Sequence[Bytes]) -> PackedMemory:
    """A packed value for a `TaskPool`."""
    return PackedMemory.of(packed, [memoryview(array) for array in arrays])  # type: ignore[arg-type]


def _filled(start: ActorStart) -> Memory:
    """Copies the arrays of a definition out of the object store, from which a process cannot map them."""
    memory: Any = start.memory
    arrays = [memory[offset : offset + size] for offset, size in start.start.spans]
    filled = packed_memory(start.start, arrays).memory
    assert filled is not None
    return filled
