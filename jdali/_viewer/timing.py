"""The page of the time, live: which phase works how long, how full the queue is, who waits for whom."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from jdali._display import escape
from jdali._threads import Spent
from jdali._viewer.layout import error_box, table
from jdali._viewer.measure import measure_loop
from jdali.engine.eager import PipelineInspector
from jdali.pipeline import Pipeline
from jdali.profiler import Report, report_html

_WINDOW = 5.0  # seconds over which rates are shown
_BATCHES = 50


class LiveTimes:
    """Rates of a pipeline over the last seconds, and a loop of its own over another pipeline like it.

    Args:
        inspector: of the pipeline.
        make: makes another pipeline like it; None: none can be made.

    Attributes:
        step_times: of the steps of that pipeline, once it was measured.
    """

    def __init__(self, inspector: PipelineInspector, make: Callable[[], Pipeline] | None):
        self._inspector, self._make = inspector, make
        self._marks: list[tuple[float, list[tuple[str, str, Spent]]]] = []
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._report: Report | None = None
        self.step_times: list[Spent] = []
        self._error = ""
        self._done, self._seconds, self._lock = 0, 0.0, threading.Lock()

    # --- a loop of its own ------------------------------------------------------------------
    @property
    def is_measuring(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def measure(self) -> None:
        """Begins a loop over another pipeline; harmless while one runs."""
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
            try:
                self._report = measure_loop(pipe, _BATCHES, self._advance)
                self.step_times = pipe.inspector().step_times()
            finally:
                pipe.close()
        except Exception as error:  # shown on the page
            self._error = str(error)

    def _advance(self, done: int, seconds: float) -> bool:
        self._done, self._seconds = done, seconds
        return not self._stop.is_set()

    def stop(self) -> None:
        """Ends the loop, and waits for its batch."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=60)

    # --- pages ------------------------------------------------------------------------------
    def page(self, root: str) -> str:
        """The page, whose middle is fetched again and again."""
        form = ""
        if self._make is not None:
            button = f"<button>measure a loop of {_BATCHES} batches</button>"
            form = f'<form action="{root}time" method="post" class="jd-form">{button}</form>'
        return f'{form}<div id="live" data-live="{root}time/now">{self.now()}</div>'

    def now(self) -> str:
        """Rates of the last seconds, and the loop of its own."""
        parts = []
        if self.is_measuring or self._done:
            rate = self._done * self._inspector.batch_size / self._seconds if self._seconds else 0.0
            bar = f'<progress max="{_BATCHES}" value="{self._done}"></progress>'
            parts.append(
                f'<section class="jd-part"><h2>A loop that does nothing else</h2><p>{bar} {self._done} batches, '
                f"{rate:.1f} samples a second</p></section>"
            )
        if self._error:
            parts.append(error_box(self._error))
        if self._report is not None:
            parts.append(f'<section class="jd-part jd-report">{report_html(self._report)}</section>')
        return "".join([*parts, self._rates()])

    def _rates(self) -> str:
        with self._lock:
            now = time.monotonic()
            times = self._inspector.times()
            self._marks = [mark for mark in self._marks if now - mark[0] < _WINDOW] or [(now, times)]
            if self._marks[-1][0] < now:
                self._marks.append((now, times))
            began, before = self._marks[0]
        elapsed = max(now - began, 1e-9)
        rows, batches = [], 0
        for (kind, name, spent), (_, _, old) in zip(times, before, strict=True):
            new = spent - old
            batches = max(batches, new.count)
            each = f"{new.seconds / new.count * 1e3:.1f} ms" if new.count else "–"
            rows.append(
                [
                    escape(kind),
                    escape(name),
                    each,
                    f'<meter max="1" value="{min(new.seconds / elapsed, 1):.3f}"></meter>',
                    str(spent.count),
                ]
            )
        ready, depth = self._inspector.waiting()
        rate = batches * self._inspector.batch_size / elapsed
        facts = f"<p>{rate:.1f} samples a second · {_queue(ready, depth, batches)}</p>"
        shown = table(["phase", "operators", "a batch", "busy", "batches"], rows)
        return f'<section class="jd-part"><h2>The pipeline, the last {elapsed:.0f} s</h2>{facts}{shown}</section>'


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
