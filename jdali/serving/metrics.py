"""Counts and times of a server, in the text format of Prometheus."""

from __future__ import annotations

import bisect
import threading
from collections.abc import Sequence

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SAMPLES = (1, 2, 4, 8, 16, 32, 64, 128)


class Histogram:
    """Counts values in buckets.

    Args:
        name, text: of the metric.
        bounds: upper ends of the buckets, ascending.
    """

    def __init__(self, name: str, text: str, bounds: Sequence[float]):
        self._name, self._text, self._bounds = name, text, bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        """Counts a value."""
        self._counts[bisect.bisect_left(self._bounds, value)] += 1
        self._sum += value

    def lines(self) -> list[str]:
        """Returns its lines of text."""
        lines, total = [f"# HELP {self._name} {self._text}", f"# TYPE {self._name} histogram"], 0
        for bound, count in zip([*map(str, self._bounds), "+Inf"], self._counts, strict=True):
            total += count
            lines.append(f'{self._name}_bucket{{le="{bound}"}} {total}')
        return [*lines, f"{self._name}_sum {self._sum}", f"{self._name}_count {total}"]


class ServerMetrics:
    """The metrics of one server."""

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
        """Counts an answer."""
        with self._lock:
            self._requests[status] = self._requests.get(status, 0) + 1
            self._seconds.observe(seconds)

    def batch(self, samples: int) -> None:
        """Counts a batch."""
        with self._lock:
            self._samples.observe(samples)

    def text(self, waiting: int) -> str:
        """Returns all of them as text; `waiting` requests wait for a batch."""
        with self._lock:
            counted = [
                f'jdali_requests_total{{code="{code}"}} {count}'
                for code, count in sorted(self._requests.items())
            ]
            lines = [
                "# HELP jdali_requests_total Answers by their HTTP status.",
                "# TYPE jdali_requests_total counter", *counted,
                "# HELP jdali_requests_waiting Requests that wait for a batch.",
                "# TYPE jdali_requests_waiting gauge", f"jdali_requests_waiting {waiting}",
                *self._seconds.lines(), *self._samples.lines(),
            ]  # fmt: skip
        return "\n".join(lines) + "\n"
