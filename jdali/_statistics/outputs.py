"""Collects sizes, values and labels of the outputs of a pipeline."""

from __future__ import annotations

import collections
from collections.abc import Sequence

import numpy as np

from jdali._statistics.moments import Moments
from jdali._statistics.results import OutputStatistics, Range
from jdali.graph import DataNode
from jdali.readers.base import ClassNames
from jdali.tensors import TensorList

_MOST_CHANNELS = 4
_SOUND = "decoders.audio"


class Output:
    """Collects sizes, values and labels of one output. `classes` are the names of the labels; empty if unknown."""

    def __init__(self, name: str, node: DataNode, classes: ClassNames):
        self.name, self.source, self.index, self._classes = name, node.source, node.index, classes
        self._extents: list[np.ndarray] = []
        self._numbers: list[np.ndarray] = []
        self._moments: dict[int, Moments] = {}  # moments by number of channels
        self._samples: collections.Counter[int] = collections.Counter()  # samples by number of channels
        self._objects: collections.Counter[int] = collections.Counter()  # number of objects, by label
        self._dtype, self._layout = np.dtype(np.uint8), ""

    def add(self, batch: TensorList, chosen: np.ndarray) -> None:
        """Adds the samples at the positions `chosen` of a batch."""
        if not len(chosen):
            return
        self._dtype, self._layout = batch.spec.dtype, batch.layout()
        extents = batch.spec.extents[chosen]
        self._extents.append(extents)
        samples = batch.to_samples()
        if self._classes and self._dtype.kind in "iu":
            self._objects.update(label for i in chosen for label in samples[i].reshape(-1).tolist())
            return
        if (extents.prod(axis=1) == 1).all():
            self._numbers.append(np.array([samples[i].reshape(()) for i in chosen]))
        elif self._dtype == np.uint8 and extents.shape[1] == 1:  # bytes
            return
        for i in chosen:
            values = self._by_channel(samples[i])
            channels = values.shape[-1]
            self._samples[channels] += 1
            if channels not in self._moments:
                self._moments[channels] = Moments(channels)
            self._moments[channels].add(values)

    @property
    def is_sound(self) -> bool:
        """Returns True for the first output of `decoders.audio`."""
        return self.source.op.name == _SOUND and self.index == 0

    @property
    def extents(self) -> np.ndarray:
        """Returns the samples' sizes, [n, ndim]; leaves out batches with another number of axes than the first."""
        if not self._extents:
            return np.zeros((0, 0), np.int64)
        return np.concatenate([some for some in self._extents if some.shape[1] == self._extents[0].shape[1]])

    @property
    def numbers(self) -> np.ndarray | None:
        """Returns the samples, [n], if each sample is one number, else None."""
        every = len(self._numbers) == len(self._extents) > 0
        return np.concatenate(self._numbers) if every else None

    def _by_channel(self, values: np.ndarray) -> np.ndarray:
        """Arranges values as [..., channels]. All channels of a sound count as one, and data without channels have one."""
        axis = None if self.is_sound else self._channel_axis(values)
        if axis is None or not values.shape[axis]:
            return values.reshape(-1, 1)
        return np.moveaxis(values, axis, -1)

    def _channel_axis(self, values: np.ndarray) -> int | None:
        if self._layout:
            return self._layout.find("C") if "C" in self._layout and values.ndim > 1 else None
        if values.ndim < 3:
            return None
        return next((axis for axis in (-1, -3) if values.shape[axis] <= _MOST_CHANNELS), None)

    def statistics(self, rates: np.ndarray | None) -> OutputStatistics:
        """Returns the statistics of all samples so far; `rates` are sampling rates in Hz, if known."""
        name, dtype, numbers = self.name, str(self._dtype), self.numbers
        if self._objects:
            labels = dict(sorted(self._objects.items()))
            return OutputStatistics(
                name, "labels", dtype, self._layout, {}, labels=labels, classes=self._classes
            )
        if numbers is not None and numbers.dtype.kind in "iub":
            labels = dict(sorted(collections.Counter(map(int, numbers.tolist())).items()))
            return OutputStatistics(name, "labels", dtype, self._layout, {}, labels=labels)
        extents = self.extents
        axes = self._layout if len(self._layout) == extents.shape[1] else map(str, range(extents.shape[1]))
        sizes = {
            axis: Range.of(size.tolist()) for axis, size in zip(axes, extents.T, strict=True) if len(size)
        }
        if not self._moments:
            return OutputStatistics(name, "bytes", dtype, self._layout, sizes)
        channels, samples = self._samples.most_common(1)[0]
        moments = self._moments[channels]
        duration = None
        if self.is_sound and rates is not None and len(rates) == len(extents):
            duration = Range.of((extents[:, 0] / rates).tolist())
        return OutputStatistics(
            name, "values", dtype, self._layout, sizes, duration, moments.mean, moments.std, moments.range,
            moments.not_finite, other_channels=self._samples.total() - samples,
        )  # fmt: skip


def statistics_of(outputs: Sequence[Output]) -> tuple[OutputStatistics, ...]:
    """Computes the statistics of each output; adds durations of sounds if their sampling rates are also an output."""
    rates = {
        output.source: output.numbers
        for output in outputs
        if output.source.op.name == _SOUND and output.index
    }
    return tuple(output.statistics(rates.get(output.source)) for output in outputs)
