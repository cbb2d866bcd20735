"""Measures a data set in the background: sizes, labels, mean and deviation by channel, and bad files."""

from __future__ import annotations

import collections
import dataclasses
import threading

import numpy as np
from numpy.typing import NDArray

from jdali._errors import SkippedSample
from jdali._statistics import Moments
from jdali.engine.eager import PipelineInspector, SeenBatch

_MOST_VALUES = 100_000


@dataclasses.dataclass
class OutputSurvey:
    """Collects statistics of one output.

    Attributes:
        name: name of the output.
        layout, dtype: layout and type of a sample.
        sizes: shapes of the samples.
        labels: counts by value, if a sample is a single integer.
        numbers: the values, if a sample is a single float.
        moments: mean and deviation by channel; None if the output has no values to average.
    """

    name: str
    layout: str = ""
    dtype: str = ""
    sizes: list[tuple[int, ...]] = dataclasses.field(default_factory=list)
    labels: collections.Counter[int] = dataclasses.field(default_factory=collections.Counter)
    numbers: list[float] = dataclasses.field(default_factory=list)
    moments: Moments | None = None

    def add(self, array: NDArray[np.generic], layout: str) -> None:
        self.layout, self.dtype = layout, str(array.dtype)
        if len(self.sizes) < _MOST_VALUES:
            self.sizes.append(array.shape)
        if array.size == 1 and array.ndim <= 1:
            if array.dtype.kind in "iub":
                self.labels[int(array.reshape(-1)[0])] += 1
            elif len(self.numbers) < _MOST_VALUES:
                self.numbers.append(float(array.reshape(-1)[0]))
        elif array.dtype.kind in "iuf" and not (array.dtype == np.uint8 and array.ndim == 1) and array.size:
            self._add_values(array)

    def _add_values(self, array: NDArray[np.generic]) -> None:
        axis = self.layout.find("C")
        values = np.moveaxis(array, axis, -1) if axis >= 0 else array[..., None]
        if self.moments is None:
            self.moments = Moments(values.shape[-1])
        if len(self.moments.mean) == values.shape[-1]:
            self.moments.add(values)


class Survey:
    """Reads batches in a background thread until it has seen enough samples.

    Attributes:
        outputs: results so far.
        bad: samples that failed.
        seen, wanted: number of samples measured so far, and number to measure.
        error: message of the error that ended the survey early; "" without an error.
    """

    def __init__(self, inspector: PipelineInspector):
        self._inspector = inspector
        self.outputs: list[OutputSurvey] = []
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
        self.outputs = [OutputSurvey(name) for name in self._inspector.output_names]
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
            good = np.flatnonzero(batch.result.mask & ~batch.result.padded)[
                : self.wanted - self.seen
            ].tolist()
            for survey, output in zip(self.outputs, batch.result.outputs, strict=True):
                samples = output.to_samples()
                for i in good:
                    survey.add(samples[i], output.layout())
            self.seen += len(good)
        return self.seen < self.wanted and not self._stop.is_set()

    def stop(self) -> None:
        self._stop.set()

    def join(self, seconds: float) -> None:
        if self._thread is not None:
            self._thread.join(seconds)
