"""Sends batches from workers to the server, through a socket in a folder that only this user can enter.

Each worker has its own connection, and writes a batch to it before it sends the reference to the main process. So a killed
worker cannot block other workers, and a reference never arrives before its batch. No queue of `torch.multiprocessing`
guarantees both.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import socket
import struct
import tempfile
import threading
import uuid
import weakref
from typing import Any

from jdali.plugin.pytorch.experimental.proxy._requests import Requests, Ticket

_NUMBERS = struct.Struct("!Q")


class Mailbox:
    """Sends batches of inputs to a server; picklable, because its only attribute is the path of the server's socket."""

    def __init__(self, address: str):
        self.address = address

    def send(self, arguments: dict[str, list[object]]) -> Ticket:
        """Sends a batch: a list of samples for each input, by name. Raises RuntimeError if the server is gone."""
        # Only the server's process finds an office here, because a fork clears the dict.
        office = _OFFICES.get(self.address)
        if office is not None:
            return office.requests.add_own(arguments)
        try:
            return _CONNECTIONS.of(self.address).send(arguments)
        except OSError as error:
            raise RuntimeError("proxy: the DALIServer that it belongs to is gone") from error


class Office:
    """Accepts connections and receives batches, at the server's end.

    Attributes:
        address: path of the server's socket.
        process: id of the server's process.
        requests: the received batches.
    """

    def __init__(self) -> None:
        self.process = os.getpid()
        self._folder = tempfile.mkdtemp(prefix="jdali-")  # only this user can enter it
        self.address = os.path.join(self._folder, "proxy")
        self.requests = Requests(self.address)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.address)
        self._listener.listen(128)
        self._sockets: set[socket.socket] = {self._listener}
        self._is_closed = False
        _OFFICES[self.address] = self
        self._start(self._accept)

    def _start(self, function: Any, *args: Any) -> None:
        threading.Thread(target=function, args=args, name="jdali-proxy", daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError as error:
                if not self._is_closed:
                    self.requests.fail(error)
                return
            self._sockets.add(connection)
            self._start(self._read, connection)
            if self._is_closed:
                self.close()

    def _read(self, connection: socket.socket) -> None:
        source = None
        try:
            with contextlib.suppress(OSError, EOFError):
                source, owner = _receive(connection)
                self.requests.begin(source, owner)
                while True:
                    self.requests.add(source, _receive(connection))
        finally:
            if source is not None:
                self.requests.end(source)
            self._sockets.discard(connection)
            connection.close()

    def close(self) -> None:
        """Ends all connections and their threads; in a forked process, only closes the inherited sockets."""
        self._is_closed = True
        _OFFICES.pop(self.address, None)
        for one in list(self._sockets):
            if self.process == os.getpid():
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads from this connection
            one.close()
        if self.process == os.getpid():
            shutil.rmtree(self._folder, ignore_errors=True)


class _Connection:
    """A thread's connection to a server."""

    def __init__(self, address: str):
        self._address, self.process = address, os.getpid()
        self._source, self._count = uuid.uuid4().hex, 0
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(address)
            _send(self._socket, (self._source, _OWNER[0]))
        except OSError:
            self._socket.close()
            raise

    def send(self, arguments: dict[str, list[object]]) -> Ticket:
        _send(self._socket, arguments)
        self._count += 1
        return Ticket(self._address, self._source, self._count - 1)


class _Connections(threading.local):
    """The connections of a thread; a forked process starts without the connections of its parent."""

    def __init__(self) -> None:
        self._open: dict[str, _Connection] = {}

    def of(self, address: str) -> _Connection:
        found = self._open.get(address)
        if found is None or found.process != os.getpid():
            found = self._open[address] = _Connection(address)
        return found


_CONNECTIONS = _Connections()
_OFFICES: weakref.WeakValueDictionary[str, Office] = weakref.WeakValueDictionary()
_OWNER = [""]  # id of the loop that uses this process


def set_owner(name: str) -> None:
    _OWNER[0] = name


def _let_go() -> None:
    """Closes the sockets that a forked process inherits, so that connections end when the main process closes them."""
    for office in list(_OFFICES.values()):
        office.close()


os.register_at_fork(after_in_child=_let_go)


def _send(connection: socket.socket, message: object) -> None:
    """Sends a message. Its arrays are apart from its pickle: this takes a tenth of the time that `Channel.send` takes."""
    buffers: list[pickle.PickleBuffer] = []
    content = pickle.dumps(message, protocol=5, buffer_callback=buffers.append)
    parts = [memoryview(content), *(buffer.raw() for buffer in buffers)]
    sizes = [len(parts), *(part.nbytes for part in parts)]
    connection.sendall(b"".join(map(_NUMBERS.pack, sizes)))
    for part in parts:
        connection.sendall(part)


def _receive(connection: socket.socket) -> Any:
    """Receives the next message; arrays in the message are writeable.

    Raises:
        EOFError: the connection has ended.
    """
    (count,) = _NUMBERS.unpack(_read(connection, _NUMBERS.size))
    sizes = [_NUMBERS.unpack(_read(connection, _NUMBERS.size))[0] for _ in range(count)]
    content, *buffers = [_read(connection, size) for size in sizes]
    return pickle.loads(content, buffers=buffers)


def _read(connection: socket.socket, size: int) -> bytearray:
    result = bytearray(size)
    rest = memoryview(result)
    while rest:
        count = connection.recv_into(rest)
        if not count:
            raise EOFError
        rest = rest[count:]
    return result
