"""Renders the live page of times: how long each phase takes, how full the queue is, and which part waits."""

from __future__ import annotations

import collections
import contextlib
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from jdali._display import curve_svg, escape
from jdali._threads import Spent
from jdali._viewer.layout import error_box, table
from jdali._viewer.measure import measure_loop
from jdali.engine.eager import PipelineInspector
from jdali.iterator import loop_over
from jdali.pipeline import Pipeline
from jdali.profiler import Report, report_html

_WINDOW = 5.0  # seconds over which rates are averaged
_BATCHES = 50
_HISTORY = 120  # points of a curve
_APART = 0.5  # seconds between points of a curve


class Moment(NamedTuple):
    """A point of the curves: samples per second, averaged over `_WINDOW`, and number of ready batches."""

    rate: float
    ready: int


class LiveTimes:
    """Shows a pipeline's rates, the report of the user's loop, and a measured loop over a new, equal pipeline.

    Args:
        make: returns a new pipeline like the shown pipeline; None if this is not possible.
        pipe: returns the pipeline, or None after the pipeline was freed.

    Attributes:
        measured: times of the measured pipeline's steps and workers; None before a measurement.
    """

    def __init__(
        self, inspector: PipelineInspector, make: Callable[[], Pipeline] | None, pipe: Callable[[], Pipeline | None]
    ):  # fmt: skip
        self._inspector, self._make, self._pipe = inspector, make, pipe
        self._marks: list[tuple[float, list[tuple[str, str, Spent]]]] = []
        self._history: collections.deque[Moment] = collections.deque(maxlen=_HISTORY)
        self._noted = 0.0
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._measuring: Pipeline | None = None
        self._report: Report | None = None
        self.measured: tuple[list[Spent], Spent | None] | None = None
        self._error = ""
        self._done, self._seconds, self._lock = 0, 0.0, threading.Lock()

    @property
    def is_measuring(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def measure(self) -> None:
        """Starts a loop over a new pipeline; does nothing while such a loop is running."""
        if self._make is None or self.is_measuring:
            return
        self._done, self._report, self._error = 0, None, ""
        self._stop.clear()
        self._thread = threading.Thread(target=self._measure, name="jdali-viewer-loop", daemon=True)
        self._thread.start()

    def _measure(self) -> None:
        assert self._make is not None
        try:
            pipe = self._make()
            if pipe is self._pipe():
                raise ValueError(
                    "this pipeline itself is not measured: name a function that makes one like it"
                )
            self._measuring = pipe
            try:
                self._report = measure_loop(pipe, _BATCHES, self._advance)
                inspector = pipe.inspector()
                self.measured = inspector.step_times(), inspector.worker_time()
            finally:
                self._measuring = None
                pipe.close()
        except Exception as error:  # the page shows it
            self._error = str(error)

    def _advance(self, done: int, seconds: float) -> bool:
        self._done, self._seconds = done, seconds
        return not self._stop.is_set()

    def stop(self) -> None:
        self._stop.set()
        if (pipe := self._measuring) is not None:
            pipe.close()

    def join(self, seconds: float) -> None:
        if self._thread is not None:
            self._thread.join(seconds)

    def form(self, root: str, page: str) -> str:
        """Renders the button that starts a measurement; "" if `make` is None."""
        if self._make is None:
            return ""
        button = f"<button>measure a loop of {_BATCHES} batches</button>"
        return f'<form action="{root}{page}" method="post" class="jd-form">{button}</form>'

    def page(self, root: str) -> str:
        """Renders the page; the browser refreshes the middle part with the result of `now`."""
        return f'{self.form(root, "time")}<div id="live" data-live="{root}time/now">{self.now()}</div>'

    def now(self) -> str:
        return "".join([self._loop(), self._own_loop(), self._rates()])

    def progress(self) -> str:
        """Renders the measured loop's progress while it runs, or its error."""
        if self._error:
            return error_box(self._error)
        if not self.is_measuring:
            return ""
        bar = f'<progress max="{_BATCHES}" value="{self._done}"></progress>'
        return f"<p>{bar} {self._done} of {_BATCHES} batches are measured</p>"

    def _loop(self) -> str:
        """Renders the report of the iterator over the pipeline; "" before its first batch."""
        pipe = self._pipe()
        loop = None if pipe is None else loop_over(pipe)
        report = None
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # the pipeline was closed
                report = loop.report()
        if report is None or not report.batches:
            return ""
        return self._section("The training loop, this epoch", report)

    def _section(self, title: str, report: Report) -> str:
        rate = report.batches * self._inspector.batch_size / max(report.seconds, 1e-9)
        return (
            f'<section class="jd-part jd-report"><h2>{title}</h2><p>{rate:.1f} samples a second</p>'
            f"{report_html(report)}</section>"
        )

    def _own_loop(self) -> str:
        progress = self.progress()
        report = self._report
        if report is not None:
            return progress + self._section("A loop that does nothing else, measured", report)
        return f'<section class="jd-part">{progress}</section>' if progress else ""

    def _rates(self) -> str:
        with self._lock:
            now = time.monotonic()
            parts = self._inspector.engine.timing.parts
            times = [(part.kind, part.name, part.spent()) for part in parts]
            self._marks = [mark for mark in self._marks if now - mark[0] < _WINDOW] or [(now, times)]
            if self._marks[-1][0] < now:
                self._marks.append((now, times))
            began, before = self._marks[0]
            elapsed = max(now - began, 1e-9)
            rows, batches = _rows(times, before, elapsed)
            ready, depth = self._inspector.waiting()
            moment = Moment(batches * self._inspector.batch_size / elapsed, min(ready, depth))
            if now - self._noted > _APART:  # several open pages may request the times at once
                self._history.append(moment)
                self._noted = now
            history = list(self._history)
        facts = f"<p>{moment.rate:.1f} samples a second · {_queue(ready, depth, batches)}</p>"
        shown = table(["phase", "a batch", "busy", "batches", "operators"], rows)
        title = f"<h2>The pipeline, the last {elapsed:.0f} s</h2>"
        return f'<section class="jd-part">{title}{facts}{_curves(history, depth)}{shown}</section>'


def _rows(
    times: list[tuple[str, str, Spent]], before: list[tuple[str, str, Spent]], elapsed: float
) -> tuple[list[list[str]], int]:
    """Builds a row for each phase; returns the rows, and the number of batches since `before`."""
    rows, batches = [], 0
    for (kind, name, spent), (_, _, old) in zip(times, before, strict=True):
        new = spent - old
        batches = max(batches, new.count)
        each = f"{new.seconds / new.count * 1e3:.1f} ms" if new.count else "–"
        meter = f'<meter max="1" value="{min(new.seconds / elapsed, 1):.3f}"></meter>'
        rows.append([escape(kind), each, meter, str(spent.count), escape(name)])
    return rows, batches


def _curves(history: list[Moment], depth: int) -> str:
    """Renders curves of the rates; "" until there are two points."""
    if len(history) < 2 or not any(moment.rate for moment in history):
        return ""
    curves: list[tuple[str, list[float], float | None]] = [
        ("samples a second", [moment.rate for moment in history], None)
    ]
    if depth:
        curves.append(
            (f"batches ready, of {depth}", [float(moment.ready) for moment in history], float(depth))
        )
    figures = "".join(
        f"<figure><figcaption>{title}</figcaption>{curve_svg(values, top, title)}</figure>"
        for title, values, top in curves
    )
    return f'<div class="jd-charts">{figures}</div>'


def _queue(ready: int, depth: int, batches: int) -> str:
    if not depth:
        return "batches are made when they are asked for"
    state = (
        "the loop waits for data"
        if not ready and batches
        else "data wait for the loop"
        if ready >= depth
        else ""
    )
    return f"{min(ready, depth)} of {depth} batches are ready" + (f": {state}" if state else "")
