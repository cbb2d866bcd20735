"""Defines the messages between a `TaskPool` and its processes, and sends them over a socket."""

from __future__ import annotations

import dataclasses
import errno
import os
import pickle
import socket
import struct
from collections.abc import Sequence
from multiprocessing.connection import wait
from typing import Any, NamedTuple, TypeAlias

from jdali._workers.wire import PackedValue

SlabName: TypeAlias = "tuple[int, int]"
"""Number of the process that allocated a slab, and number of the slab in that process."""


@dataclasses.dataclass(frozen=True)
class StartOrder:
    """First message to a process. `start` is a packed function; it returns the function that runs tasks.

    If `start` has arrays, the descriptor of their memory follows.
    """

    number: int
    start: PackedValue


class TaskOrder(NamedTuple):
    """Asks a process to run a task.

    Up to two descriptors follow: one for the task's arrays, and one for a lent slab that is new to the process.
    """

    number: int
    task: PackedValue
    lent: SlabName | None  # slab for the arrays of the result; None: the process allocates it if needed
    lent_size: int  # bytes of the lent slab if its descriptor follows; otherwise 0
    forgotten: tuple[SlabName, ...]  # slabs that the process can unmap
    room: int  # minimum bytes of a slab that the process allocates


@dataclasses.dataclass(frozen=True)
class ReadyAnswer:
    """Reports that a process is ready for tasks, or that it ends because `error` was raised."""

    error: Exception | None = None


class TaskNote(NamedTuple):
    """Reports the position that a task has reached, see `note_reached`."""

    number: int
    reached: int


class TaskAnswer(NamedTuple):
    """Answers a `TaskOrder`. If the process has allocated a slab for the result, the slab's descriptor follows."""

    number: int
    result: PackedValue
    is_error: bool
    slab: SlabName | None  # slab with the arrays of the result; None if the result has no arrays
    new_size: int  # bytes of the slab, if the process has allocated it for this answer; otherwise 0
    seconds: float  # time from the order to the answer
    cpu: float  # processor time of the whole process meanwhile


Answer: TypeAlias = "ReadyAnswer | TaskNote | TaskAnswer"
"""A message from a process."""


_HEADER = struct.Struct("!Q")  # number of bytes of the message that follows
_MOST_DESCRIPTORS = 4  # maximum number of descriptors in a message
_CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


class Channel:
    """Sends and receives messages; one thread may send while another thread receives."""

    def __init__(self, connected: socket.socket):
        self._socket = connected

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: object, descriptors: Sequence[int] = ()) -> None:
        """Sends a message and open files; the receiver gets new descriptors. Raises OSError if the receiver is gone."""
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        whole = _HEADER.pack(len(data)) + data
        # Usually one call is enough, but the socket may take a message in pieces.
        sent = (
            socket.send_fds(self._socket, [whole], descriptors) if descriptors else self._socket.send(whole)
        )
        if sent < len(whole):
            self._socket.sendall(memoryview(whole)[sent:])

    def receive(self) -> tuple[Any, list[int]]:
        """Blocks until the next message; returns it with its descriptors, which the caller must close.

        Descriptors for which this process has no room are lost, see `take_descriptor`. Raises EOFError or OSError if the
        other process is gone.
        """
        header, descriptors, _, _ = socket.recv_fds(
            self._socket, _HEADER.size, _MOST_DESCRIPTORS, _CLOSE_ON_EXEC
        )
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        header += self._exactly(_HEADER.size - len(header))
        (size,) = _HEADER.unpack(header)
        return pickle.loads(self._exactly(size)), descriptors

    def has_message(self) -> bool:
        """Returns True if a message has arrived, or the other process is gone."""
        return bool(wait([self._socket], 0))

    def _exactly(self, size: int) -> bytes:
        data = bytearray(size)
        view, done = memoryview(data), 0
        while done < size:
            received = self._socket.recv_into(view[done:])
            if not received:
                raise EOFError("the other process has closed the connection")
            done += received
        return bytes(data)

    def close(self) -> None:
        self._socket.close()


def take_descriptor(descriptors: list[int]) -> int:
    """Takes the first of the descriptors that came with a message.

    Raises OSError (EMFILE) if the system dropped the descriptor, because this process had none free.
    """
    if not descriptors:
        raise OSError(errno.EMFILE, f"{os.strerror(errno.EMFILE)} to map memory that another process shares")
    return descriptors.pop(0)
