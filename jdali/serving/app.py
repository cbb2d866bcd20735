"""Implements the HTTP server, an ASGI application of Starlette that uvicorn runs."""

from __future__ import annotations

import asyncio
import bisect
import contextlib
import dataclasses
import logging
import math
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence

import msgspec

from jdali import __version__
from jdali._system.extras import install
from jdali.serving import protocol
from jdali.serving.batcher import Batcher, ServerStoppingError
from jdali.serving.model import ServedModel
from jdali.serving.protocol import HEADER_LENGTH, OutputError, RequestError

log = logging.getLogger("jdali")

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SAMPLES = (1, 2, 4, 8, 16, 32, 64, 128)


class Histogram:
    """Counts values in buckets. `bounds` are the upper bounds of the buckets, in ascending order."""

    def __init__(self, name: str, text: str, bounds: Sequence[float]):
        self._name, self._text, self._bounds = name, text, bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        self._counts[bisect.bisect_left(self._bounds, value)] += 1
        self._sum += value

    def lines(self) -> list[str]:
        """Returns the metric in Prometheus's text format."""
        lines, total = [f"# HELP {self._name} {self._text}", f"# TYPE {self._name} histogram"], 0
        for bound, count in zip([*map(str, self._bounds), "+Inf"], self._counts, strict=True):
            total += count
            lines.append(f'{self._name}_bucket{{le="{bound}"}} {total}')
        return [*lines, f"{self._name}_sum {self._sum}", f"{self._name}_count {total}"]


class ServerMetrics:
    """Holds the metrics of one server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[int, int] = {}
        self._seconds = Histogram(
            "jdali_request_seconds",
            "Time from a request to its answer, of all requests for inference.",
            _SECONDS,
        )
        self._samples = Histogram("jdali_batch_samples", "Samples in a batch.", _SAMPLES)

    def request(self, status: int, seconds: float) -> None:
        with self._lock:
            self._requests[status] = self._requests.get(status, 0) + 1
            self._seconds.observe(seconds)

    def batch(self, samples: int) -> None:
        with self._lock:
            self._samples.observe(samples)

    def text(self, waiting: int) -> str:
        """Returns all metrics in Prometheus's text format, with the number of requests that wait."""
        with self._lock:
            counted = [
                f'jdali_requests_total{{code="{code}"}} {count}'
                for code, count in sorted(self._requests.items())
            ]
            lines = [
                "# HELP jdali_requests_total Answers by their HTTP status.",
                "# TYPE jdali_requests_total counter", *counted,
                "# HELP jdali_requests_waiting Requests that are being read, or wait for a batch.",
                "# TYPE jdali_requests_waiting gauge", f"jdali_requests_waiting {waiting}",
                *self._seconds.lines(), *self._samples.lines(),
            ]  # fmt: skip
        return "\n".join(lines) + "\n"


try:
    from starlette.applications import Starlette
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import Response
    from starlette.routing import Route
    from starlette.types import Receive, Scope, Send
except ImportError as error:
    raise ImportError(f"jdali.serving needs Starlette and uvicorn: {install('serve')}") from error

_DEAD, _GONE = 500, 499  # 499 is nginx's status for a client that disconnected
_END_SECONDS = 5  # seconds that requests may still take after a signal to stop
_LINGER_SECONDS = 5  # seconds for which the rest of a refused body is read and ignored


@dataclasses.dataclass(frozen=True)
class ServerLimits:
    """Sets the limits of a server.

    Attributes:
        max_batch: maximum samples in a batch, and in one request.
        max_wait_ms: milliseconds that the first request of a batch waits for further requests. A request that arrives while a
            batch is running always waits for the next batch.
        max_waiting: maximum requests that are being read, or wait for a batch; further requests get status 503.
        max_request_bytes: maximum bytes of a request's body; a request with a larger body gets status 413.
        max_waiting_bytes: maximum bytes that have come of the bodies of all requests without an answer; a request whose body
            goes beyond gets status 503.
        max_body_seconds: seconds from the headers of a request to the last byte of its body; after that, it gets status 408.

    Raises:
        ValueError: a limit is too small, or `max_waiting_bytes` is smaller than `max_request_bytes`.
    """

    max_batch: int = 32
    max_wait_ms: float = 0.0
    max_waiting: int = 1024
    max_request_bytes: int = 64 << 20
    max_waiting_bytes: int = 1 << 30
    max_body_seconds: float = 60.0

    def __post_init__(self) -> None:
        least = {"max_wait_ms": 0, "max_body_seconds": 0, "max_waiting_bytes": self.max_request_bytes}
        for name, value in dataclasses.asdict(self).items():
            if not least.get(name, 1) <= value < math.inf:  # NaN is refused too
                raise ValueError(f"serving: {name} is {value}, it must be at least {least.get(name, 1)}")


