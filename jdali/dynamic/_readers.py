"""Defines the readers of dynamic mode. A program iterates over the samples of one epoch at a time."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Iterator
from typing import Any, ClassVar

from jdali._operators.argument_rules import converted
from jdali._operators.record import REGISTRY, Operator
from jdali._operators.surface import class_name, document, files_by_keyword, public_signature, with_keywords
from jdali._state import check_version
from jdali.dynamic._context import EvalContext
from jdali.dynamic._data import to_array
from jdali.dynamic._device import Device
from jdali.dynamic._invoke import invoke, plain
from jdali.dynamic._rng import get_default_rng
from jdali.dynamic._value import EagerValue, wrap
from jdali.engine import eager

_STATE_VERSION = 1

_GENERIC_ARGUMENTS = {
    "max_batch_size": (
        None,
        "largest `batch_size` that a call may ask for, and the default in `next_epoch`; None: any, and single samples.",
    ),
    "name": (None, "name for messages and checkpoints."),
    "device": ("cpu", "device of the outputs."),
    "num_inputs": (None, "without effect: readers have no inputs."),
}


class Reader:
    """Reads samples of a data set; serves as base of the classes in `jdali.dynamic.readers`."""

    _op: ClassVar[Operator]
    __signature__: ClassVar[inspect.Signature]

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: Any = "cpu",
        num_inputs: int | None = None,
        *,
        enable_checkpointing: bool = False,
        **args: Any,
    ):
        op = self._op
        passed = {key: _plain(op, key, value) for key, value in args.items() if value is not None}
        op.bind(passed)
        self.name = name
        self._device = device if isinstance(device, Device) else Device(device)
        self._max_batch_size = max_batch_size
        self._args = passed
        self._lock = threading.RLock()
        self._opened: eager.EagerReader | None = None
        self._seed = get_default_rng()() if passed.get("seed", -1) in (None, -1) else int(passed["seed"])
        self._epochs = 0  # number of completed epochs
        self._taken = 0  # number of samples taken from the current epoch
        self._resumed = 0  # number of samples taken from the current epoch when the state was saved

    def _reader(self) -> eager.EagerReader:
        with self._lock:
            if self._opened is None:
                self._opened = eager.EagerReader(self._op, self._args, seed=self._seed)
            return self._opened

    def __call__(self, *, batch_size: int | None = None) -> Any:
        """Returns a tensor of the next sample, or a batch of the next `batch_size` samples, for each output."""
        self._check(batch_size)
        count = 1 if batch_size is None else batch_size
        with self._lock:
            outputs = self._reader().next(count, EvalContext.current().thread_pool.pool)
        values = (wrap(output, Device.CPU, is_batch=batch_size is not None) for output in outputs)
        return self._result(tuple(value.to_device(self._device) for value in values))

    def _result(self, values: tuple[object, ...]) -> Any:
        return values if len(values) > 1 else values[0]

    def next_epoch(
        self, batch_size: int | None = None, ctx: EvalContext | None = None, capture: bool = False
    ) -> Iterator[Any]:
        """Iterates over one epoch of this shard.

        Without `pad_last_batch`, the last batch is filled with the first samples of the next epoch. The next epoch then begins
        after them.

        Args:
            batch_size: size of the batches; None: `max_batch_size`, or single samples if that is None too.
            ctx: context whose threads are used; None: the current context.
            capture: without effect.

        Returns: an iterator over tuples, or over dicts if outputs have names, with a tensor or a batch for each output.
        """
        batch_size = self._max_batch_size if batch_size is None else batch_size
        self._check(batch_size)
        return self._epoch(batch_size, ctx)

    def _epoch(self, batch_size: int | None, ctx: EvalContext | None) -> Iterator[Any]:
        count = batch_size or 1
        self._taken, self._resumed = self._resumed, 0
        for _ in range(-(-(self._epoch_samples() - self._taken) // count)):
            if ctx is None:
                result = self(batch_size=batch_size)
            else:
                with ctx:
                    result = self(batch_size=batch_size)
            self._taken += count
            yield result if isinstance(result, (tuple, dict)) else (result,)
        self._epochs, self._taken = self._epochs + 1, 0

    def _epoch_samples(self) -> int:
        """Returns the number of samples that the coming epoch reads from its shard."""
        meta = self.get_metadata()
        size, shards = meta["epoch_size"], meta["number_of_shards"]
        if meta["pad_last_batch"]:
            return meta["epoch_size_padded"] // shards
        shard = meta["shard_id"] if meta["stick_to_shard"] else (meta["shard_id"] + self._epochs) % shards
        return size * (shard + 1) // shards - size * shard // shards

    def _check(self, batch_size: int | None) -> None:
        if batch_size is None:
            return
        if batch_size < 1:
            raise ValueError(f"{self._op.name}: batch_size is {batch_size}")
        if self._max_batch_size is not None and batch_size > self._max_batch_size:
            raise ValueError(
                f"{self._op.name}: batch_size {batch_size} is more than max_batch_size {self._max_batch_size}"
            )

    def get_metadata(self, batch_size: int | None = None) -> dict[str, int]:
        """Returns the sizes of the data set and its shards, as `Pipeline.reader_meta` does; `batch_size` has no effect."""
        return self._reader().meta()

    def get_state(self, *, cuda_stream: object = None) -> dict[str, Any]:
        """Returns the position of the reader as a dict that JSON can store; `cuda_stream` has no effect."""
        with self._lock:
            epoch = {"epochs": self._epochs, "taken": self._taken}
            return {"version": _STATE_VERSION, **epoch, "reader": self._reader().get_state()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continues from a state. The next call of `next_epoch` yields the rest of the epoch in which the state was saved."""
        check_version(self._op.name, state, _STATE_VERSION)
        with self._lock:
            self._reader().set_state(state["reader"])
            self._epochs = int(state["epochs"])
            self._taken = self._resumed = int(state["taken"])

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__name__}{f' {self.name!r}' if self.name else ''}>"


