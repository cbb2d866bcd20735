"""Defines the results of `jdali.statistics`, and prints them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from jdali._display import named
from jdali._errors import SkippedSample

_MOST_LABELS = 10


class Range(NamedTuple):
    """The smallest, mean and largest value of a size or a duration."""

    smallest: float
    mean: float
    largest: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Range:
        return cls(min(values), math.fsum(values) / len(values), max(values))

    def __str__(self) -> str:
        if self.smallest == self.largest:
            return f"{self.smallest:g}"
        return f"{self.smallest:g} to {self.largest:g} (mean {self.mean:.5g})"


@dataclasses.dataclass(frozen=True)
class OutputStatistics:
    """The statistics of one output of a pipeline.

    Attributes:
        name: name of the output, "output 0" for instance.
        kind: "values", "labels" or "bytes".
        dtype: element type.
        layout: layout of a sample; "" if unknown.
        sizes: range of the number of elements along each axis, by the axis's letter in the layout, or by its index without a
            layout.
        duration: seconds of sounds; None if their sampling rate is unknown.
        mean: mean by channel, in the units of the data. It is one number for data without channels, and empty for labels and
            bytes.
        std: standard deviation by channel over all values, as NumPy's `std` computes it.
        range: smallest and largest value.
        not_finite: number of values that are NaN or infinite; the statistics leave them out.
        labels: number of occurrences of each label; in a sample with several objects, each object counts.
        other_channels: number of samples left out of `mean`, `std` and `range`, because their number of channels is not the
            most frequent.
        classes: class names of the labels; empty if unknown.
    """

    name: str
    kind: str
    dtype: str
    layout: str
    sizes: Mapping[str, Range]
    duration: Range | None = None
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    range: tuple[float, float] | None = None
    not_finite: int = 0
    labels: Mapping[int, int] = dataclasses.field(default_factory=dict)
    other_channels: int = 0
    classes: Sequence[str] | Mapping[int, str] = ()

    def text(self) -> str:
        """Returns a summary in one line."""
        if self.kind == "labels":
            return f"{self.name}: {self._labels_text()}"
        what = "bytes" if self.kind == "bytes" else " ".join(filter(None, [self.layout, self.dtype]))
        parts = [f"{_AXES.get(axis, f'axis {axis}')} {size}" for axis, size in self.sizes.items()]
        if self.duration is not None:
            parts.append(f"seconds {self.duration}")
        if self.range is not None:
            parts.append(f"values {self.range[0]:g} to {self.range[1]:g}")
        if self.not_finite:
            parts.append(f"{self.not_finite} values are NaN or infinite, and left out")
        if self.other_channels:
            parts.append(
                f"{self.other_channels} samples have another number of channels, and are left out of the mean"
            )
        return f"{self.name}: {what}, {', '.join(parts)}"

    def _labels_text(self) -> str:
        def name(label: int) -> str:
            return named(label, self.classes)

        often = sorted(self.labels.items(), key=lambda item: (-item[1], item[0]))
        if len(often) <= _MOST_LABELS:
            return f"{len(often)} labels: " + ", ".join(f"{name(k)} {n} times" for k, n in sorted(often))
        (most, times), (least, seldom) = often[0], often[-1]
        return (
            f"{len(often)} labels from {min(self.labels)} to {max(self.labels)}; "
            f"{name(most)} comes most, {times} times, {name(least)} least, {seldom} times"
        )


_AXES = {
    "H": "height", "W": "width", "D": "depth", "C": "channels", "F": "frames", "t": "length", "f": "frequencies",
}  # fmt: skip


@dataclasses.dataclass(frozen=True, repr=False)
class Statistics:
    """The results of `jdali.statistics`. The last printed line has `mean` and `std` as arguments of `crop_mirror_normalize`.

    Attributes:
        samples: number of measured samples, not counting bad samples.
        bad: samples that could not be read or decoded.
        outputs: statistics of each output of the pipeline, in order.
        classes: class names of the first output that has labels with names, by label.
    """

    samples: int
    bad: tuple[SkippedSample, ...]
    outputs: tuple[OutputStatistics, ...]
    classes: Sequence[str] | Mapping[int, str] = ()

    @property
    def mean(self) -> tuple[float, ...]:
        """Returns `mean` of the first output with values; empty if no output has values."""
        return self._main.mean if self._main else ()

    @property
    def std(self) -> tuple[float, ...]:
        """Returns `std` of the first output with values; empty if no output has values."""
        return self._main.std if self._main else ()

    @property
    def labels(self) -> Mapping[int, int]:
        """Returns `labels` of the first output with labels; empty if no output has labels."""
        return next((output.labels for output in self.outputs if output.kind == "labels"), {})

    @property
    def _main(self) -> OutputStatistics | None:
        return next((output for output in self.outputs if output.kind == "values"), None)

    def __repr__(self) -> str:
        lines = [f"{self.samples} samples" + (f", and {len(self.bad)} bad ones:" if self.bad else "")]
        lines += [f"  {sample.path}: {sample.reason}" for sample in self.bad[:_MOST_LABELS]]
        if len(self.bad) > _MOST_LABELS:
            lines.append(f"  and {len(self.bad) - _MOST_LABELS} more, in `bad`")
        lines += [output.text() for output in self.outputs]
        if self._main is not None:
            lines.append(f"mean={_pasted(self.mean)}, std={_pasted(self.std)}")
        return "\n".join(lines)


def _pasted(values: tuple[float, ...]) -> str:
    return "[" + ", ".join(f"{value:.6g}" for value in values) + "]"
