"""Queues batches: workers request them, the server's thread computes them, and the training loop takes the results."""

from __future__ import annotations

import collections
import dataclasses
import threading
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Arguments = dict[str, list[Any]]


class Ticket(NamedTuple):
    """Identifies a batch that was sent to a server.

    Attributes:
        server: address of the server.
        source: id of the sender, a thread of a process.
        number: number of the batch among the batches of its source, starting at 0.
    """

    server: str
    source: str
    number: int


@dataclasses.dataclass
class _Source:
    """A sender of batches: a thread of some process.

    Attributes:
        owner: id of the loop that uses the sender.
        count: number of batches received.
        ended: True once the connection has ended.
    """

    owner: str = ""
    count: int = 0
    ended: bool = False


class Requests:
    """The batches of a server that the training loop has not taken yet; thread-safe."""

    def __init__(self, address: str):
        self._address = address
        self._changed = threading.Condition()
        self._waiting: collections.deque[tuple[Ticket, Arguments]] = collections.deque()
        self._making: list[Ticket] = []
        self._made: dict[Ticket, Any] = {}
        self._sources: dict[str, _Source] = {}
        self._own = uuid.uuid4().hex
        self._forgotten: set[str] = set()  # ids of the loops that have ended
        self._dropped: set[Ticket] = set()  # batches in progress whose results nobody will take
        self.is_open = self._is_broken = False
        self._failure: BaseException | None = None

    def begin(self, source: str, owner: str) -> None:
        with self._changed:
            self._sources[source] = _Source(owner)

    def add(self, source: str, arguments: Arguments) -> Ticket:
        with self._changed:
            known = self._sources[source]
            ticket = Ticket(self._address, source, known.count)
            known.count += 1
            if known.owner not in self._forgotten:
                self._waiting.append((ticket, arguments))
            self._changed.notify_all()
        return ticket

    def add_own(self, arguments: Arguments) -> Ticket:
        """Adds a batch of the main process; copies its arrays, because the user may change them."""
        copies = {name: [np.array(value) for value in values] for name, values in arguments.items()}
        with self._changed:
            self._sources.setdefault(self._own, _Source())
            return self.add(self._own, copies)

    def end(self, source: str) -> None:
        with self._changed:
            self._sources[source].ended = True
            self._changed.notify_all()

    def fail(self, error: Exception) -> None:
        """Ends all requests permanently with an error."""
        with self._changed:
            self._failure, self._is_broken = error, True
            self._changed.notify_all()

    def open(self) -> None:
        with self._changed:
            self.is_open = True
            if not self._is_broken:
                self._failure = None

    def next(self, *, wait: bool) -> tuple[Ticket, Arguments] | None:
        """Takes the next batch to compute; returns None if the queue is empty or the server has stopped.

        With `wait`, an empty queue makes the call wait until a batch arrives or the server stops.
        """
        with self._changed:
            if wait:
                self._changed.wait_for(lambda: self._waiting or not self.is_open)
            if not self._waiting or not self.is_open:
                return None
            ticket, arguments = self._waiting.popleft()
            self._making.append(ticket)
            return ticket, arguments

    def put(self, ticket: Ticket, outcome: object) -> None:
        with self._changed:
            self._making.remove(ticket)
            if ticket in self._dropped:
                self._dropped.remove(ticket)
            else:
                self._made[ticket] = outcome
            self._changed.notify_all()

    def close(self, failure: BaseException | None = None) -> None:
        """Stops computing batches, and drops the batches that were not taken."""
        with self._changed:
            if not self.is_open:
                return
            self.is_open = False
            self._failure = failure or self._failure
            self._waiting.clear()
            self._made.clear()
            self._dropped.update(self._making)
            self._changed.notify_all()

    def take(self, ticket: Ticket) -> Any:
        """Waits for a batch and takes it.

        Raises:
            RuntimeError: the batch will never be computed.
        """
        with self._changed:
            while ticket not in self._made:
                reason = self._why_never(ticket)
                if reason is not None:
                    raise RuntimeError(f"DALIServer: {reason}") from self._failure
                self._changed.wait()
            return self._made.pop(ticket)

    def _why_never(self, ticket: Ticket) -> str | None:
        """Explains why a batch will never be computed; returns None if it will be."""
        if ticket.server != self._address:
            return "the batch was sent to another server"
        if self._is_broken:
            return "it takes no connections any more"
        if not self.is_open:
            return "it is not running: use it in `with server:`, or call start_thread()"
        source = self._sources.get(ticket.source)
        if source is None:  # the server has not accepted the sender's connection yet
            return None
        if ticket.number >= source.count:
            return "the worker ended while it sent the batch" if source.ended else None
        is_on_its_way = (
            ticket in self._making and ticket not in self._dropped
        ) or any(waits == ticket for waits, _ in self._waiting)  # fmt: skip
        return (
            None
            if is_on_its_way
            else "the batch was taken before, or thrown away when the server was stopped"
        )

    def forget(self, owner: str) -> None:
        """Drops the present and future requests of a loop that has ended."""
        with self._changed:
            self._forgotten.add(owner)
            self._drop(lambda ticket: self._sources[ticket.source].owner == owner)

    def forget_before(self, ticket: Ticket) -> None:
        with self._changed:
            self._drop(lambda other: other.source == ticket.source and other.number < ticket.number)

    def _drop(self, unwanted: Callable[[Ticket], bool]) -> None:
        self._waiting = collections.deque(item for item in self._waiting if not unwanted(item[0]))
        self._made = {ticket: outcome for ticket, outcome in self._made.items() if not unwanted(ticket)}
        self._dropped.update(ticket for ticket in self._making if unwanted(ticket))
