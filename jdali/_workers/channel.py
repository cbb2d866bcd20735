"""A socket between two processes, for pickled messages and descriptors of files."""

from __future__ import annotations

import os
import pickle
import socket
import struct
from collections.abc import Sequence
from multiprocessing.connection import wait
from typing import Any

_HEADER = struct.Struct("!Q")  # bytes of the message that follows
_MOST_DESCRIPTORS = 4  # of a message
_CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


class Channel:
    """Sends and receives messages; one thread may send while another one receives.

    Args:
        connected: a Unix stream socket.
    """

    def __init__(self, connected: socket.socket):
        self._socket = connected

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: object, descriptors: Sequence[int] = ()) -> None:
        """Sends a message, and with it open files, which the receiver gets descriptors of its own of.

        Raises:
            OSError: the other process is gone.
        """
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        whole = _HEADER.pack(len(data)) + data
        # One call, except for messages that the socket takes in pieces.
        sent = (
            socket.send_fds(self._socket, [whole], descriptors) if descriptors else self._socket.send(whole)
        )
        if sent < len(whole):
            self._socket.sendall(memoryview(whole)[sent:])

    def receive(self) -> tuple[Any, list[int]]:
        """Blocks until the next message is there; returns it with the descriptors, which the caller closes.

        Raises:
            EOFError, OSError: the other process is gone.
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
        """True if there is something to receive now, or the other process is gone."""
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
