"""Provides a pipeline with the user's data, from callbacks, iterables and `feed_input`."""

from __future__ import annotations

import collections
import copy
import functools
import logging
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jdali import types
from jdali._errors import SampleError
from jdali._sources.items import (
    SourceItems,
    check_source,
    cycle_mode,
    has_state,
    is_callback,
    portable,
    restored,
    takes_argument,
)
from jdali._sources.user_batches import DataKind, Samples, as_samples, copied, kind_of, layout_of, own_sample
from jdali.types import BatchInfo, SampleInfo

log = logging.getLogger("jdali")

# Lists have an entry for each output, and a forged folder of an export may name any number.
_MOST_OUTPUTS = 1 << 16


class _Batch(NamedTuple):
    """Holds a batch of a source: samples and layout of each output."""

    outputs: list[Samples]
    layouts: list[str]

    def copy(self) -> _Batch:
        return _Batch([copied(samples) for samples in self.outputs], self.layouts)


class SourceFeed:
    """Provides the data of one `fn.external_source`: from a callback, from an iterable, or fed by the user.

    Args:
        num_outputs: number of outputs; None for one output, which the source returns without a tuple.
        cycle: what happens at the end of an iterable. "quiet" (or True) restarts it, "raise" restarts it after
            StopIteration, "no", False or None leaves it at its end. Must be None for a callback or fed data.
        batch_info: if True, a batch callback takes a `BatchInfo` in place of the iteration number.
        repeat_last: if True, the last fed batch is used again if nothing new was fed; only without a source.
        no_copy: if True, fed data is not copied; the user must not change it until it was used.
        held: if True, an iterable stays at its end until `restart`. Used if batches are drawn ahead.

    Raises:
        TypeError: the source can be neither called nor iterated nor indexed, or `num_outputs` is no integer.
        ValueError, RuntimeError: the other arguments do not fit the source, or each other.
    """

    def __init__(
        self, source: Any, *, name: str = "external_source", num_outputs: int | None = None, cycle: Any = None,
        batch: bool = True, batch_info: bool = False, repeat_last: bool = False, no_copy: bool = False,
        layout: Any = None, dtype: Any = None, ndim: Any = None, held: bool = False,
    ):  # fmt: skip
        self.name, self.source, self.num_outputs = name, source, num_outputs
        self.batch, self.batch_info, self.repeat_last = batch, batch_info, repeat_last
        self.no_copy = no_copy
        self.cycle = cycle_mode(cycle)
        count = _output_count(num_outputs)
        self.layouts = _per_output(layout, count, "layout")
        self.drawn_layouts = self.layouts  # layouts of the last batch that `next` returned
        self.dtypes = [None if d is None else types.to_dtype(d) for d in _per_output(dtype, count, "dtype")]
        self.ndims = _per_output(ndim, count, "ndim")
        for one, axes in zip(self.layouts, self.ndims, strict=True):
            if one is not None and axes is not None and len(one) != axes:
                raise RuntimeError(
                    "external_source: Number of dimensions in the provided layout does not match the ndim argument. "
                    f'The arguments provided:\n ndim = {axes},\n layout: "{one}".'
                )
        self._kinds = [DataKind() for _ in self.layouts]
        self.fed: collections.deque[Any] = collections.deque()  # fed batches, in order
        self._fed_outputs = [collections.deque[Any]() for _ in self.layouts]  # incomplete batches, by output
        self._last: Any = None
        self._feed_lock = threading.Lock()
        # Copies made by `twin` share this lock, so only one of them at a time calls the source and copies its data. The
        # source may reuse its memory for the next batch, or cache what it computes for an epoch.
        self._turn = threading.RLock()
        self._given = 0  # number of fed batches that were used
        self._told_of_loss = False
        # A callback that takes an index has no position to restore, so it needs no `SourceItems`.
        check_source(source, cycle, repeat_last=repeat_last)
        self._takes_index = is_callback(source) and takes_argument(source)
        self._items: SourceItems | None = None
        if source is not None and not self._takes_index:
            self._items = SourceItems(source, self.cycle, held=held)

    @property
    def title(self) -> str:
        """The operator and, if the user gave one, its name, for messages."""
        return f"external_source {self.name!r}" if self.name != "external_source" else self.name

    @property
    def is_fed(self) -> bool:
        """True if the user gives the data with `feed_input`."""
        return self.source is None

    @property
    def calls_user(self) -> bool:
        """True if `next` calls user functions, in the calling thread."""
        return self.source is not None

    def check_is_fed(self, name: str) -> None:
        if not self.is_fed:
            raise RuntimeError(
                f"Cannot use `feed_input` on the external source '{name}' with a `source` argument specified."
            )

    def as_fed(self, data: object, layout: str | None, batch_size: int, *, copy: bool) -> Any:
        """Checks a user's batch, or a sequence with a batch for each output, and converts it for `feed`."""
        layouts = [self._fed_layout(layout, output) for output in range(len(self.layouts))]
        return self._batch(self._outputs(data), layouts, batch_size, copy=copy and not self.no_copy)

    def feed(self, batch: object) -> None:
        """Adds a batch that `as_fed` returned."""
        with self._feed_lock:
            self.fed.append(batch)

    def feed_output(
        self, output: int, unused: Collection[int], data: object, layout: str | None, batch_size: int
    ) -> None:
        """Adds one output of a batch. The batch is complete when all outputs except those in `unused` were added."""
        samples = self._samples(data, output, batch_size, copy=not self.no_copy)
        own = self._fed_layout(layout, output) or layout_of(data)
        with self._feed_lock:
            self._fed_outputs[output].append((samples, own))
            waiting = {i: parts for i, parts in enumerate(self._fed_outputs) if i not in unused}
            if not all(waiting.values()):
                return
            parts = {i: parts.popleft() for i, parts in waiting.items()}
            anything = next(iter(parts.values()))  # a placeholder for unused outputs
            rows = [parts.get(i, anything) for i in range(len(self.layouts))]
            self.fed.append(_Batch([row[0] for row in rows], [row[1] for row in rows]))

    def _fed_layout(self, layout: str | None, output: int) -> str | None:
        """Returns the layout of a fed batch: the given layout, or the declared layout of the output."""
        declared = self.layouts[output]
        if layout and declared and layout != declared:
            raise ValueError(f'{self.title}: Expected data with layout: "{declared}" and got: "{layout}".')
        return layout or declared

    def remake(self) -> Callable[[], SourceFeed]:
        """Returns a factory that makes this object in a worker. The source is not sent; tasks contain its data."""
        return functools.partial(SourceFeed, None, name=self.name, num_outputs=self.num_outputs)

    def anew(self) -> SourceFeed:
        """Returns a copy for another pipeline, at the beginning of the source."""
        fresh = copy.copy(self)
        fresh.fed, fresh._feed_lock, fresh._turn = collections.deque(), threading.Lock(), threading.RLock()
        fresh._fed_outputs = [collections.deque() for _ in self.layouts]
        fresh._last, fresh._given = None, 0
        fresh._kinds = [DataKind() for _ in self.layouts]
        if self._items is not None:
            fresh._items = SourceItems(self.source, self.cycle)
        return fresh

    def restart(self) -> None:
        if self._items is not None:
            self._items.restart()

    def end_with(self, other: str) -> None:
        """Drops the current batch, because source `other` has ended. Restarts this source if `cycle` is "raise"."""
        if self.cycle == "raise":
            self.restart()
        elif self._items is not None and is_callback(self.source):
            log.warning(
                "%s: %s ended first, and the batch that this source gave beside it is lost; what comes after `reset` does "
                "not begin at the same place in both: give them the same length, or callbacks that take an index",
                self.title,
                other,
            )

    def interrupt(self) -> None:
        """Ends a wait for data; called before the pipeline is closed."""

    def get_state(self) -> dict[str, Any]:
        """Returns the position as data for JSON.

        The position of fed data is the number of fed batches that were used. The position of a callback that takes an
        index is empty, unless the callback has a state.
        """
        if self.is_fed:
            return {"taken": self._given}
        if self._items is not None:
            return self._items.get_state()
        return {"own": portable(self.source.get_state())} if has_state(self.source) else {}

    def set_state(self, state: dict[str, Any]) -> None:
        """Restores the position of a state, and drops fed data that was not used."""
        self._kinds = [DataKind() for _ in self.layouts]
        if self.is_fed:
            with self._feed_lock:
                for waiting in (self.fed, *self._fed_outputs):
                    waiting.clear()
                self._last, self._given = None, int(state["taken"])
        elif self._items is not None:
            self._items.set_state(state)
        elif has_state(self.source):
            self.source.set_state(restored(state["own"]))

    def leave_epoch(self, state: dict[str, Any], batches: int | None, batch_size: int) -> None:
        """Ends an epoch early, after the batch at which `state` was taken, see `SourceItems.leave_epoch`."""
        self._kinds = [DataKind() for _ in self.layouts]
        if self._items is not None:
            one = 1 if self.batch else batch_size
            self._items.leave_epoch(state, None if batches is None else batches * one)
        elif not self.is_fed and has_state(self.source):
            self.source.set_state(restored(state["own"]))

    def twin(self) -> SourceFeed:
        """Returns a copy with an independent position; raises RuntimeError if the source cannot be replayed."""
        twin = copy.copy(self)
        twin._kinds = [DataKind() for _ in self.layouts]
        if self._items is not None:
            twin._items = self._items.twin()
        elif self.is_fed or has_state(self.source):
            what = "what was fed with feed_input" if self.is_fed else "a callback with a state"
            raise RuntimeError(f"external_source {self.name!r}: {what} cannot be replayed")
        return twin

    def skip(self, batches: int, batch_size: int) -> None:
        if self._items is not None:
            self._items.skip(batches if self.batch else batches * batch_size)

    def draw(self, *request: int) -> list[Samples]:
        """Returns a batch as `next` does; checks that it has the type, number of axes and layout of earlier batches."""
        outputs = self.next(*request)
        for kind, samples, layout in zip(self._kinds, outputs, self.drawn_layouts, strict=True):
            try:
                kind.check(samples, layout)
            except RuntimeError as error:
                raise RuntimeError(f"{self.title}: {error}") from None
        return outputs

    def next(self, batch_size: int, iteration: int, epoch: int, first: int) -> list[Samples]:
        """Returns the samples of the next batch, for each output; raises StopIteration if the source is at its end.

        `first` is the number of the first sample in the epoch.
        """
        if self.is_fed:
            batch = self._next_fed()
        else:
            with self._turn:
                try:
                    batch = self._next_batch(batch_size, iteration, epoch, first)
                except StopIteration:
                    if epoch and not iteration and self._items is not None and self._items.is_spent:
                        raise RuntimeError(
                            f"{self.title}: the generator is at its end, and cannot begin again for epoch {epoch}: give the "
                            'function that makes it, without calling it, and cycle="raise"'
                        ) from None
                    raise
        self.drawn_layouts = batch.layouts
        return batch.outputs

    def _next_batch(self, batch_size: int, iteration: int, epoch: int, first: int) -> _Batch:
        if self.batch:
            raw = self._next_item(lambda: BatchInfo(iteration, epoch) if self.batch_info else iteration)
        else:
            raw = self._columns(self.rows(range(batch_size), iteration, epoch, first))
        return self._batch(self._outputs(raw), self.layouts, batch_size, copy=self.batch)

    def rows(self, numbers: Iterable[int], iteration: int, epoch: int, first: int) -> list[Any]:
        """Calls a source of single samples once for each of `numbers`. A row is one value, or a sequence of outputs."""
        infos = [SampleInfo(first + i, i, iteration, epoch) for i in numbers]
        rows: list[Any] = []
        for number, info in enumerate(infos, 1):
            try:
                rows.append(self._own(self._next_item(functools.partial(copy.copy, info)), info))
            except StopIteration:
                if rows and not self._told_of_loss:
                    self._told_of_loss = True
                    log.warning(
                        "%s: its last %s of %s samples fill no batch and are dropped, as in DALI. A source with __len__ and "
                        "__getitem__ loses none with random_access=True; else give batches (batch=True), the last one smaller",
                        self.title,
                        len(rows),
                        infos[len(rows)].idx_in_epoch,
                    )
                raise
            except Exception:
                if self._items is not None:  # skips the remaining samples of this batch
                    self._items.leave_out(len(infos) - number)
                raise
        return rows

    def _columns(self, rows: list[object]) -> Any:
        """Transposes samples to one sequence for each output. A source of batches returns its data in this form."""
        return rows if self.num_outputs is None else tuple(zip(*rows, strict=True))

    def _outputs(self, raw: Any) -> list[Any]:
        """Splits the data of a source by output."""
        if self.num_outputs is None:
            return [raw]
        try:
            return list(raw)
        except TypeError:
            raise TypeError(
                f"{self.title}: with num_outputs={self.num_outputs} the source gives a tuple of that many "
                f"outputs, it gave {type(raw).__name__}"
            ) from None

    def check_fed(self) -> None:
        """Raises IndexError if fed data is missing. It is called before any source returns data."""
        if self.is_fed and not self.fed and not (self.repeat_last and self._last is not None):
            raise IndexError(
                f"external_source {self.name!r}: no data; call pipeline.feed_input({self.name!r}, data) "
                "before each run. Attempted to peek the data batch that doesn't exist. Add more elements to the DALI "
                "input operator."
            )

    def _next_fed(self) -> _Batch:
        with self._feed_lock:
            if self.fed:
                self._last = self.fed.popleft()
                self._given += 1
            # Returns a copy of a batch that may be used again, because a user function may write to it.
            return self._last.copy() if self.repeat_last else self._last

    def _next_item(self, argument: Callable[[], Any]) -> Any:
        return self.source(argument()) if self._items is None else self._items.next()

    def _own(self, row: object, info: SampleInfo) -> Any:
        """Copies the outputs of a sample, because the source may reuse the memory for the next sample."""
        try:
            if self.num_outputs is None:
                return own_sample(row)
            return [own_sample(value) for value in self._outputs(row)]
        except TypeError as error:
            where = info.idx_in_batch
            text = f"{self.title}: sample {where}: {error}{self._about_outputs(row)}"
            raise SampleError(text, sample=where) from error

    def _about_outputs(self, value: object) -> str:
        """Returns a hint for an error message if the user probably meant the value as several outputs, otherwise ""."""
        if self.num_outputs is not None or not isinstance(value, (tuple, dict)):
            return ""
        if isinstance(value, dict):
            return "; for several outputs give a tuple of them, and external_source num_outputs"
        return f"; if these are {len(value)} outputs, give external_source num_outputs={len(value)}"

    def _batch(
        self, outputs: Sequence[object], layouts: Sequence[str | None], batch_size: int, *, copy: bool
    ) -> _Batch:
        """Checks the outputs' data and converts it to samples. With `copy`, samples share no memory with the user."""
        if len(outputs) != len(self.layouts):
            raise ValueError(
                f"{self.title}: the source gave {len(outputs)} outputs, num_outputs is {self.num_outputs}"
            )
        converted = [self._samples(value, o, batch_size, copy) for o, value in enumerate(outputs)]
        own = [layout or layout_of(value) for layout, value in zip(layouts, outputs, strict=True)]
        for samples, layout in zip(converted, own, strict=True):
            if layout and len(samples) and len(layout) != (ndim := kind_of(samples, 0)[1]):
                raise ValueError(
                    f"{self.title}: The layout '{layout}' cannot describe {ndim}-dimensional data"
                )
        return _Batch(converted, own)

    def _samples(self, value: object, output: int, batch_size: int, copy: bool) -> Samples:
        where = f"{self.title}: " if self.num_outputs in (None, 1) else f"{self.title}: output {output}: "
        try:
            samples = as_samples(value, copy=copy)
        except SampleError as error:
            raise SampleError(f"{where}{error}{self._about_outputs(value)}", sample=error.sample) from error
        except TypeError as error:
            raise TypeError(f"{where}{error}{self._about_outputs(value)}") from error
        if len(samples) > batch_size:
            raise ValueError(
                f"{where}The external source callback returned an unexpected batch size. Expected batch_size <= "
                f"{batch_size}, actual: {len(samples)}"
            )
        dtype, ndim = self.dtypes[output], self.ndims[output]
        if dtype is None and ndim is None:
            return samples
        for i in range(len(samples)):
            own_dtype, own_ndim = kind_of(samples, i)
            expected = f"{where}ExternalSource expected data"
            if dtype is not None and own_dtype != dtype:
                names = types.type_name(dtype), types.type_name(own_dtype)
                raise SampleError(f"{expected} of type {names[0]} and got: {names[1]}", sample=i)
            if ndim is not None and own_ndim != ndim:
                raise SampleError(
                    f"{expected} with {ndim} dimensions and got {own_ndim} dimensions", sample=i
                )
        return samples


def _output_count(num_outputs: object) -> int:
    if num_outputs is None:
        return 1
    if not isinstance(num_outputs, (int, np.integer)):
        raise TypeError(f"external_source: num_outputs must be an integer, got {num_outputs!r:.200}")
    if not 1 <= num_outputs <= _MOST_OUTPUTS:
        raise ValueError(f"external_source: num_outputs is {num_outputs}, it must be 1 to {_MOST_OUTPUTS}")
    return int(num_outputs)


def _per_output(value: object, count: int, name: str) -> list[Any]:
    """Returns a value for each output. A list may be shorter; the remaining outputs get None."""
    if isinstance(value, (list, tuple)):
        if len(value) > count:
            raise ValueError(f"external_source: {len(value)} values of {name} for {count} outputs")
        return [*value, *[None] * (count - len(value))]
    return [value] * count
