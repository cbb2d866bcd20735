"""Runs tasks in an actor of Ray, which has a process for each pipeline that it works for.

A task that crashes ends only the process of its pipeline, not the actor. So the signal or exit code is known, no other
task is blamed, and other pipelines continue.
"""

from __future__ import annotations

import asyncio
import dataclasses
import mmap
import os
import socket
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import ray

import jdali
from jdali._workers.jobs import MadeTask, PackedMemory, PackedResult, TaskKilledError, WorkerDeath
from jdali._workers.memory import Memory
from jdali._workers.on_ray.node_memory import shared_on_node
from jdali._workers.pool import TaskPool
from jdali._workers.process import FreshProcesses
from jdali._workers.serve import NODE
from jdali._workers.wire import PackedValue

Bytes: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"


@dataclasses.dataclass(frozen=True, eq=False)
class ActorStart:
    """Holds the definition of a pipeline, in the object store."""

    version: str
    start: PackedValue
    memory: Bytes


class ActorCall(NamedTuple):
    """Groups tasks of one client for one call of an actor."""

    packed: PackedValue  # a `TaskGroup` without its arrays
    arrays: tuple[Bytes, ...]  # the arrays of the group, and before them the log of its tasks, if it has one
    order: int  # order of the first task; the client's call with the lowest order goes first
    has_log: bool


@dataclasses.dataclass(frozen=True)
class ActorPlace:
    """Describes where an actor runs. If `error` is set, the pipeline could not start, and the actor runs no tasks."""

    node: str
    node_id: str
    pid: int
    error: Exception | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class ActorAnswer:
    """Holds the results of a call's tasks, or the reason why there are none."""

    # A `TaskOutcome` for each task, or one exception for all (`is_error`); None if there are no results.
    packed: PackedValue | None = None
    memory: Bytes | None = None
    is_error: bool = False
    is_unknown: bool = False  # the client has not joined, or was idle for so long that it must join again
    # Death of the process during this call; None if it did not die, or died during another call.
    death: WorkerDeath | None = None
    position: int = 0  # position of the task that was running when the process died
    error: Exception | None = None  # reason why the actor cannot run tasks of this client
    deaths: int = 0  # number of the client's processes that have died in this actor


# A killed client cannot leave, so the process of an idle client ends after this time. The client must then join again.
_IDLE_SECONDS = 600.0


class ActorClient:
    """A pipeline that an actor works for, with a pool of one process.

    The actors of a node share the arrays of the pipeline's definition, such as names, indexes and tables.
    """

    def __init__(self, name: str, start: ActorStart, node: str):
        self._shared = shared_on_node(name, lambda: _filled(start)) if start.start.size else None
        content = PackedMemory(start.start, None if self._shared is None else self._shared.memory)
        environment = {"JAX_PLATFORMS": "cpu", NODE: node}
        self.pool = TaskPool(1, FreshProcesses(content, environment), keeps_packed=True)
        self.calls, self.used = 0, time.monotonic()

    @property
    def is_idle(self) -> bool:
        return not self.calls and time.monotonic() - self.used > _IDLE_SECONDS

    async def make(self, call: ActorCall) -> MadeTask:
        """Runs the tasks of a call in the process; raises CallKilledError if the process dies."""
        content = packed_memory(call.packed, call.arrays)
        # The process writes the log to shared memory, where it can be read after the process has died.
        log = content.memory.map() if call.has_log and content.memory is not None else None
        # Do not try again here: a new process would first compile, but processes of other actors have already compiled.
        future = self.pool.submit(content, call.order, patience=0)
        try:
            return await asyncio.shield(
                asyncio.wrap_future(future)
            )  # if the call is cancelled, its tasks still finish
        except TaskKilledError as error:
            death = error.deaths[-1] if error.deaths else None
            position = 0 if log is None else running(log, call.packed)
            raise CallKilledError(death, position) from None

    async def close(self) -> None:
        if self._shared is not None:
            self._shared.close()
        await asyncio.to_thread(self.pool.close)


class PipelineActor:
    """Runs the tasks of any number of clients, as an actor of Ray."""

    def __init__(self) -> None:
        self._node_id: str = ray.get_runtime_context().get_node_id()
        address = ray.util.get_node_ip_address()
        self._node = f"{socket.gethostname()} ({address}, {self._node_id[:8]})"
        self._clients: dict[str, ActorClient] = {}
        self._starting = asyncio.Lock()

    async def join(self, name: str, start: Sequence[ray.ObjectRef[ActorStart]]) -> ActorPlace:
        """Starts the process of a client, without waiting. `start` is a list of one reference, resolved if needed."""
        try:
            await self._client(name, start)
        except VersionError as error:
            return ActorPlace(self._node, self._node_id, os.getpid(), error)
        return ActorPlace(self._node, self._node_id, os.getpid())

    async def make(self, name: str, call: ActorCall) -> ActorAnswer:
        """Runs tasks of a client that has joined."""
        client = self._clients.get(name)
        if client is None:
            return ActorAnswer(is_unknown=True)
        client.calls += 1
        try:
            return await self._answer(name, client, call)
        finally:
            client.calls -= 1
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

    async def _answer(self, name: str, client: ActorClient, call: ActorCall) -> ActorAnswer:
        try:
            made = await client.make(call)
        except CallKilledError as error:
            death = None if error.death is None else dataclasses.replace(error.death, node=self._node)
            deaths = client.pool.counts().deaths
            return ActorAnswer(death=death, position=error.position, deaths=deaths)
        except Exception as error:
            # Unless the client has left, its process could not be started. `leave` lets the next `join` try again.
            if self._clients.get(name) is client:
                await self.leave(name)
            return ActorAnswer(error=error)
        result: PackedResult = made.result
        memory = None if result.memory is None else result.memory[: result.packed.size]
        return ActorAnswer(result.packed, memory, result.is_error, deaths=client.pool.counts().deaths)


def running(log: mmap.mmap, packed: PackedValue) -> int:
    """Reads from the log which task a process started last; returns the position of this task in its group."""
    offset, _ = packed.spans[0]
    return max(int(np.frombuffer(log, np.int64, 1, offset)[0]) - 1, 0)


class CallKilledError(RuntimeError):
    """Raised if a process died before it had finished a call. `death` is None if another call was running."""

    def __init__(self, death: WorkerDeath | None, position: int):
        super().__init__(str(death))
        self.death, self.position = death, position


class VersionError(RuntimeError):
    """Raised if the node has another version of jdali."""


def packed_memory(packed: PackedValue, arrays: Sequence[Bytes]) -> PackedMemory:
    """Copies a packed value to memory for a `TaskPool`."""
    return PackedMemory.of(packed, [memoryview(array) for array in arrays])  # type: ignore[arg-type, unused-ignore]


def _filled(start: ActorStart) -> Memory:
    """Copies the arrays of a definition out of the object store, because a process cannot map the store's memory."""
    memory: Any = start.memory
    arrays = [memory[offset : offset + size] for offset, size in start.start.spans]
    filled = packed_memory(start.start, arrays).memory
    assert filled is not None
    return filled
