"""Kinds of operators that run on the host: NumPy functions, decoders, readers, and those that only move samples."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np

from jdali._batches import BatchSpec, SamplesBlock, Store, check_alike
from jdali._operators.base import (
    Arguments,
    Operator,
    OperatorOptions,
    OptionalInputOptions,
    OutputOptions,
    SetupOptions,
    WholeBatch,
    decorator,
)
from jdali._operators.scaled import ScaledDecoding

OutputLayouts: TypeAlias = "Callable[[Arguments], tuple[str, ...]]"


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class HostOptions(OptionalInputOptions):
    """Options of `host_operator`.

    Attributes:
        effects: it may do more than return its outputs: it runs also if nobody uses them, and on the samples in
            their order, never on two at once.
        output_layouts: without `setup`: the layout of each output ("" for none), as a function of the static
            arguments; None: no output has a layout.
        work: for reports of times: "decoding", "user code", or "" for any other work.
    """

    effects: bool = False
    output_layouts: OutputLayouts | None = None
    work: str = ""


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class HostOp(Operator, HostOptions):
    """A function of NumPy arrays, called for one sample after another in the thread pool.

    The key of a random one is None: its `setup` has all of them.
    """


host_operator = decorator(
    "host_operator",
    HostOp,
    HostOptions,
    "Makes a `HostOp` of a function of one sample, and registers it.",
)


Share: TypeAlias = "Callable[[Callable[[slice], None], int], None]"
"""share(work, n) calls `work` with slices that make up the range from 0 to n, in some threads, and waits."""


class Workers(Protocol):
    """The threads of a pipeline, as an operator may use them."""

    def share(self, work: Callable[[slice], None], count: int) -> None:
        """Calls `work` with slices that make up the range from 0 to `count`, in some threads, and waits."""

    def each(self, work: Callable[[int], object], count: int) -> tuple[list[Any], dict[int, Exception]]:
        """Calls work(0), ..., work(count - 1) in some threads; returns the results, and what those raised that failed.

        The result of one that failed is None.
        """


class Probed(NamedTuple):
    """Headers of some encoded samples.

    Attributes:
        extents: int64 [n, ndim], sizes of the whole contents; of samples that failed they are unspecified.
        dtype: of the contents.
        headers: what `run` gets of them, as `headers`. If they have a method `select`, select(rows) are those of some
            samples, none of which has failed; else these are probed once more.
        failures: what is wrong with the others, by their index.
    """

    extents: np.ndarray
    dtype: np.dtype
    headers: Any
    failures: dict[int, Exception]


class HostOutputs(NamedTuple):
    """The outputs of some samples.

    Attributes:
        columns: for each output all samples in order; those that failed are unspecified there. The blocks are in
            host memory or on a device. Empty if all failed.
        failures: what is wrong with them, by their index.
    """

    columns: tuple[Store, ...]
    failures: dict[int, Exception]

    @classmethod
    def of_samples(
        cls, results: Sequence[Any], failures: dict[int, Exception], layouts: Sequence[str]
    ) -> HostOutputs:
        """Collects what `Workers.each` gave: an array a sample, or a tuple of them if there are several `layouts`."""
        first = next((i for i in range(len(results)) if i not in failures), None)
        if first is None:
            return cls((), failures)
        if failures:
            results = [results[first] if i in failures else result for i, result in enumerate(results)]
        if len(layouts) == 1:
            return cls((column(results, layouts[0]),), failures)
        return cls(tuple(map(column, zip(*results, strict=True), layouts)), failures)


def column(samples: Sequence[np.ndarray], layout: str) -> Store:
    """Makes an output of samples that are arrays of their own.

    Raises:
        SampleError: one is of another type or number of axes than the first.
        ValueError: the layout does not describe them.
    """
    if not samples:
        return Store.empty(
            BatchSpec(np.zeros((0, max(len(layout), 1)), np.int64), np.dtype(np.uint8), layout)
        )
    check_alike(samples)
    if layout and len(layout) != samples[0].ndim:
        raise ValueError(f"The layout {layout!r} is not valid for {samples[0].ndim}-dimensional tensor")
    return Store.of_block(SamplesBlock(samples), BatchSpec.of(samples, layout))


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class HostBatchOptions(SetupOptions):
    """Options of `host_batch_operator`.

    Attributes:
        probe: `probe(samples, **static arguments)` reads the headers of some encoded samples. `setup` then gets the
            spec of the contents in place of that of the encoded bytes, and sizes are known before anything is
            decoded.
        effects: it may do more than return its outputs: it runs also if nobody uses them, and on one batch at a time.
        whole_batch: results for a sample depend on the others of the batch, as a function of the arguments that
            returns a bool; None: never.
        in_place: its inputs are `TensorList`s, wherever they are, and not read by the host.
        joins: the names of what its inputs were made of are joined by ";", as those of what is pasted.
        scales: fractions of their sizes at which it can decode pictures; None: whole sizes only.
        work: for reports of times: "decoding", "user code", or "" for any other work.
    """

    probe: Callable[..., Probed] | None = None
    effects: bool = False
    whole_batch: WholeBatch | None = None
    in_place: bool = False
    joins: bool = False
    scales: ScaledDecoding | None = None
    work: str = ""


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class HostBatchOp(Operator, HostBatchOptions):
    """A function of many samples that returns `HostOutputs`: blocks in host memory, or on the device that it is asked for.

    It gets a list of NumPy arrays an input; a per-sample argument is an array [n, ...], or one value for all. Its
    `run` may have, to be filled in: `workers` (`Workers`), `device` (the `jax.Device` of its outputs), `headers` (of
    `Probed`), and `scaled` (`Scaled`, with `scales`). The key of a random one is None: its `setup` has all of them.

    Samples must not depend on each other, except where `whole_batch` says so: the engine may call it for some
    samples of a batch only, if it has made the others already.
    """

    may_ask_for: ClassVar[tuple[str, ...]] = ("workers", "device", "headers", "scaled")

    def __post_init__(self) -> None:
        if "headers" in self.engine_parameters and self.probe is None:
            raise TypeError(f"{self.name}: headers are of a probe, and it has none")
        if self.probe is not None and self.in_place:
            raise TypeError(f"{self.name}: a probe reads samples on the host, so not with in_place")
        if (self.scales is None) is ("scaled" in self.engine_parameters):
            raise TypeError(f"{self.name}: scales go with the parameter `scaled` of its function")

    @property
    def chosen_samples(self) -> str | None:
        return "" if self.joins else None

    def mixes_samples(self, arguments: Arguments) -> bool:
        return self.depends_on_batch(arguments)


host_batch_operator = decorator(
    "host_batch_operator",
    HostBatchOp,
    HostBatchOptions,
    "Makes a `HostBatchOp` of a function of many samples, and registers it.",
)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class ReaderOp(Operator, OutputOptions):
    """A function of arguments that returns a `Reader`, which is asked for samples by their index.

    Of data from outside of the pipeline it is only the signature: the engine has the object that yields them.
    """


reader = decorator(
    "reader",
    ReaderOp,
    OutputOptions,
    "Makes a `ReaderOp` of a function that opens a reader, and registers it.",
)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class IndexOptions(OperatorOptions):
    """Options of `index_operator`.

    Attributes:
        same_samples: the output has the samples of the input, in their order.
    """

    same_samples: bool = False


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class IndexOp(Operator, IndexOptions):
    """A function of `TensorList`s that returns one with other indices over the same blocks, or what is known of them.

    Per-sample arguments are `TensorList`s as well, or one value. No sample is touched, wherever it is.
    """

    def by_sample(self, arguments: Arguments) -> bool:
        return False


index_operator = decorator(
    "index_operator",
    IndexOp,
    IndexOptions,
    "Makes an `IndexOp` of a function of batches, and registers it.",
)
