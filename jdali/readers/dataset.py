"""Reads elements of a user's data set by index."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jdali._batches import data_array
from jdali._errors import SampleError
from jdali._operators.record import Static, also_takes, reader
from jdali._system.regular_file import is_of_machine
from jdali.readers.base import (
    Loaded,
    Reader,
    reader_options,
    shuffle_options,
    stores,
    with_layouts,
)
from jdali.readers.formats.records import path_list
from jdali.readers.table import opened_frame

log = logging.getLogger("jdali")

_NAME = "readers.dataset"
# Packages whose tables return a column, not a row, when indexed.
_TABLES = ("pandas", "polars", "pyarrow")


class DatasetReader(Reader):
    """Reads elements of an object with `__len__` and `__getitem__`, in one thread at a time."""

    def __init__(
        self,
        dataset: Any,
        columns: Sequence[str],
        outputs: int | None,
        layouts: Sequence[str] | None,
        options: Mapping[str, Any],
    ):
        self._dataset, self._columns, self._outputs, self.layouts = dataset, columns, outputs, layouts
        self.num_outputs = len(columns) or outputs or 1
        self._output_names = columns
        self._kind = type(dataset).__name__
        self._turn, self._warned = threading.Lock(), False
        self._goes_on = bool(options.get("_goes_on"))
        if not len(dataset):
            raise ValueError(f"{_NAME}: the {self._kind} has no elements")
        super().__init__(len(dataset), options)
        if columns:
            features = getattr(dataset, "features", None)
            known = [features.get(c) for c in columns] if isinstance(features, Mapping) else []
            names = [getattr(feature, "names", None) for feature in known]
        else:
            names = [None, getattr(dataset, "classes", None)] if outputs == 2 else []
        self.class_names = {
            output: list(own)
            for output, own in enumerate(names)
            if isinstance(own, (list, tuple)) and own and all(isinstance(name, str) for name in own)
        }

    def load(self, index: int) -> tuple[np.ndarray, ...]:
        try:
            with self._turn:
                return self._arrays(self._dataset[index], index)
        except Exception as error:
            # With `on_error="raise"`, raises the user's exception unchanged.
            if not self._goes_on or isinstance(error, SampleError) or is_of_machine(error):
                raise
            raise SampleError(f"{_NAME}: {self.source(index)}: {type(error).__name__}: {error}") from error

    def load_many(self, indices: np.ndarray) -> Loaded:
        together = getattr(self._dataset, "__getitems__", None)  # data sets of PyTorch and Hugging Face
        if together is None:
            return super().load_many(indices)
        wanted = indices.tolist()
        try:
            with self._turn:
                elements = together(wanted)
                found = [self._arrays(*pair) for pair in zip(elements, wanted, strict=True)]
            return with_layouts(Loaded(stores(found, self.num_outputs), {}), self.layouts)
        except Exception as error:  # `load` will find the failing element
            loaded = super().load_many(indices)
            if not loaded.failures and not self._warned:
                self._warned = True
                log.warning(
                    f"{_NAME}: __getitems__ of {self._kind} fails, so its elements are asked for one by one: {error!r}"
                )
            return loaded

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        return [slice(0, len(indices))]

    def source(self, index: int) -> str:
        return f"{self._kind}[{index}]"

    def _arrays(self, element: Any, index: int) -> tuple[np.ndarray, ...]:
        """Converts an element to its outputs; copies them, so that the user's code cannot change them."""
        if self._columns:
            if not isinstance(element, Mapping) or (
                missing := [c for c in self._columns if c not in element]
            ):
                has = sorted(element) if isinstance(element, Mapping) else type(element).__name__
                raise SampleError(
                    f"{_NAME}: {self.source(index)} has no {missing if has else self._columns}, it has {has}"
                )
            values = [element[column] for column in self._columns]
        elif self._outputs is None:
            values = [element]
        else:
            if not isinstance(element, (tuple, list)) or len(element) != self._outputs:
                given = (
                    f"{len(element)} outputs"
                    if isinstance(element, (tuple, list))
                    else type(element).__name__
                )
                raise SampleError(
                    f"{_NAME}: {self.source(index)} gave {given}, num_outputs is {self._outputs}"
                )
            values = list(element)
        return tuple(self._array(value, index) for value in values)

    def _array(self, value: Any, index: int) -> np.ndarray:
        if isinstance(value, Mapping) and "bytes" in value:
            value = value["bytes"]
        if isinstance(value, str):
            value = value.encode(errors="surrogatepass")
        if isinstance(value, (bytes, bytearray)):
            return np.frombuffer(bytes(value), np.uint8)
        if type(value).__module__.partition(".")[0] == "PIL":
            value = np.asarray(value)
        try:
            return data_array(value, copy=True)
        except TypeError as error:
            about = "; name the entries to take in columns" if isinstance(value, Mapping) else ""
            if isinstance(value, tuple):
                about = f"; if these are {len(value)} outputs, give num_outputs={len(value)}"
            raise SampleError(f"{_NAME}: {self.source(index)}: {error}{about}") from error


