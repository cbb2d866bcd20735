"""Arguments of all readers, and a base class that owns the order.

A reader of a format derives from `Reader` and says how to load one sample. Its operator is a
function of DALI's arguments that returns such an object::

    @reader(name="readers.file", outputs=2, devices=("cpu",))
    @also_takes(shuffle_options)
    @also_takes(reader_options)
    def file(*, file_root: Static[str | None] = None, **options: Any) -> Reader: ...
"""

from __future__ import annotations

import abc
import copy
import functools
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
ClassNames: TypeAlias = "Sequence[str] | Mapping[int, str]"
"""Names of classes by label, from 0 on or as a mapping."""


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
        dont_use_mmap: do not map local files into memory, as `readers.arrow` does; other readers never do.
        fold: (k, n): read fold k of n, or several: ([0, 2, 3], 4) is all but fold 1. Folds are a fixed random division
            of the data set, or of `subset`, the same on all shards and for all seeds; a reader that knows the classes of
            samples divides each class evenly. DALI has no such argument.
        initial_fill: with `random_shuffle`, of readers of files that hold many records: they are read from front
            to end of the shard, and mixed through a buffer of at most this many; 1: not mixed. Without effect
            on other readers, to which one sample costs as much as another: they shuffle the whole shard.
        lazy_init: without effect: the data set is opened when the pipeline is built.
        num_shards: how many parts the data set is divided into, at most its size.
        pad_last_batch: end an epoch with a whole batch, by repeating the last sample, and with the
            same number of batches on all shards; otherwise batches run on into the next epoch.
        prefetch_queue_depth: how many batches besides the next one are fetched from remote storage ahead, if
            `jdali.storage` does not say how many samples.
        random_shuffle: read each shard in a random order, another one in each epoch; see `initial_fill`.
        read_ahead: without effect: what the order allows is always read ahead.
        seed: of the random order; -1: the pipeline's.
        shard_id: which part is read in the first epoch, 0 to `num_shards` - 1.
        skip_cached_images: without effect: decoded images are not kept.
        stick_to_shard: read the same part in every epoch, not the next one each time.
        subset: indices of the samples to read, each once, or a truth value for each sample of the data set. DALI has no
            such argument.
        tensor_init_bytes: without effect: each sample gets the memory that it needs.
        weights: draw samples with replacement: a number for each sample of the data set, in proportion to its chance;
            or by class, where the reader knows the classes of samples: numbers for the samples of each, {class: number}, or
            "balanced" for classes that come equally often. An epoch has as many draws as samples to draw from, and the draws
            follow from the seed, the epoch and the position. DALI has no such argument.
    """


def shuffle_options(
    *, shuffle_after_epoch: Static[bool] = False, shuffle_after_epoch_seed: Static[int | None] = None
) -> None:
    """Declares the arguments of readers that can shuffle between epochs.

    Args:
        shuffle_after_epoch: put the whole data set in a random order before each epoch, the first
            included; then a shard keeps its slice. Excludes `random_shuffle` and `stick_to_shard`.
        shuffle_after_epoch_seed: of those orders; must be the same on all shards; None: a fixed one.
    """


class Loaded(NamedTuple):
    """Samples that were read together.

    Attributes:
        columns: for each output those samples that could be read, in order.
        failures: what is wrong with the others, by their position in the request.
    """

    columns: tuple[Store, ...]
    failures: dict[int, Exception]


class Reader(abc.ABC):
    """Samples of a data set by index, and the order in which they are taken.

    `load`, `load_many` and `source` are called from many threads at once, all else from one.

    Args:
        size: number of samples of the data set.
        options: values of `reader_options` and `shuffle_options`; others are ignored.
        labels: class of each sample, if it is known.
        classes: names of the classes, if they have some; then the labels are the second output.

    Attributes:
        batches_ahead: how many besides the next one are fetched from remote storage before they are asked for.
    """

    num_outputs: int = 1
    # Whether `random_shuffle` goes through the samples as they lie, with a buffer of `initial_fill`: for readers to
    # which the next sample is cheaper than another one. Else all of the shard is shuffled.
    mixes: bool = False
    # Whether the reader itself fetches remote data before they are asked for; others are helped, see `ahead`.
    reads_ahead: bool = False
    # Whether samples often take no longer than a change of threads does: files that are only read.
    often_cheap: bool = False
    # Layouts of the outputs, "" for none; None: all have none.
    layouts: Sequence[str] | None = None
    _output_names: Sequence[str] = ()
    _names_by_output: Mapping[int, ClassNames] = {}

    def __init__(
        self,
        size: int,
        options: Mapping[str, Any],
        labels: np.ndarray | None = None,
        classes: Sequence[str] = (),
    ):
        chosen = {name: options.get(name) for name in ("subset", "fold", "weights")}
        self._count, self._selection = size, select(size, **chosen, classes=labels, names=classes)
        self._class_of = labels
        if classes:
            self._names_by_output = {1: list(classes)}
        order_options = {name: options[name] for name in _ORDER_OPTIONS if name in options}
        if self.mixes:
            fill = options.get("initial_fill")
            order_options["initial_fill"] = _INITIAL_FILL if fill is None else fill
        self._order: Order | MixtureOrder | WindowOrder = Order(
            size,
            selection=self._selection,
            shuffle_seed=options.get("shuffle_after_epoch_seed"),
            **order_options,
        )
        self.batches_ahead: int = options.get("prefetch_queue_depth", 1)
        if self.batches_ahead < 1:
            raise ValueError(f"prefetch_queue_depth is {self.batches_ahead}, it must be at least 1")

    @property
    def size(self) -> int:
        """Number of samples of an epoch, all shards together."""
        return self._order.size

    @property
    def count(self) -> int:
        """Number of samples of the data set."""
        return self._count

    @property
    def remote(self) -> bool:
        """Whether samples lie in remote storage."""
        return is_url(self.source(0)) or is_url(self.source(self.count - 1))

    @property
    def parts(self) -> Reader:
        """The reader of the parts of samples, which are loaded ahead; itself, unless samples are packed of several."""
        return self

    def parts_of(self, wanted: np.ndarray) -> np.ndarray:
        """Returns the indices of the parts of samples, by `SampleRefs.wanted`."""
        return wanted

    def packed(self, indices: np.ndarray, load: Callable[[np.ndarray], Loaded]) -> Loaded:
        """Makes samples of parts that `load` reads; see `load_many`."""
        return load(indices)

    @property
    def selection(self) -> SampleSelection | None:
        """Which samples an epoch takes; None: each once."""
        return self._selection

    @property
    def class_names(self) -> Mapping[int, ClassNames]:
        """Names of the labels, by output."""
        return self._names_by_output

    def name_classes(self, known: Mapping[str, ClassNames], outputs: Sequence[str]) -> None:
        """Notes the names of outputs, and of the classes of those that are labels."""
        self._output_names = outputs
        self._names_by_output = {i: known[name] for i, name in enumerate(outputs) if known.get(name)}

    def meta(self) -> dict[str, Any]:
        """Returns DALI's `reader_meta`.

        Where the labels have names, also "classes": classes[label] is the name of a label; of several outputs with labels, by
        the names of these.
        With `subset`, `fold` or `weights`, also "data_set_size" and, if the classes of samples are known,
        "samples_by_class": of the samples that an epoch is taken from, by class.
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

    def next_batch(self, count: int) -> SampleRefs:
        """Returns references to the next `count` samples."""
        return self._order.take(count)

    @abc.abstractmethod
    def load(self, index: int) -> tuple[np.ndarray, ...]:
        """Loads one sample; raises `SampleError` if it cannot be read."""

    def load_many(self, indices: np.ndarray) -> Loaded:
        """Loads samples; readers that can read or parse them together do.

        A reader whose operator has per-sample arguments takes their values here by name, [n, ...] each.
        """
        return one_by_one(
            [functools.partial(self.load, index) for index in indices.tolist()], self.num_outputs
        )

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        """Divides these samples among threads: each slice is for one call of `load_many`."""
        # A task costs some 20 us: cheap samples share one, and enough tasks stay to even out.
        step = max(1, len(indices) // (8 * threads))
        return [slice(at, at + step) for at in range(0, len(indices), step)]

    def source(self, index: int) -> str:
        """Names the file of a sample, for messages and `source_info`."""
        return f"sample {index}"

    def get_state(self) -> dict[str, Any]:
        """Returns the position of the reader; JSON-able, see `Order.set_state`."""
        return self._order.get_state()

    def set_state(self, state: dict[str, Any]) -> None:
        self._order.set_state(state)

    def remake(self) -> Callable[[], Reader]:
        """Returns a factory that recreates the reader in a worker."""
        return functools.partial(copy.copy, self)

    def cursor(self) -> Cursor:
        """Makes an independent position in the reader's order, which begins at the reader's."""
        return Cursor(self._order.copy())

    def skip(self, batches: int, count: int) -> None:
        """Skips as far as `batches` calls of `next_batch(count)` would."""
        self._order.skip(batches, count)

    def interrupt(self) -> None:  # noqa: B027  most readers wait for nobody
        """Makes loads from remote storage fail, now and later: the reader is about to be closed."""

    def close(self) -> None:  # noqa: B027  most readers hold nothing open
        """Closes the files of the reader."""


class Cursor:
    """A position in the order of a reader, independent of the reader's own."""

    def __init__(self, order: Order | MixtureOrder | WindowOrder):
        self._order = order
        self.next_batch = order.take
        self.skip = order.skip
        self.get_state, self.set_state = order.get_state, order.set_state

    @property
    def size(self) -> int:
        """Number of samples of an epoch, all shards together."""
        return self._order.size

    @property
    def epoch(self) -> int:
        """The epoch of the next sample."""
        return self._order.next_epoch

    def cursor(self) -> Cursor:
        """Copies the position."""
        return Cursor(self._order.copy())


def one_by_one(loads: Sequence[Callable[[], tuple[np.ndarray, ...]]], outputs: int) -> Loaded:
    """Calls each of `loads`; returns the results and the failures."""
    samples: list[tuple[np.ndarray, ...]] = []
    failures: dict[int, Exception] = {}
    for position, load in enumerate(loads):
        try:
            samples.append(load())
        except Exception as error:
            failures[position] = error
    return Loaded(stores(samples, outputs), failures)


def stores(samples: Sequence[tuple[np.ndarray, ...]], outputs: int) -> tuple[Store, ...]:
    """Arranges the outputs of samples as a column for each output.

    Raises:
        ValueError: samples differ in the type or number of axes of an output.
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
    """Joins the columns of all parts, output by output."""
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
    """Makes a column without samples."""
    return Store.empty(BatchSpec(np.zeros((0, 0), np.int64), np.dtype(np.uint8)))


def _mixed(output: int, first: tuple[np.dtype, int], other: tuple[np.dtype, int]) -> ValueError:
    """Makes the error of an output whose types or numbers of axes differ in one batch."""
    what = "data type" if first[1] == other[1] else "number of dimensions"
    return ValueError(
        f"Inconsistent data: All samples in the batch must have the same {what}. Got output {output} as "
        f"{first[0]} with {first[1]} axes in one sample and {other[0]} with {other[1]} in another; a batch has one type and "
        "number of axes"
    )
