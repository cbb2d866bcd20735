"""Defines the arguments of all readers, and their base class.

A reader of a format derives from `Reader` and implements `load`, which loads one sample, or `load_many`. Its operator is
a function that takes DALI's arguments and returns the reader::

    @reader(name="readers.file", outputs=2, devices=("cpu",))
    @also_takes(shuffle_options, reader_options)
    def file(*, file_root: Static[str | None] = None, **options: Any) -> Reader: ...
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from jdali._batches import BatchSpec, SamplesBlock, Store
from jdali._operators.record import Static
from jdali._storage import is_url
from jdali.readers.order.epochs import Order, SampleRefs
from jdali.readers.order.mixture import MixtureOrder
from jdali.readers.order.selection import SampleSelection, select
from jdali.readers.order.windows import WindowOrder

_ORDER_OPTIONS = (
    "shard_id", "num_shards", "random_shuffle", "shuffle_after_epoch", "stick_to_shard",
    "pad_last_batch", "seed",
)  # fmt: skip
_INITIAL_FILL = 1024
# Maximum number of files that one task reads. Starting a task takes as long as reading a few small files.
_FILES_A_TASK = 64
AnyOrder: TypeAlias = "Order | MixtureOrder | WindowOrder"
ClassNames: TypeAlias = "Sequence[str] | Mapping[int, str]"
"""Names of classes by label: a sequence from label 0 on, or a mapping."""


def reader_options(
    *,
    dont_use_mmap: Static[bool] = False,
    fold: Static[Any] = None,
    initial_fill: Static[int] = _INITIAL_FILL,
    lazy_init: Static[bool] = False,
    num_shards: Static[int] = 1,
    pad_last_batch: Static[bool] = False,
    prefetch_queue_depth: Static[int] = 1,
    random_shuffle: Static[bool] = False,
    read_ahead: Static[bool] = False,
    seed: Static[int] = -1,
    shard_id: Static[int] = 0,
    skip_cached_images: Static[bool] = False,
    stick_to_shard: Static[bool] = False,
    subset: Static[Any] = None,
    tensor_init_bytes: Static[int] = 1024 * 1024,
    weights: Static[Any] = None,
    _goes_on: Static[bool] = False,
) -> None:
    """Declares the arguments of every reader.

    Args:
        dont_use_mmap: do not map local files into memory. Only `readers.arrow` maps files.
        fold: (k, n) reads fold k of n; k may be a list: ([0, 2, 3], 4) leaves out fold 1. Folds divide the
            data set, or `subset`, at random, but always in the same way: on all shards and for all seeds. A reader
            that knows the classes of samples divides each class evenly. DALI has no such argument.
        initial_fill: size of the buffer of `random_shuffle`, in samples; 1 disables shuffling. Readers of files with
            many records read a shard from front to end, and mix records through this buffer. Other readers shuffle
            the whole shard and ignore the argument.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: number of parts that the data set is divided into, at most its size.
        pad_last_batch: repeat the last sample so that an epoch ends with a full batch, and has the same number of
            batches on all shards. Otherwise batches continue into the next epoch.
        prefetch_queue_depth: number of batches to fetch ahead from remote storage, besides the next one.
            `samples_ahead` of `jdali.storage` takes precedence.
        random_shuffle: read each shard in a random order, which is new in each epoch; see `initial_fill`.
        read_ahead: without effect: the reader always reads ahead as far as the order allows.
        seed: seed of the random order; -1: the pipeline's.
        shard_id: the part to read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not cached.
        stick_to_shard: read the same part in every epoch; otherwise each epoch reads the next part.
        subset: indices of the samples to read, each once, or a boolean for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement, with chances proportional to their weights: a list with a weight for
            each sample of the data set. A reader that knows the classes of samples also takes {class: weight of each of
            its samples}, and "balanced", which draws all classes equally often. An epoch has as many draws as there are
            samples to draw from; the draws depend on the seed, the epoch and the position. DALI has no such argument.
    """


def shuffle_options(
    *, shuffle_after_epoch: Static[bool] = False, shuffle_after_epoch_seed: Static[int | None] = None
) -> None:
    """Declares the arguments of readers that can shuffle between epochs.

    Args:
        shuffle_after_epoch: shuffle the whole data set before each epoch, including the first; each shard always
            takes the same slice of the new order. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: seed of these shuffles, the same on all shards; None: a fixed seed.
    """


class Loaded(NamedTuple):
    """Samples that were read together.

    Attributes:
        columns: for each output, the samples that could be read, in order.
        failures: errors of the samples that could not be read, by position in the request.
    """

    columns: tuple[Store, ...]
    failures: dict[int, Exception]


class Reader:
    """Loads samples of a data set by index, and determines the order in which batches take them.

    `load`, `load_many` and `source` are called from many threads at once, the other methods from one.

    Args:
        size: number of samples of the data set.
        options: values of `reader_options` and `shuffle_options`; other names are ignored.
        labels: class of each sample, if known.
        classes: names of the classes, if known; the labels must then be the second output.

    Attributes:
        count: number of samples in the data set.
        selection: the samples that an epoch takes; None if it takes each sample once.
        batches_ahead: number of batches to fetch ahead from remote storage, besides the next one.
    """

    num_outputs: int = 1
    # If True, `random_shuffle` reads samples in stored order and mixes them through a buffer of `initial_fill`, for formats
    # where sequential reads are cheaper. If False, it shuffles the whole shard.
    mixes: bool = False
    # True if the reader prefetches remote data itself; otherwise `ReadAhead` does.
    reads_ahead: bool = False
    # True if loading a sample often takes no longer than a switch of threads, for instance for plain files.
    often_cheap: bool = False
    # Layout of each output, "" for none; None if no output has a layout.
    layouts: Sequence[str] | None = None
    # Class names of the outputs that contain labels; the key is the output's index.
    class_names: Mapping[int, ClassNames] = {}
    _output_names: Sequence[str] = ()
    _class_of: np.ndarray | None = None

    def __init__(
        self,
        size: int,
        options: Mapping[str, Any],
        labels: np.ndarray | None = None,
        classes: Sequence[str] = (),
    ):
        chosen = {name: options.get(name) for name in ("subset", "fold", "weights")}
        self.count = size
        self.selection: SampleSelection | None = select(size, **chosen, classes=labels, names=classes)
        self._class_of = labels
        if classes:
            self.class_names = {1: list(classes)}
        order_options = {name: options[name] for name in _ORDER_OPTIONS if name in options}
        if self.mixes:
            fill = options.get("initial_fill")
            order_options["initial_fill"] = _INITIAL_FILL if fill is None else fill
        self._order: AnyOrder = Order(
            size,
            selection=self.selection,
            shuffle_seed=options.get("shuffle_after_epoch_seed"),
            **order_options,
        )
        self.batches_ahead: int = options.get("prefetch_queue_depth", 1)
        if self.batches_ahead < 1:
            raise ValueError(f"prefetch_queue_depth is {self.batches_ahead}, it must be at least 1")

    @property
    def size(self) -> int:
        """Number of samples in an epoch of all shards together."""
        return self._order.size

    @property
    def remote(self) -> bool:
        """True if samples lie in remote storage."""
        return is_url(self.source(0)) or is_url(self.source(self.count - 1))

    @property
    def parts(self) -> Reader:
        """The reader of the parts that this reader packs into samples; this reader itself if it packs nothing."""
        return self

    def parts_of(self, wanted: np.ndarray) -> np.ndarray:
        """Returns the indices of the parts to load, given `SampleRefs.wanted`."""
        return wanted

    def packed(self, indices: np.ndarray, load: Callable[[np.ndarray], Loaded]) -> Loaded:
        """Loads samples as `load_many` does, but calls the function `load` to read their parts."""
        return load(indices)

    def name_classes(self, known: Mapping[str, ClassNames], outputs: Sequence[str]) -> None:
        """Sets the names of the outputs, and the class names of outputs that hold labels.

        `known` maps names of outputs to class names; `outputs` are the names of all outputs.
        """
        self._output_names = outputs
        self.class_names = {i: known[name] for i, name in enumerate(outputs) if known.get(name)}

    def meta(self) -> dict[str, Any]:
        """Returns DALI's `reader_meta`.

        If labels have names, the dict contains "classes": classes[label] is the name of a label, or
        classes[output][label] if several outputs hold labels. With `subset`, `fold` or `weights`, the dict contains
        "data_set_size" and, if the classes of samples are known, "samples_by_class": for each class, the number of
        samples that an epoch may take.
        """
        order = self._order
        shards = order.num_shards
        padded = -(-order.size // shards) * shards if order.pad_last_batch else order.size
        return {
            "epoch_size": order.size,
            "epoch_size_padded": padded,
            "number_of_shards": shards,
            "shard_id": order.shard_id,
            "pad_last_batch": int(order.pad_last_batch),
            "stick_to_shard": int(order.stick_to_shard),
            **self._selection_meta(),
            **self._classes_meta(),
        }

    def _classes_meta(self) -> dict[str, Any]:
        known = self.class_names
        if len(known) > 1 and self._output_names:
            return {"classes": {self._output_names[output]: names for output, names in known.items()}}
        return {"classes": next(iter(known.values()))} if known else {}

    def _selection_meta(self) -> dict[str, Any]:
        if self.selection is None:
            return {}
        facts: dict[str, Any] = {"data_set_size": self.count}
        if self._class_of is not None:
            classes, counts = np.unique(self._class_of[self.selection.taken], return_counts=True)
            facts["samples_by_class"] = dict(zip(classes.tolist(), counts.tolist(), strict=True))
        return facts

    def take(self, count: int) -> SampleRefs:
        """Returns references to the next `count` samples."""
        return self._order.take(count)

    def load(self, index: int) -> tuple[np.ndarray, ...]:
        """Loads one sample; raises `SampleError` if it cannot be read. By default, it calls `load_many`."""
        columns, failures = self.load_many(np.array([index]))
        if failures:
            raise failures[0]
        return tuple(column.host_sample(0) for column in columns)

    def load_many(self, indices: np.ndarray) -> Loaded:
        """Loads several samples. Override it, not `load`, in a reader that can read or parse samples together.

        If the reader's operator has per-sample arguments, their values are passed by name, as arrays [n, ...].
        """
        return with_layouts(one_by_one(self.load, indices, self.num_outputs), self.layouts)

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        """Divides samples among threads; each slice goes to one call of `load_many`."""
        # Starting a task takes some 20 us, so a task loads several cheap samples; eight tasks per thread balance the load.
        return slices(len(indices), len(indices) // (8 * threads))

    def source(self, index: int) -> str:
        """Names the file of a sample, for messages and `source_info`."""
        return f"sample {index}"

    def get_state(self) -> dict[str, Any]:
        """Returns the reader's position as JSON-able data, see `Order.get_state`."""
        return self._order.get_state()

    def set_state(self, state: dict[str, Any]) -> None:
        self._order.set_state(state)

    def cursor(self) -> AnyOrder:
        """Returns a copy of the reader's position, which moves independently."""
        return self._order.cursor()

    def skip(self, batches: int, count: int) -> None:
        """Moves on by as many samples as `batches` calls of `take(count)` would take."""
        self._order.skip(batches, count)

    def interrupt(self) -> None:
        """Interrupts loads from remote storage and rejects new ones, so that closing does not wait for them."""

    def close(self) -> None:
        """Closes the reader's files."""