class NamedReader(Reader):
    """Returns a dict of outputs; `features` lists the keys."""

    def _result(self, values: tuple[object, ...]) -> Any:
        return dict(zip(self._args["features"], values, strict=True))


class ResizingReader(Reader):
    """Reads frames and resizes them."""

    def _result(self, values: tuple[object, ...]) -> Any:
        own = REGISTRY["readers.video"].public_args  # the other arguments belong to `resize`
        resizing = {name: value for name, value in self._args.items() if name not in own}
        return super()._result((invoke(REGISTRY["resize"], values[:1], resizing), *values[1:]))


class KeywordReader(Reader):
    """Takes lists of files as keyword arguments, and returns an output for each list."""

    def __init__(self, *args: Any, enable_checkpointing: bool = False, **kwargs: Any):
        kwargs |= dict(zip(_GENERIC_ARGUMENTS, args, strict=False))
        generic = {name: kwargs.pop(name) for name in _GENERIC_ARGUMENTS if name in kwargs}
        super().__init__(**generic, **files_by_keyword(self._op, kwargs))


_BASES: dict[str, type[Reader]] = {
    "readers.paired": KeywordReader,
    "readers.tfrecord": NamedReader,
    "readers.video_resize": ResizingReader,
}


def outputs_of(reader: Reader) -> tuple[int, tuple[str, ...] | None]:
    """Returns the number of a reader's outputs, and their names. The names are None unless it returns dicts."""
    names = tuple(reader._args["features"]) if isinstance(reader, NamedReader) else None
    return reader._op.num_outputs(reader._op.bind(reader._args)), names


def _plain(op: Operator, name: str, value: object) -> Any:
    """Converts an argument of a reader; a tensor or a batch becomes a list of numbers."""
    if isinstance(value, EagerValue):
        return to_array(value, f"{op.name}: argument {name!r}").tolist()
    arg = op.args.get(name)
    return value if arg is None else converted(op.name, arg, value, functools.partial(plain, arg))


def make_reader(op: Operator) -> type[Reader]:
    signature = public_signature(op, None, None)
    first = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
        for name, (default, _) in _GENERIC_ARGUMENTS.items()
    ]
    own = [p for p in signature.parameters.values() if p.name not in _GENERIC_ARGUMENTS]
    last = inspect.Parameter("enable_checkpointing", inspect.Parameter.KEYWORD_ONLY, default=False)
    extra = {name: text for name, (_, text) in _GENERIC_ARGUMENTS.items()}
    extra["enable_checkpointing"] = "without effect: `get_state` always works."
    made = inspect.Signature([*first, *own, last])
    path, _, name = class_name(op.name).rpartition(".")
    attributes = {
        "_op": op, "__doc__": document(op, extra), "__module__": f"jdali.dynamic.{path}", "__operator__": op,
        "__signature__": with_keywords(made) if op.name == "readers.paired" else made,
    }  # fmt: skip
    return type(name, (_BASES.get(op.name, Reader),), attributes)