def application(model: ServedModel, limits: ServerLimits = ServerLimits()) -> Starlette:
    """Builds an ASGI application that serves a model.

    The application has the paths of the open inference protocol, `/v2/...`, and `/metrics`.

    Args:
        model: model to serve.
        limits: limits on requests.
    """
    return _Server(model, limits).app()


def serve(
    model: ServedModel,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    limits: ServerLimits = ServerLimits(),
    bound: socket.socket | None = None,
) -> None:
    """Serves a model until the process gets a signal to stop.

    Args:
        model: model to serve.
        host: address to listen on; the default accepts connections from this machine only.
        port: port to listen on, 0 to 65535; 0 chooses a free port.
        limits: limits on requests.
        bound: result of `bind`, in place of `host` and `port`.

    Raises:
        OSError: the port is in use, or the address is not of this machine.
    """
    import uvicorn

    config = uvicorn.Config(
        application(model, limits), log_level="warning", log_config=None, ws="none",
        timeout_graceful_shutdown=_END_SECONDS,
    )  # fmt: skip
    listening = bind(host, port) if bound is None else bound
    with listening, contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])


def bind(host: str, port: int) -> socket.socket:
    """Reserves a port, so that a port in use is an error before programs are compiled. Clients cannot connect until `serve` runs.

    Raises:
        OSError: the port is in use, or the address is not of this machine.
    """
    found = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise OSError(error.errno, f"{host}, port {port}: {error.strerror}") from None
    except OverflowError:
        found.close()
        raise ValueError(f"port is {port}, it must be 0 to 65535") from None
    return found


class _BodyMemory:
    """Counts the bytes of all requests without an answer."""

    def __init__(self, limit: int):
        self._limit, self._used = limit, 0

    @contextlib.contextmanager
    def lease(self) -> Iterator[Callable[[int], None]]:
        """Returns a function that takes bytes until the context ends; it raises `_Refusal` if too few are left."""
        taken = 0

        def take(count: int) -> None:
            nonlocal taken
            if self._used + count > self._limit:
                raise _Refusal(503, f"requests take {self._used} bytes already; try again later")
            self._used += count
            taken += count

        try:
            yield take
        finally:
            self._used -= taken


