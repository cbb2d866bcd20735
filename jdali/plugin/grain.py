"""Reads Grain's data sets in a pipeline, and wraps jdali's iterators as Grain iterators."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import jax

from jdali._system.extras import needed_by
from jdali.iterator import DataIterator

with needed_by("jdali.plugin.grain", "Grain", "grain"):
    import grain

__all__ = ["DatasetIterator", "source"]


def source(data: Any, names: Sequence[str] | None = None) -> Iterable[Any]:
    """Converts Grain's data to a source for `fn.external_source`; the pipeline's state includes the position in the data.

    ```
    images, labels = fn.external_source(source(data, ["image", "label"]), num_outputs=2, batch=False)
    ```
    With `batch=False`, each element is a sample; an incomplete last batch is dropped, as with any source. With `batch=True`,
    each element is a batch, as from `data.batch(n)`. With `cycle="raise"`, each epoch iterates over the data again.

    A `MapDataset` supports random access, so `iterator.batch_at` and `sample` can read its elements again. An
    `IterDataset` or `DataLoader` is read by Grain's own iterator, with its threads, processes and state.

    Args:
        data: a `grain.MapDataset`, a `grain.IterDataset` or a `grain.DataLoader`.
        names: keys to take from elements that are dicts, in the order of the outputs; None if elements are arrays or tuples
            of arrays.
    """
    if isinstance(data, grain.MapDataset):
        return _Indexed(data, names)
    if not isinstance(data, (grain.IterDataset, grain.DataLoader)):
        raise TypeError(
            "plugin.grain.source: data must be a grain.MapDataset, grain.IterDataset or grain.DataLoader, not "
            f"{type(data).__name__}"
        )
    return _Iterated(data, names)


class _Indexed(Sequence[Any]):
    """Wraps a `MapDataset` as a sequence."""

    def __init__(self, data: Any, names: Sequence[str] | None):
        self._data, self._names = data, names

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index < len(self):
            raise IndexError(f"plugin.grain.source: element {index} of {len(self)}")
        element = self._data[index]
        if element is None:
            raise ValueError(
                f"plugin.grain.source: element {index} of the MapDataset was filtered out; give "
                "data.to_iter_dataset(), which goes on with the next one"
            )
        return _outputs(element, self._names)


class _Iterated(Iterable[Any]):
    """Wraps a Grain data set or loader that is read through its iterator."""

    def __init__(self, data: Any, names: Sequence[str] | None):
        self._data, self._names = data, names

    def __iter__(self) -> _Elements:
        return _Elements(self._data, self._names)


class _Elements(Iterator[Any]):
    """Wraps a Grain iterator for `fn.external_source`; creates the iterator on first use."""

    def __init__(self, data: Any, names: Sequence[str] | None):
        self._data, self._names = data, names

    @functools.cached_property
    def _iterator(self) -> Any:
        return iter(self._data)

    def __next__(self) -> Any:
        return _outputs(next(self._iterator), self._names)

    def get_state(self) -> Any:
        state = self._iterator.get_state()
        # Grain may change the state of a data set later, so it is copied through JSON. A loader's state is JSON text.
        return json.loads(state if isinstance(state, bytes) else json.dumps(state))

    def set_state(self, state: Any) -> None:
        loader = isinstance(self._data, grain.DataLoader)
        self._iterator.set_state(json.dumps(state, indent=4).encode() if loader else state)


def _outputs(element: Any, names: Sequence[str] | None) -> Any:
    if names is None:
        if isinstance(element, dict):
            raise TypeError(
                f"plugin.grain.source: an element is a dict of {sorted(element)}: give the names of the outputs"
            )
        return element
    missing = [name for name in names if not isinstance(element, dict) or name not in element]
    if missing:
        has = sorted(element) if isinstance(element, dict) else type(element).__name__
        raise KeyError(f"plugin.grain.source: an element has no {missing}, it has {has}")
    return tuple(element[name] for name in names)


class DatasetIterator(grain.DatasetIterator[Any]):  # type: ignore[misc]
    """Wraps a jdali iterator as a Grain iterator, for Grain's checkpoints and code that expects Grain's iterators.

    Grain's `checkpoint.CheckpointSave` and `CheckpointRestore` accept it. Like Grain's iterators, it ends with the epoch and
    then raises StopIteration at each call. If the jdali iterator has `auto_reset`, the next epoch follows instead.

    Args:
        iterator: the jdali iterator.
    """

    def __init__(self, iterator: DataIterator):
        super().__init__()
        self._own = iterator
        self._spec: dict[str, jax.ShapeDtypeStruct] | None = None

    def __del__(self) -> None:
        """Does nothing; the base class would close the jdali iterator, which other code may still use."""

    def __next__(self) -> dict[str, jax.Array]:
        self._assert_not_closed()
        batch = next(self._own)
        self._spec = _spec(batch)
        return batch

    def __str__(self) -> str:
        return f"jdali({', '.join(self._own.output_map)})"

    def get_state(self) -> dict[str, Any]:
        return self._own.get_state()

    def set_state(self, state: dict[str, Any]) -> None:
        self._own.set_state(state)

    @property
    def element_spec(self) -> dict[str, jax.ShapeDtypeStruct]:
        """Returns the shape and element type of each output in the batch taken last, or in the first batch if none was taken."""
        if self._spec is None:
            self._spec = _spec(self._own.peek())
        return self._spec

    def start_prefetch(self) -> None:
        """Starts computing the next batch."""
        self._own.start_prefetch()

    def close(self) -> None:
        super().close()
        self._own.close()


def _spec(batch: dict[str, jax.Array]) -> dict[str, jax.ShapeDtypeStruct]:
    return {name: jax.ShapeDtypeStruct(array.shape, array.dtype) for name, array in batch.items()}