def slices(count: int, step: int) -> list[slice]:
    """Divides `count` samples into slices of `step` samples; a `step` below 1 means 1."""
    step = max(1, step)
    return [slice(at, at + step) for at in range(0, count, step)]


def file_tasks(count: int, threads: int, files: int = 1) -> list[slice]:
    return slices(count, min(_FILES_A_TASK // files, -(-count // threads)))


def one_by_one(
    load: Callable[..., tuple[np.ndarray, ...]], indices: np.ndarray, outputs: int, **arguments: np.ndarray
) -> Loaded:
    """Calls `load` with each index, and the index's own values of `arguments`, [n, ...]."""
    samples: list[tuple[np.ndarray, ...]] = []
    failures: dict[int, Exception] = {}
    for position, index in enumerate(indices.tolist()):
        try:
            samples.append(load(index, **{name: values[position] for name, values in arguments.items()}))
        except Exception as error:
            failures[position] = error
    return Loaded(stores(samples, outputs), failures)


def with_layouts(loaded: Loaded, layouts: Sequence[str] | None) -> Loaded:
    if layouts is None:
        return loaded
    columns = tuple(
        dataclasses.replace(column, spec=column.spec.replace(layout=layout)) if len(column) else column
        for column, layout in zip(loaded.columns, layouts, strict=True)
    )
    return loaded._replace(columns=columns)


def stores(samples: Sequence[tuple[np.ndarray, ...]], outputs: int) -> tuple[Store, ...]:
    """Arranges samples as one column for each output.

    Raises:
        ValueError: an output's type or number of axes differs between samples.
    """
    return tuple(_column([sample[output] for sample in samples], output) for output in range(outputs))


def _column(arrays: list[np.ndarray], output: int) -> Store:
    if not arrays:
        return nothing()
    first = arrays[0]
    for array in arrays:
        if array.dtype != first.dtype or array.ndim != first.ndim:
            raise _mixed(output, (first.dtype, first.ndim), (array.dtype, array.ndim))
    extents = np.array([array.shape for array in arrays], np.int64).reshape(len(arrays), first.ndim)
    return Store.of_block(SamplesBlock(arrays), BatchSpec(extents, first.dtype))


def joined(parts: Sequence[tuple[Store, ...]]) -> tuple[Store, ...]:
    outputs = []
    for output, columns in enumerate(zip(*parts, strict=True)):
        full = [column for column in columns if len(column)] or [columns[0]]
        first = full[0].spec
        for column in full[1:]:
            if (column.spec.dtype, column.spec.ndim) != (first.dtype, first.ndim):
                raise _mixed(output, (first.dtype, first.ndim), (column.spec.dtype, column.spec.ndim))
        outputs.append(full[0] if len(full) == 1 else Store.concat(full))
    return tuple(outputs)


def nothing() -> Store:
    return Store.empty(BatchSpec(np.zeros((0, 0), np.int64), np.dtype(np.uint8)))


def _mixed(output: int, first: tuple[np.dtype, int], other: tuple[np.dtype, int]) -> ValueError:
    """Builds the error for two samples of a batch that differ in an output's type or number of axes."""
    what = "data type" if first[1] == other[1] else "number of dimensions"
    return ValueError(
        f"Inconsistent data: All samples in the batch must have the same {what}. Got output {output} as "
        f"{first[0]} with {first[1]} axes in one sample and {other[0]} with {other[1]} in another; a batch has one type and "
        "number of axes"
    )