class _EarlyResponse(Response):  # type: ignore[misc]
    """Answers before the body of a request is complete.

    It goes on reading for a while: if the connection were closed at once, a client that is still sending would lose the answer.
    Then it closes the connection, because a next request on it could not be told from the rest of the body.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["http_version"].startswith("1"):  # HTTP/2 has no such header
            self.headers["connection"] = "close"
        start = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        await send(start)
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_SECONDS):
                while (await receive()).get("more_body"):
                    pass
        await send({"type": "http.response.body"})


class _Refusal(Exception):
    """Raised if a request gets an answer with `status` before its body is complete."""

    def __init__(self, status: int, text: str):
        super().__init__(text)
        self.status = status


class _Server:
    """Holds the handlers of one application."""

    def __init__(self, model: ServedModel, limits: ServerLimits):
        self._model, self._limits = model, limits
        self._metrics = ServerMetrics()
        self._memory = _BodyMemory(limits.max_waiting_bytes)
        self._entering = 0  # requests that are read or parsed
        self._batcher: Batcher | None = None

    def app(self) -> Starlette:
        of_model = "/v2/models/{name}"
        routes = [
            Route("/v2", self._server), Route("/v2/health/live", self._live),
            Route("/v2/health/ready", self._ready), Route("/metrics", self._text),
        ]  # fmt: skip
        for prefix in (of_model, f"{of_model}/versions/{{version}}"):
            routes += [
                Route(prefix, self._metadata), Route(f"{prefix}/ready", self._model_ready),
                Route(f"{prefix}/infer", self._infer, methods=["POST"]),
            ]  # fmt: skip
        return Starlette(routes=routes, lifespan=self._life)

    @contextlib.asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        del app
        limits = self._limits
        self._batcher = Batcher(
            self._model.answer, max_batch=limits.max_batch, max_wait=limits.max_wait_ms / 1000,
            note=self._metrics.batch,
        )  # fmt: skip
        self._batcher.start()
        try:
            yield
        finally:
            batcher, self._batcher = self._batcher, None
            await batcher.close()

    async def _server(self, request: Request) -> Response:
        return _json({"name": "jdali", "version": __version__, "extensions": ["binary_tensor_data"]})

    async def _live(self, request: Request) -> Response:
        return Response()

    async def _ready(self, request: Request) -> Response:
        return Response(status_code=200 if self._batcher is not None else 503)

    async def _text(self, request: Request) -> Response:
        return Response(self._metrics.text(self._waiting), media_type=CONTENT_TYPE)

    @property
    def _waiting(self) -> int:
        return self._entering + (0 if self._batcher is None else self._batcher.waiting)

    async def _metadata(self, request: Request) -> Response:
        return self._unknown(request) or _json(self._model.metadata())

    async def _model_ready(self, request: Request) -> Response:
        return self._unknown(request) or await self._ready(request)

    def _unknown(self, request: Request, kind: type[Response] = Response) -> Response | None:
        """Returns an answer with status 404 if the requested model is not served, else None."""
        name, version = request.path_params["name"], request.path_params.get("version", "1")
        if name == self._model.name and version == "1":
            return None
        return _error(
            404,
            f"there is no model {name!r:.80} of version {version!r:.20}; there is {self._model.name!r}, 1",
            kind,
        )

    async def _infer(self, request: Request) -> Response:
        begun = time.perf_counter()
        response = self._unknown(request, _EarlyResponse) or await self._answered(request)
        self._metrics.request(response.status_code, time.perf_counter() - begun)
        return response

    async def _answered(self, request: Request) -> Response:
        try:
            if self._batcher is None:
                raise _Refusal(503, "the server is not ready")
            if self._waiting >= self._limits.max_waiting:
                raise _Refusal(503, f"{self._waiting} requests wait already; try again later")
            with self._memory.lease() as take:
                self._entering += 1
                try:
                    body = await self._body(request, take)
                    # Parse in a thread, because a large request must not block the event loop.
                    asked = await asyncio.to_thread(
                        protocol.parse, body, request.headers.get(HEADER_LENGTH), self._model.inputs,
                        max_samples=self._limits.max_batch, outputs=self._model.outputs,
                    )  # fmt: skip
                finally:
                    self._entering -= 1
                outputs = await self._batcher.submit(asked.inputs, asked.samples)
                content, headers = await asyncio.to_thread(protocol.render, self._model.name, asked, outputs)
            return Response(content, headers=headers)
        except RequestError as error:
            return _error(400, str(error))
        except _Refusal as error:
            return _error(error.status, str(error), _EarlyResponse)
        except OutputError as error:
            log.error("serving: %s", error)
            return _error(_DEAD, str(error))
        except ServerStoppingError as error:
            return _error(503, str(error))
        except asyncio.CancelledError:  # the server shuts down, and the grace period has ended
            return _error(503, "the server is being stopped")
        except ClientDisconnect:
            return Response(status_code=_GONE)
        except Exception as error:  # clients get only the type, because the message may contain internals
            log.exception("serving: a request failed")
            return _error(_DEAD, f"the model failed: {type(error).__name__}")

    async def _body(self, request: Request, take: Callable[[int], None]) -> bytes:
        """Reads the body.

        Args:
            take: called with the number of bytes of each part, before it is kept.
        """
        if request.headers.get("content-encoding", "").strip().lower() not in ("", "identity"):
            raise _Refusal(400, "compressed requests are not supported")
        most, seconds = self._limits.max_request_bytes, self._limits.max_body_seconds
        declared = request.headers.get("content-length", "")
        too_large = _Refusal(413, f"a request may have {most} bytes")
        if declared.isdecimal() and int(declared) > most:
            raise too_large
        parts, total = [], 0
        try:
            async with asyncio.timeout(seconds):
                async for part in request.stream():
                    total += len(part)
                    if total > most:
                        raise too_large
                    take(len(part))
                    parts.append(part)
        except TimeoutError:
            raise _Refusal(408, f"the body took more than {seconds:g} s; {total} bytes came") from None
        return b"".join(parts)


def _json(content: object) -> Response:
    return Response(msgspec.json.encode(content), media_type="application/json")


def _error(status: int, text: str, kind: type[Response] = Response) -> Response:
    return kind(msgspec.json.encode({"error": text}), status_code=status, media_type="application/json")
