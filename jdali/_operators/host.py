"""Defines the kinds of operators that run on the host: NumPy functions, decoders, readers, operators that move samples."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import jax
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
from jdali._operators.schema import ArgKind

OutputLayouts: TypeAlias = "Callable[[Arguments], tuple[str, ...]]"


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class HostOptions(OptionalInputOptions):
    """Options of `host_operator`.

    Attributes:
        effects: True if the function may have side effects. It then runs even if its outputs are not used, on one sample
            after another, in order.
        output_layouts: function of the static arguments that returns the layout of each output ("" for none), for an
            operator without `setup`; None: no output has a layout.
        work: kind of work, for reports of times: "decoding", "user code", or "" for any other.
    """

    effects: bool = False
    output_layouts: OutputLayouts | None = None
    work: str = ""


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class HostOp(Operator, HostOptions):
    """A function of NumPy arrays, called for each sample in the thread pool.

    If the operator is random, `setup` gets the keys, and `run` gets None as `key`.
    """


host_operator = decorator(
    "host_operator",
    HostOp,
    HostOptions,
    "Makes a `HostOp` of a function of one sample, and registers it.",
)


Share: TypeAlias = "Callable[[Callable[[slice], None], int], None]"
"""share(work, n) calls `work` in several threads, with slices that together cover range(n), and waits."""


class Workers(Protocol):
    """Lets an operator use the threads of a pipeline."""

    def share(self, work: Callable[[slice], None], count: int) -> None:
        """Calls `work` in several threads, with slices that together cover range(count), and waits."""

    def each(self, work: Callable[[int], object], count: int) -> tuple[list[Any], dict[int, Exception]]:
        """Calls work(0), ..., work(count - 1) in several threads. Returns results and errors by index.

        The result of a failed call is None.
        """


class Probed(NamedTuple):
    """The headers of some encoded samples.

    Attributes:
        extents: int64 [n, ndim], sizes of the decoded contents, before any crop; unspecified for samples that failed.
        dtype: element type of the contents, and of the outputs.
        headers: object that `run` gets. If it has a method `select`, select(rows) returns the headers of some of the samples.
            If not, samples are probed again when `run` is called for only some of them.
        failures: errors of bad samples, by index.
        layout: layout of the contents, and of the outputs, if all files have the same; "" if it depends on the data.
    """

    extents: np.ndarray
    dtype: np.dtype
    headers: Any
    failures: dict[int, Exception]
    layout: str = ""

    @property
    def contents(self) -> BatchSpec:
        return BatchSpec(self.extents, self.dtype, self.layout)


class DeviceDecoding(NamedTuple):
    """Decodes samples on an accelerator. Both functions also get the arguments of the operator.

    Attributes:
        rows: `rows(samples, headers, device)` returns bool [n], True for samples that can be decoded on the device.
        padded: `padded(samples, shape, count, device)` decodes into the first rows of an array [count, *shape] on the
            device; all other elements are unspecified. If a sample fails, the host decodes all samples of the batch.
    """

    rows: Callable[..., np.ndarray]
    padded: Callable[..., jax.Array]


class HostOutputs(NamedTuple):
    """The outputs of some samples.

    Attributes:
        columns: for each output, all samples in order, in host memory or on a device; unspecified for samples that failed.
            Empty if all samples failed.
        failures: errors of bad samples, by index.
    """

    columns: tuple[Store, ...]
    failures: dict[int, Exception]

    @classmethod
    def of_samples(
        cls, results: Sequence[Any], failures: dict[int, Exception], layouts: Sequence[str]
    ) -> HostOutputs:
        """Collects results of `Workers.each`, which are arrays, or tuples of arrays if there are several `layouts`."""
        first = next((i for i in range(len(results)) if i not in failures), None)
        if first is None:
            return cls((), failures)
        if failures:
            results = [results[first] if i in failures else result for i, result in enumerate(results)]
        if len(layouts) == 1:
            return cls((column(results, layouts[0]),), failures)
        return cls(tuple(map(column, zip(*results, strict=True), layouts)), failures)


def column(samples: Sequence[np.ndarray], layout: str) -> Store:
    """Makes an output from samples that are separate arrays.

    Raises:
        SampleError: a sample has another type or number of axes than the first.
        ValueError: the layout does not fit the samples.
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
        probe: `probe(samples, **static arguments)` reads the headers of some encoded samples, so that sizes are known before
            anything is decoded. `setup` then gets the spec of the contents, not the spec of the encoded bytes.
        effects: True if the function may have side effects. It then runs even if its outputs are not used, on one batch at
            a time.
        whole_batch: function of the arguments that returns True if a sample's result depends on other samples of the batch;
            None: it never does.
        in_place: True if the function takes `TensorList`s, on any device, and does not read their values.
        joins: True if the name of an output sample consists of the names of all input samples, joined by ";".
        scales: scales at which a picture can be decoded; None: full size only.
        on_device: decodes samples on an accelerator, for operators with the device "mixed"; None: the host decodes.
        work: kind of work, for reports of times: "decoding", "user code", or "" for any other.
    """

    probe: Callable[..., Probed] | None = None
    effects: bool = False
    whole_batch: WholeBatch | None = None
    in_place: bool = False
    joins: bool = False
    scales: ScaledDecoding | None = None
    on_device: DeviceDecoding | None = None
    work: str = ""


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class HostBatchOp(Operator, HostBatchOptions):
    """A function of many samples that returns `HostOutputs`: blocks in host memory, or on the given device.

    `run` gets a list of NumPy arrays for each input; a per-sample argument is an array [n, ...], or one value for all.
    The engine fills in these parameters of `run`: `workers` (`Workers`), `device` (the `jax.Device` of the outputs),
    `headers` (of `Probed`), and `scaled` (`Scaled`, if the operator has `scales`). If the operator is random, `setup`
    gets the keys, and `run` gets None as `key`.

    Samples must not depend on each other unless `whole_batch` is true, because the engine may call `run` for only some samples
    of a batch.
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

    def probing(self, arguments: Arguments) -> Callable[[Sequence[np.ndarray]], Probed] | None:
        """Returns the probe with the user's arguments; None if the operator has no probe."""
        if self.probe is None:
            return None
        bound = self.bind(arguments)
        static = {n: arg.convert(bound[n]) for n, arg in self.args.items() if arg.kind is ArgKind.STATIC}
        return functools.partial(self.probe, **static)


host_batch_operator = decorator(
    "host_batch_operator",
    HostBatchOp,
    HostBatchOptions,
    "Makes a `HostBatchOp` of a function of many samples, and registers it.",
)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class ReaderOp(Operator, OutputOptions):
    """A function of arguments that returns a `Reader`, which loads samples by index.

    For an external source, only the signature is used; the data come from the user's source.
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
        same_samples: True if the output has the samples of the input, in their order.
    """

    same_samples: bool = False


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class IndexOp(Operator, IndexOptions):
    """A function of `TensorList`s that selects or reorders samples without a copy, or returns properties of the samples.

    Per-sample arguments are `TensorList`s too, or one value for all samples. The function does not read the elements of its
    inputs, so samples may be on any device.
    """


index_operator = decorator(
    "index_operator",
    IndexOp,
    IndexOptions,
    "Makes an `IndexOp` of a function of batches, and registers it.",
)
