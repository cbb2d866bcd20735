"""Serves the pages with Starlette and uvicorn; every URL contains a secret token."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import secrets
import socket
import threading
import urllib.parse
import weakref
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from jdali._errors import OperatorError
from jdali._statistics.labels import class_names
from jdali._viewer.batches import batch_page, found_page
from jdali._viewer.data import data_page, found
from jdali._viewer.graph import GraphPage
from jdali._viewer.hints import NamesOf
from jdali._viewer.layout import SECURITY, error_box, page, script, style
from jdali._viewer.sample import epochs_page, sample_page
from jdali._viewer.survey import Survey
from jdali._viewer.timing import LiveTimes
from jdali.engine.eager import PipelineInspector
from jdali.pipeline import Pipeline

_HERE = "127.0.0.1"
_END_SECONDS = 1  # seconds that threads have to end
_MOST = 2**31  # upper bound of numbers in forms


class View:
    """Runs a viewer in a thread, until `close` or the end of the program.

    Attributes:
        url: URL to open in a browser; anyone who knows the URL can see the data.
    """

    def __init__(self, app: Starlette, host: str, port: int, token: str, end: Callable[[], None]):
        self._end = end
        kind = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(kind, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, port))
            self._socket.listen()  # accepts connections before the server runs
        except OSError as error:
            self._socket.close()
            end()
            raise OSError(
                f"view: cannot listen on {host}, port {port}: {error.strerror}; port=0 chooses a free one"
            ) from error
        bound = self._socket.getsockname()[1]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{bound}/{token}/"
        config = uvicorn.Config(
            app,
            log_config=None,  # uvicorn's own configuration would close log handlers of the user's program
            log_level="error",
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=_END_SECONDS,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name="jdali-viewer", daemon=True
        )
        self._thread.start()
        atexit.register(self.close)

    def __repr__(self) -> str:
        return f"<jdali viewer at {self.url}>"

    def _repr_html_(self) -> str:
        """Returns a link, for a notebook."""
        return f'<a href="{self.url}" target="_blank" rel="noopener noreferrer">{self.url}</a>'

    def wait(self) -> None:
        """Blocks until the viewer ends."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def close(self) -> None:
        """Ends the viewer, but not the pipeline; may be called twice."""
        atexit.unregister(self.close)
        self._server.should_exit = True
        self._end()
        self._thread.join(10 * _END_SECONDS)
        self._socket.close()


def view(
    pipe: Pipeline, *, port: int = 0, host: str = _HERE, name: str = "pipeline", make: Callable[[], Pipeline] | None = None
) -> View:  # fmt: skip
    """Serves a local page that shows a pipeline; does not change the pipeline, even while a loop runs.

    Args:
        pipe: the pipeline; its position does not change.
        port: port to listen on; 0 chooses a free port.
        host: address to listen on. With any address but 127.0.0.1, everybody who can reach it and knows the URL sees the
            data. The connection is not encrypted.
        name: name of the pipeline, for the pages.
        make: returns a new pipeline like `pipe`, which the Time page measures.

    Raises:
        RuntimeError: an external source cannot be read again, or the pipeline is in debug mode.
        OSError: the port is taken.
    """
    inspector = pipe.inspector()
    token = secrets.token_urlsafe(16)
    names_of = functools.partial(class_names, readers=inspector.engine.readers)
    site = Site(inspector, f"/{token}/", name, make, names_of, weakref.ref(pipe))
    return View(site.app(), host, port, token, site.close)


