"""Implements dynamic batching: answers requests that arrive close together as one batch."""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import contextlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class ServerStoppingError(RuntimeError):
    """Raised for requests that have no answer when the server stops."""


class _Waiting(NamedTuple):
    request: Any
    samples: int
    answer: asyncio.Future[Any]


class Batcher:
    """Collects requests into batches, and answers one batch after another in a thread.

    Call all methods in one event loop.

    Args:
        run: answers a batch of requests; returns a value or an exception for each.
        max_batch: maximum samples in a batch.
        max_wait: seconds that the first request of a batch waits for further requests.
        note: called with the number of samples of each batch.
    """

    def __init__(
        self,
        run: Callable[[Sequence[Any]], Sequence[Any]],
        *,
        max_batch: int,
        max_wait: float,
        note: Callable[[int], None],
    ):
        self._run, self._note = run, note
        self.max_batch, self._max_wait = max_batch, max_wait
        self._queue: collections.deque[_Waiting] = collections.deque()
        self._changed = asyncio.Event()
        self._threads = concurrent.futures.ThreadPoolExecutor(1, "jdali-serve")
        self._task: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        return len(self._queue)

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._answer_all())

    async def close(self) -> None:
        """Rejects all requests that have no answer yet, and waits for the thread to end."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        while self._queue:
            self._queue.popleft().answer.set_exception(ServerStoppingError("the server is being stopped"))
        await asyncio.to_thread(self._threads.shutdown)

    async def submit(self, request: object, samples: int) -> Any:
        """Queues a request and waits for its answer.

        Args:
            samples: number of samples in the request, at most `max_batch`.

        Raises:
            ServerStoppingError: the server stops before the answer.
        """
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._queue.append(_Waiting(request, samples, answer))
        self._changed.set()
        return await answer

    async def _answer_all(self) -> None:
        while True:
            while not self._queue:
                self._changed.clear()
                await self._changed.wait()
            await self._fill()
            batch, samples = self._take()
            if batch:
                await self._answer(batch, samples)

    async def _fill(self) -> None:
        """Waits until the queue holds a full batch, but at most `max_wait` seconds."""
        loop = asyncio.get_running_loop()
        end = loop.time() + self._max_wait
        while sum(w.samples for w in self._queue) < self.max_batch and (rest := end - loop.time()) > 0:
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), rest)

    def _take(self) -> tuple[list[_Waiting], int]:
        batch: list[_Waiting] = []
        samples = 0
        while self._queue and samples + self._queue[0].samples <= self.max_batch:
            waiting = self._queue.popleft()
            if not waiting.answer.done():  # otherwise the client has disconnected
                batch.append(waiting)
                samples += waiting.samples
        return batch, samples

    async def _answer(self, batch: Sequence[_Waiting], samples: int) -> None:
        self._note(samples)
        loop = asyncio.get_running_loop()
        call = loop.run_in_executor(self._threads, self._run, [w.request for w in batch])
        try:
            _give(batch, await asyncio.shield(call))
        except asyncio.CancelledError:
            _give(batch, [ServerStoppingError("the server is being stopped")] * len(batch))
            raise
        except Exception as error:
            _give(batch, [error] * len(batch))


def _give(batch: Sequence[_Waiting], answers: Sequence[object]) -> None:
    for waiting, answer in zip(batch, answers, strict=True):
        if waiting.answer.done():
            continue
        if isinstance(answer, Exception):
            waiting.answer.set_exception(answer)
        else:
            waiting.answer.set_result(answer)
