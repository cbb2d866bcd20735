"""What feeds a pipeline from outside: user callbacks, iterables and `feed_input`."""

from __future__ import annotations

import collections
import copy
import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np

from jdali import types
from jdali.tensors import Tensor, TensorList


class SampleInfo:
    """What a per-sample callback is told: which sample it is to give.

    Attributes:
        idx_in_epoch: index of the sample in the epoch.
        idx_in_batch: index of the sample in its batch.
        iteration: number of the batch in the epoch.
        epoch_idx: number of the epoch.
    """

    __slots__ = ("epoch_idx", "idx_in_batch", "idx_in_epoch", "iteration")

    def __init__(self, idx_in_epoch: int, idx_in_batch: int, iteration: int, epoch_idx: int):
        self.idx_in_epoch, self.idx_in_batch = idx_in_epoch, idx_in_batch
        self.iteration, self.epoch_idx = iteration, epoch_idx

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)}" for name in reversed(self.__slots__))
        return f"SampleInfo({fields})"


class BatchInfo:
    """What a batch callback with `batch_info=True` is told."""

    __slots__ = ("epoch_idx", "iteration")

    def __init__(self, iteration: int, epoch_idx: int):
        self.iteration, self.epoch_idx = iteration, epoch_idx

    def __repr__(self) -> str:
        return f"BatchInfo(iteration={self.iteration}, epoch_idx={self.epoch_idx})"