class Site:
    """Serves the pages of a pipeline.

    Args:
        root: path that all pages begin with; it contains the token.
        make: returns a new pipeline like the shown pipeline, to measure it; None if this is not possible.
        pipe: returns the pipeline, or None after it was freed. Pages show its plan and the user's loop over it.
    """

    def __init__(
        self, inspector: PipelineInspector, root: str, name: str, make: Callable[[], Pipeline] | None,
        names_of: NamesOf, pipe: Callable[[], Pipeline | None],
    ):  # fmt: skip
        self._inspector, self._root, self._name, self._names_of = inspector, root, name, names_of
        self._times = LiveTimes(inspector, make, pipe)
        self._graph = GraphPage(inspector, self._times, pipe, root)
        self._survey = Survey(inspector, names_of)
        # Functions that set the responses of open requests.
        self._pages: set[Callable[[Response], object]] = set()
        self._closed = False

    def app(self) -> Starlette:
        """Builds the application, which returns status 404 for URLs without the token."""
        root = self._root
        pages: list[tuple[str, Callable[[Request], Response], str]] = [
            ("", lambda _: RedirectResponse(f"{root}batches/0"), "GET"),
            ("batches/{number:int}", self._batches, "GET"),
            ("sample/{number:int}/{position:int}", self._sample, "GET"),
            ("epochs/{index:int}", self._epochs, "GET"),
            ("go", self._go, "GET"),
            ("find", self._find, "GET"),
            ("graph", lambda _: self._html("Graph", self._graph.page(), "Graph"), "GET"),
            ("graph/now", lambda _: HTMLResponse(self._graph.now()), "GET"),
            ("graph", lambda _: self._measure("graph"), "POST"),
            ("data", self._data, "GET"),
            ("data/now", lambda _: HTMLResponse(found(self._survey, self._inspector, self._names_of)), "GET"),
            ("time", lambda _: self._html("Time", self._times.page(root), "Time"), "GET"),
            ("time/now", lambda _: HTMLResponse(self._times.now()), "GET"),
            ("time", lambda _: self._measure("time"), "POST"),
            ("style.css", lambda _: Response(style(), media_type="text/css"), "GET"),
            ("viewer.js", lambda _: Response(script(), media_type="text/javascript"), "GET"),
        ]
        routes = [Route(root + path, self._safe(answer), methods=[method]) for path, answer, method in pages]
        routes.append(Route(f"{root}data", self._start_survey, methods=["POST"]))
        return Starlette(routes=routes, exception_handlers={404: self._not_found, 500: self._not_found})

    def close(self) -> None:
        """Ends the pages and their background work; waits only briefly for the user's code."""
        self._closed = True
        for answer in list(self._pages):
            answer(_disconnected())
        self._survey.stop()
        self._times.stop()
        self._inspector.close()
        self._survey.join(_END_SECONDS)
        self._times.join(_END_SECONDS)

    def _safe(self, answer: Callable[[Request], Response]) -> Callable[[Request], Any]:
        """Wraps the function of a page: runs it in a thread, and shows its errors as pages."""

        async def safe(request: Request) -> Response:
            try:
                response = await self._in_thread(answer, request)
            except Exception as error:
                # The error may come from the user's data or code, so it is shown.
                if isinstance(error, (IndexError, ValueError)) and not isinstance(error, OperatorError):
                    response = self._html("There is no such page", error_box(error), "", status=404)
                else:
                    text = f"{type(error).__name__}: {error}"
                    response = self._html("This went wrong", error_box(text), "", status=500)
            response.headers.update(SECURITY)
            return response

        return safe

    async def _in_thread(self, answer: Callable[[Request], Response], request: Request) -> Response:
        """Runs a page in a new daemon thread, for which neither `close` nor the program's exit waits."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Response] = loop.create_future()

        def settle(response: Response | Exception) -> None:
            if done.done():  # the viewer has ended, or the client has disconnected
                return
            if isinstance(response, Exception):
                done.set_exception(response)
            else:
                done.set_result(response)

        def give(response: Response | Exception) -> None:
            with contextlib.suppress(RuntimeError):  # the event loop is closed
                loop.call_soon_threadsafe(settle, response)

        def run() -> None:
            try:
                give(answer(request))
            except Exception as error:
                give(error)

        self._pages.add(give)
        try:
            if self._closed:
                return _disconnected()
            threading.Thread(target=run, name="jdali-viewer-page", daemon=True).start()
            return await done
        finally:
            self._pages.discard(give)

    async def _not_found(self, request: Request, error: Exception) -> Response:
        return Response(
            "not found: the address begins with the token that the viewer printed",
            404,
            SECURITY,
            "text/plain",
        )

    def _html(self, title: str, body: str, here: str, status: int = 200) -> Response:
        return HTMLResponse(page(title, body, root=self._root, here=here, subject=self._name), status)

    def _batches(self, request: Request) -> Response:
        number = request.path_params["number"]
        return self._html(
            f"Batch {number}", batch_page(self._inspector, number, self._root, self._names_of), "Batches"
        )

    def _sample(self, request: Request) -> Response:
        number, position = request.path_params["number"], request.path_params["position"]
        body = sample_page(self._inspector, number, position, self._root, self._names_of)
        return self._html(f"Sample {position} of batch {number}", body, "Batches")

    def _epochs(self, request: Request) -> Response:
        index, first = request.path_params["index"], _whole(request.query_params.get("first"), "first")
        body = epochs_page(self._inspector, index, first, self._root, self._names_of)
        return self._html(f"Sample {index} over epochs", body, "Batches")

    def _go(self, request: Request) -> Response:
        epoch = request.query_params.get("epoch")
        if epoch:
            number = self._inspector.first_of_epoch(_whole(epoch, "epoch"))
        else:
            number = _whole(request.query_params.get("batch"), "batch")
        return RedirectResponse(f"{self._root}batches/{number}")

    def _find(self, request: Request) -> Response:
        text = request.query_params.get("text", "")
        return self._html(f"Files with {text!r}", found_page(self._inspector, text, self._root), "Batches")

    def _data(self, request: Request) -> Response:
        return self._html(
            "Data", data_page(self._survey, self._inspector, self._root, self._names_of), "Data"
        )

    async def _start_survey(self, request: Request) -> Response:
        form = urllib.parse.parse_qs((await request.body()).decode("ascii", "replace"))
        text = form.get("samples", ["0"])[0]
        try:
            self._survey.start(_whole(text, "samples"))
        except ValueError as error:
            return self._html("This is not a number of samples", error_box(error), "Data", status=400)
        return RedirectResponse(f"{self._root}data", 303, SECURITY)

    def _measure(self, shown: str) -> Response:
        self._times.measure()
        return RedirectResponse(f"{self._root}{shown}", 303)


def _disconnected() -> Response:
    return Response("the viewer is closed", 503, media_type="text/plain")


def _whole(text: str | None, name: str) -> int:
    """Parses a number, at least 0, from a form; returns 0 if the form has no number."""
    try:
        number = int(text or 0)
    except ValueError:
        raise ValueError(f"{name} must be a whole number, not {text!r}") from None
    if not 0 <= number < _MOST:
        raise ValueError(f"{name} is {number}, it must be at least 0 and less than {_MOST}")
    return number
