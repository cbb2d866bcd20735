"""Servers on this machine that stand for remote storage, well-behaved or not."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import http.client
import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

# All ways in which an answer can go wrong and be right the next time.
FAULTS = ("500", "503", "cut", "no answer", "long length", "slow")
_COPIED = ("Range", "Authorization", "X-Amz-Date", "X-Amz-Content-SHA256", "Amz-Sdk-Request", "User-Agent")

Fault = Callable[[str, str], str | None]
# What is sent at once where the bandwidth is limited, bytes.
_PACKET = 1 << 16


class Server:
    """HTTP server of files in memory, or in front of another server.

    Args:
        files: content by path ("/folder/name").
        upstream: "host:port" of the server that answers instead.
        fault: what shall go wrong with a request of this method and path, one of `FAULTS`, an HTTP status, "no
            ranges" or "short range"; None: nothing.
        slow: seconds that a "slow" answer is held back.
        latency: seconds before each answer.
        bandwidth: bytes a second of all answers together; None: as many as the machine gives.

    Attributes:
        requests: (method, path, Range header) of all that came.
        busiest: most requests at once.
    """

    def __init__(
        self,
        files: Mapping[str, bytes] | None = None,
        *,
        upstream: str = "",
        fault: Fault = lambda method, path: None,
        slow: float = 0.0,
        latency: float = 0.0,
        bandwidth: float | None = None,
    ):
        self.files = dict(files or {})
        self.upstream, self.fault, self.slow, self.latency = upstream, fault, slow, latency
        self.bandwidth, self._sent_at = bandwidth, 0.0
        self.requests: list[tuple[str, str, str | None]] = []
        self.busy = self.busiest = 0
        self.lock = threading.Lock()
        self.closing = threading.Event()
        server = self

        class Handler(_Handler):
            owner = server

        self._http = _Http(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._http.server_port}"
        self.url = f"http://{self.address}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(
        self, method: str, target: str, headers: Mapping[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        if self.upstream:
            return self._forwarded(method, target, headers)
        path = urlsplit(target).path
        if path.endswith("/"):
            return self._listing(path)
        if path not in self.files:
            return 404, {}, b"not found"
        data = self.files[path]
        facts = {"ETag": _etag(data), "Accept-Ranges": "bytes"}
        asked = headers.get("Range")
        if not asked:
            return 200, facts, data
        first, _, last = asked.removeprefix("bytes=").partition("-")
        part = data[int(first) : int(last or len(data)) + 1]
        if not part:
            return 416, facts, b""
        facts["Content-Range"] = f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}"
        return 206, facts, part

    def send(self, body: bytes, write: Callable[[bytes], object]) -> None:
        """Writes an answer, as fast as the bandwidth allows beside the others."""
        if self.bandwidth is None:
            write(body)
            return
        for at in range(0, len(body), _PACKET):
            packet = body[at : at + _PACKET]
            with self.lock:
                self._sent_at = max(self._sent_at, time.monotonic()) + len(packet) / self.bandwidth
                wait = self._sent_at - time.monotonic()
            self.closing.wait(max(wait, 0))
            write(packet)

    def _listing(self, path: str) -> tuple[int, dict[str, str], bytes]:
        below = [name.removeprefix(path) for name in self.files if name.startswith(path)]
        if not below:
            return 404, {}, b"not found"
        names = sorted({name.split("/")[0] + "/" * ("/" in name) for name in below})
        links = "".join(f'<li><a href="{name}">{name}</a></li>' for name in names)
        return 200, {"Content-Type": "text/html"}, f"<html><ul>{links}</ul></html>".encode()

    def _forwarded(
        self, method: str, target: str, headers: Mapping[str, str]
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(self.upstream, timeout=30)
        with contextlib.closing(connection):
            copied = {name: headers[name] for name in _COPIED if name in headers}
            connection.request(method, target, headers=copied)
            response = connection.getresponse()
            kept = {
                name: value
                for name, value in response.getheaders()
                if name.lower() not in ("connection", "date", "server", "transfer-encoding")
            }
            return response.status, kept, response.read()


@functools.lru_cache(maxsize=1024)
def _etag(data: bytes) -> str:
    return f'"{hashlib.md5(data).hexdigest()}"'


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: Any) -> None:
        pass  # clients may go away


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    owner: Server

    def do_GET(self) -> None:
        owner = self.owner
        with owner.lock:
            owner.requests.append((self.command, urlsplit(self.path).path, self.headers.get("Range")))
            owner.busy += 1
            owner.busiest = max(owner.busiest, owner.busy)
            fault = owner.fault(self.command, urlsplit(self.path).path)
        try:
            owner.closing.wait(owner.latency)
            self._answer(fault)
        finally:
            with owner.lock:
                owner.busy -= 1

    do_HEAD = do_GET

    def _answer(self, fault: str | None) -> None:
        owner = self.owner
        if fault == "slow":
            owner.closing.wait(owner.slow)
        if fault == "no answer":
            self._hang_up()
            return
        headers = {
            name: value for name, value in self.headers.items() if fault != "no ranges" or name != "Range"
        }
        if fault is not None and fault.isdigit():
            facts: dict[str, str] = {}
            status, body = int(fault), b"injected"
        else:
            status, facts, body = owner.answer(self.command, self.path, headers)
        if fault == "short range":
            body = body[:-1]
        length = facts.pop("Content-Length", None) if self.command == "HEAD" else None
        facts.pop("Content-Length", None)
        facts.pop("content-length", None)
        told = int(length or len(body)) + 7 * (fault == "long length" and self.command == "GET")
        self.send_response(status)
        for name, value in facts.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(told))
        self.end_headers()
        if self.command != "HEAD":
            owner.send(body[: len(body) // 2] if fault == "cut" else body, self.wfile.write)
            self.wfile.flush()
        if fault in ("cut", "long length"):
            self._hang_up()

    def _hang_up(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_: Any) -> None:
        pass


def now_and_then(share: float, seed: int, faults: tuple[str, ...] = FAULTS, most: int = 3) -> Fault:
    """Faults in that share of the requests at random, but not more than `most` in a row for a path."""
    rng = random.Random(seed)
    in_a_row: dict[str, int] = {}

    def fault(method: str, path: str) -> str | None:
        if rng.random() >= share or in_a_row.get(path, 0) >= most:
            in_a_row[path] = 0
            return None
        in_a_row[path] = in_a_row.get(path, 0) + 1
        return rng.choice(faults)

    return fault


_MOTO = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
server.stop()
"""


@contextlib.contextmanager
def s3() -> Iterator[str]:
    """A server of the S3 protocol in a process of its own; "host:port" of it."""
    with subprocess.Popen(
        [sys.executable, "-c", _MOTO], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, env={**os.environ, "AWS_ENDPOINT_URL": ""},
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            yield f"127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


@contextlib.contextmanager
def bucket(files: Mapping[str, bytes]) -> Iterator[Server]:
    """Files in a bucket ("s3://bucket/..."), behind a server that may inject faults and that readers ask.

    Args:
        files: content by name, "bucket/folder/name".
    """
    import fsspec

    with pytest.MonkeyPatch.context() as variables, s3() as address, Server(upstream=address) as server:
        for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            variables.setenv(key, "testing")
        variables.setenv("AWS_DEFAULT_REGION", "us-east-1")
        system = fsspec.filesystem("s3", endpoint_url=f"http://{address}")
        system.mkdir("bucket")
        system.pipe(dict(files))
        variables.setitem(fsspec.config.conf, "s3", {"endpoint_url": server.url})
        yield server


def tree(folder: Path, prefix: str = "") -> dict[str, bytes]:
    """The files in a folder and below, for `Server`."""
    return {
        f"{prefix}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def wait_for(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether something becomes true within some seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
