"""Shares memory among the actors of a node, so that a node holds only one copy of the data that a pipeline sends.

```
 first actor: binds address 0, fills memory ──▶ a thread sends the descriptor to each actor that connects
 other actors: address 0 is bound, so they connect to it and map the memory; each also binds an address of its own
 an actor that starts when the first has died: binds address 0, asks the other addresses, and fills memory if none answers
```

An address is an abstract socket name of Linux, which disappears with the process that bound it. So nothing is left behind,
however actors end, and the memory exists as long as one of them uses it. On other systems, each actor has its own memory.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import struct
import sys
import threading
from collections.abc import Callable

from jdali._workers.memory import Memory

_CREDENTIALS = struct.Struct("3i")  # process, user and group of the other end
_SIZE = struct.Struct("!Q")
_SECONDS = 60.0  # seconds to wait for the first actor to fill the memory
_TRIES = 3
_ADDRESSES = (
    64  # for each key; of 64 actors, one very likely outlives the first, and asking all takes only 1 ms
)


class NodeMemory:
    """Holds memory that the processes of a node share. If it has a `server`, this process sends it to other processes."""

    def __init__(self, memory: Memory, server: socket.socket | None = None):
        self.memory, self._server = memory, server
        if server is not None:
            threading.Thread(
                target=_serve, args=(server, os.dup(memory.descriptor), memory.size), name="jdali-node-memory", daemon=True
            ).start()  # fmt: skip

    def close(self) -> None:
        """Stops sending the memory; processes that have it, including this one, keep it."""
        server, self._server = self._server, None
        if server is not None:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)  # wakes the thread, which closes the server


def shared_on_node(key: str, fill: Callable[[], Memory]) -> NodeMemory:
    """Returns the memory of a key on this machine. Allocates and fills it if no other process of the user has it."""
    if sys.platform != "linux":
        return NodeMemory(fill())
    for _ in range(_TRIES):
        server = _bound(_address(key, 0))
        if server is not None:
            try:
                return NodeMemory(_of_others(key) or fill(), server)
            except BaseException:
                server.close()
                raise
        # If the owner of address 0 has died meanwhile, try again.
        with contextlib.suppress(OSError, EOFError):
            return NodeMemory(_received(_address(key, 0)), _server_beside_the_first(key))
    return NodeMemory(fill())


def _address(key: str, number: int) -> str:
    return f"\0jdali-{os.getuid()}-{key}-{number}"


def _of_others(key: str) -> Memory | None:
    """Returns the memory from an actor that survived the first one; None if there is none."""
    for number in range(1, _ADDRESSES):
        with contextlib.suppress(OSError, EOFError):
            return _received(_address(key, number))
    return None


def _server_beside_the_first(key: str) -> socket.socket | None:
    """Returns a socket at the next free address. None if all are taken, which means that enough actors send the memory."""
    for number in range(1, _ADDRESSES):
        server = _bound(_address(key, number))
        if server is not None:
            return server
    return None


def _bound(address: str) -> socket.socket | None:
    """Returns a socket that listens at an address; None if the address is taken."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        server.bind(address)
        server.listen(1024)
    except OSError as error:
        server.close()
        if error.errno != errno.EADDRINUSE:
            raise
        return None
    return server


def _serve(server: socket.socket, descriptor: int, size: int) -> None:
    """Sends the memory to each process of this user that connects."""
    with server, contextlib.suppress(OSError):
        while True:
            connected, _ = server.accept()
            with connected, contextlib.suppress(OSError):
                if _is_of_this_user(connected):
                    socket.send_fds(connected, [_SIZE.pack(size)], [descriptor])
    os.close(descriptor)


def _received(address: str) -> Memory:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connected:
        connected.settimeout(_SECONDS)
        connected.connect(address)
        if not _is_of_this_user(connected):
            raise PermissionError(f"{address[1:]} is of another user")
        sent, descriptors, _, _ = socket.recv_fds(connected, _SIZE.size, 1, socket.MSG_CMSG_CLOEXEC)
    if len(sent) < _SIZE.size or not descriptors:
        raise EOFError("the other process has ended")
    os.set_inheritable(descriptors[0], False)
    return Memory(descriptors[0], _SIZE.unpack(sent)[0])


def _is_of_this_user(connected: socket.socket) -> bool:
    credentials = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return _CREDENTIALS.unpack(credentials)[1] == os.getuid()