def _count(arguments: Mapping[str, Any]) -> int:
    columns, number = path_list(_NAME, "columns", arguments.get("columns")), arguments.get("num_outputs")
    if number is not None and number < 1:
        raise ValueError(f"{_NAME}: num_outputs is {number}, it must be at least 1")
    return len(columns) or number or 1


@reader(name=_NAME, outputs=_count, devices=("cpu",))
@also_takes(shuffle_options, reader_options)
def dataset(
    *,
    dataset: Static[object],
    columns: Static[tuple[str, ...]] = (),
    layout: Static[str | tuple[str, ...] | None] = None,
    num_outputs: Static[int | None] = None,
    **options: Any,
) -> Reader:
    """Reads elements of an object with `__len__` and `__getitem__`.

    The object may be a list, a data set of Hugging Face, PyTorch or Grain, a table, or an instance of your own class.
    Each element is a sample. One thread at a time calls the object. With `workers=` of the pipeline, each worker
    process gets a copy of the object and calls this copy. An element may be an array, a number, bytes, a string or a
    Pillow picture. With `num_outputs`, an element is a tuple of several of these; with `columns`, a dict of them. If
    `__getitem__` raises an exception, the exception becomes the error of this sample.

    Parity: DALI has no such reader.

    Args:
        dataset: the object, which must not change; the samples of a table (pandas, polars, pyarrow) are its rows.
        columns: keys to take from elements that are dicts, or columns of a table; each is an output.
        layout: a layout for all outputs, or a list with a layout for each output.
        num_outputs: number of entries of an element (a tuple or list), one output each; None: an element is one output.

    Returns: the values of the elements; uint8 [bytes] for bytes and strings.

    Example: numbers = fn.readers.dataset(dataset=[np.float32([i, i + 1]) for i in range(10)], random_shuffle=True)
    """
    columns = tuple(path_list(_NAME, "columns", columns))
    count = _count({"columns": columns, "num_outputs": num_outputs})
    each = [layout] * count if layout is None or isinstance(layout, str) else layout
    layouts = [one or "" for one in each]
    if len(layouts) != count:
        raise ValueError(f"{_NAME}: {len(layouts)} layouts for {count} outputs")
    if columns and num_outputs not in (None, len(columns)):
        raise ValueError(f"{_NAME}: num_outputs is {num_outputs}, but columns names {len(columns)}")
    if type(dataset).__module__.partition(".")[0] in _TABLES:
        return opened_frame(_NAME, dataset, columns, options)
    if not (hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")):
        raise TypeError(
            f"{_NAME}: dataset must have __len__ and __getitem__, which {type(dataset).__name__} has not; what is only "
            "gone through from its beginning is for fn.external_source"
        )
    if isinstance(dataset, Mapping):
        raise TypeError(
            f"{_NAME}: dataset is a {type(dataset).__name__}; a dict of columns is for fn.readers.table"
        )
    return DatasetReader(dataset, columns, num_outputs, layouts if any(layouts) else None, options)