class ExternalSource:
    """The data of one `fn.external_source`: from a callback, an iterable, or fed by the user.

    Args:
        source: callable, iterable or None (then `feed` gives the data).
        num_outputs: None for a source of one output given bare.
        cycle: "quiet" (or True) starts the iterable again, "raise" does so after StopIteration,
            None or "no" stays at its end.
        batch: the source gives whole batches; else one sample a call.
        batch_info: a batch callback takes a `BatchInfo` in place of the iteration number.
        repeat_last: `feed` keeps the last batch for later iterations.
        layout, dtype, ndim: per output or one for all; checked against what the source gives.
    """

    def __init__(
        self,
        source: Any,
        *,
        name: str = "external_source",
        num_outputs: int | None = None,
        cycle: Any = None,
        batch: bool = True,
        batch_info: bool = False,
        repeat_last: bool = False,
        layout: Any = None,
        dtype: Any = None,
        ndim: Any = None,
    ):
        self.name, self.source, self.num_outputs = name, source, num_outputs
        self.batch, self.batch_info, self.repeat_last = batch, batch_info, repeat_last
        self.cycle = {True: "quiet", False: "no", None: "no"}.get(cycle, cycle)
        if self.cycle not in ("no", "quiet", "raise"):
            raise ValueError(f'external_source: cycle must be True, False, "quiet" or "raise", not {cycle!r}')
        count = num_outputs or 1
        self.layouts = _per_output(layout, count, "layout")
        self.dtypes = [None if d is None else types.to_dtype(d) for d in _per_output(dtype, count, "dtype")]
        self.ndims = _per_output(ndim, count, "ndim")
        self.fed: collections.deque[Any] = collections.deque()
        self._last: Any = None
        self._feed_lock = threading.Lock()
        self._iterator: Any = None
        self._takes_argument = False
        if callable(source):
            self._takes_argument = _takes_argument(source)
            if not batch and not self._takes_argument:
                self._takes_argument = False
        elif source is not None:
            if not isinstance(source, Iterable):
                raise TypeError(
                    f"external_source: source must be callable or iterable, not {type(source).__name__}"
                )
            if self.cycle != "no" and iter(source) is source:
                raise ValueError(
                    "external_source: a generator cannot be cycled, since it can be gone through once only; "
                    "give the generator function or a list instead"
                )
            self._iterator = iter(source)
        if self.cycle != "no" and callable(source):
            raise ValueError("external_source: cycle works with iterables only, not with a callback")

    @property
    def is_fed(self) -> bool:
        """The user gives the data with `feed_input`."""
        return self.source is None

    def feed(self, batches: Sequence[Any]) -> None:
        with self._feed_lock:
            self.fed.append(batches)

    def reset(self) -> None:
        if self._iterator is not None and iter(self.source) is not self.source:
            self._iterator = iter(self.source)

    def next(self, batch_size: int, iteration: int, epoch: int) -> list[list[np.ndarray]]:
        """One batch: for each output the samples.

        Raises:
            StopIteration: the source is at its end.
        """
        if self.is_fed:
            raw = self._next_fed()
        elif self.batch:
            raw = self._next_item(lambda: BatchInfo(iteration, epoch) if self.batch_info else iteration)
        else:
            first = iteration * batch_size
            infos = [SampleInfo(first + i, i, iteration, epoch) for i in range(batch_size)]
            rows = [self._next_item(functools.partial(copy.copy, info)) for info in infos]
            raw = rows if self.num_outputs is None else tuple(zip(*rows, strict=True))
        outputs = [raw] if self.num_outputs is None else list(raw)
        if len(outputs) != (self.num_outputs or 1):
            raise ValueError(
                f"external_source: the source gave {len(outputs)} outputs, num_outputs is {self.num_outputs}"
            )
        return [self._samples(value, o, batch_size) for o, value in enumerate(outputs)]

    def _next_fed(self) -> Any:
        with self._feed_lock:
            if self.fed:
                self._last = self.fed.popleft()
            elif not (self.repeat_last and self._last is not None):
                raise RuntimeError(
                    f"external_source {self.name!r}: no data; call pipeline.feed_input({self.name!r}, data) "
                    "before each run"
                )
            return self._last if self.num_outputs is not None else self._last[0]

    def _next_item(self, argument: Callable[[], Any]) -> Any:
        if self._iterator is None:
            return self.source(argument()) if self._takes_argument else self.source()
        try:
            return next(self._iterator)
        except StopIteration:
            if self.cycle == "no":
                raise
            self._iterator = iter(self.source)
            if self.cycle == "raise":
                raise
            return next(self._iterator)

    def _samples(self, value: Any, output: int, batch_size: int) -> list[np.ndarray]:
        samples = as_samples(value)
        if len(samples) > batch_size:
            raise ValueError(
                f"external_source: a batch of {len(samples)} samples was given, the pipeline's batch size "
                f"is {batch_size}"
            )
        dtype, ndim = self.dtypes[output], self.ndims[output]
        for i, sample in enumerate(samples):
            if dtype is not None and sample.dtype != dtype:
                raise TypeError(f"external_source: sample {i} is {sample.dtype}, dtype says {dtype}")
            if ndim is not None and sample.ndim != ndim:
                raise ValueError(f"external_source: sample {i} has {sample.ndim} axes, ndim says {ndim}")
            if sample.dtype != samples[0].dtype or sample.ndim != samples[0].ndim:
                raise TypeError(
                    f"external_source: sample {i} is {sample.dtype} with {sample.ndim} axes, sample 0 is "
                    f"{samples[0].dtype} with {samples[0].ndim}; a batch has one type and number of axes"
                )
        return samples


def as_samples(value: Any) -> list[np.ndarray]:
    """Samples of a batch in any of the forms users give: list, array [N, ...], TensorList, JAX, torch."""
    if isinstance(value, TensorList):
        return value.to_samples()
    if isinstance(value, (list, tuple)):
        return [as_numpy(v) for v in value]
    return list(as_numpy(value))


def as_numpy(value: Any) -> np.ndarray:
    """One sample as NumPy, copied if the owner could change it afterwards."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, (jax.Array, Tensor)):
        return np.asarray(value)
    if hasattr(value, "__dlpack__") and not isinstance(value, np.generic):
        return np.array(np.from_dlpack(value))
    array = np.asarray(value)
    if array.dtype == object:
        raise TypeError(f"external_source: cannot make a tensor of {type(value).__name__} {value!r:.60}")
    return array


def _takes_argument(function: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = [
        p for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL) and p.default is p.empty
    ]  # fmt: skip
    if len([p for p in positional if p.kind is not p.VAR_POSITIONAL]) > 1:
        raise TypeError(
            f"external_source: the callback takes {len(positional)} arguments, it may take none or one"
        )
    return bool(positional)


def _per_output(value: Any, count: int, name: str) -> list[Any]:
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise ValueError(f"external_source: {len(value)} values of {name} for {count} outputs")
        return list(value)
    return [value] * count
