"""Measures a data set in the background: sizes, labels, mean and deviation by channel, and bad files."""

from __future__ import annotations

import threading

import numpy as np

from jdali._errors import SkippedSample
from jdali._statistics.outputs import Output
from jdali._viewer.hints import NamesOf, nameless
from jdali.engine.eager import PipelineInspector, SeenBatch


class Survey:
    """Reads batches in a background thread until it has seen enough samples.

    Attributes:
        outputs: results so far.
        bad: samples that failed.
        seen, wanted: number of samples measured so far, and number to measure.
        error: message of the error that ended the survey early; "" without an error.
    """

    def __init__(self, inspector: PipelineInspector, names_of: NamesOf = nameless):
        self._inspector, self._names_of = inspector, names_of
        self.outputs: list[Output] = []
        self.bad: list[SkippedSample] = []
        self.seen = self.wanted = 0
        self.error = ""
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self, samples: int) -> None:
        """Starts the survey anew; does nothing while it is running."""
        if self.is_running:
            return
        named = zip(self._inspector.output_names, self._inspector.outputs, strict=True)
        self.outputs = [Output(name, value, self._names_of(value)) for name, value in named]
        self.bad, self.seen, self.wanted, self.error = [], 0, samples, ""
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="jdali-viewer-survey", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._inspector.check(-(-self.wanted // self._inspector.batch_size), self._add)
        except Exception as error:  # the page shows it
            self.error = str(error)

    def _add(self, batch: SeenBatch) -> bool:
        known = {(sample.path, sample.index) for sample in self.bad}  # found in an earlier epoch
        self.bad += [e for e in batch.errors if (e.path, e.index) not in known]
        if batch.result is not None:
            good = np.flatnonzero(batch.result.mask & ~batch.result.padded)[: self.wanted - self.seen]
            for output, samples in zip(self.outputs, batch.result.outputs, strict=True):
                output.add(samples, good)
            self.seen += len(good)
        return self.seen < self.wanted and not self._stop.is_set()

    def stop(self) -> None:
        self._stop.set()

    def join(self, seconds: float) -> None:
        if self._thread is not None:
            self._thread.join(seconds)
