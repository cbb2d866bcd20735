"""Readers of dynamic mode, and functions of it, as nodes of `torchdata.nodes`, whose loaders go through them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from jdali._system.extras import install
from jdali.dynamic._batch import Batch
from jdali.dynamic._device import Device
from jdali.dynamic._readers import Reader as DynamicReader
from jdali.dynamic._readers import outputs_of
from jdali.dynamic._tensor import Tensor

try:
    import torchdata.nodes as _nodes
except ImportError as error:
    raise ImportError(
        f"jdali.dynamic.pytorch.nodes needs PyTorch and torchdata, which are not installed: {install('torch')}"
    ) from error

__all__ = ["DictMapper", "Reader", "ToTorch"]

_TWO_OUTPUTS = ("data", "label")


class Reader(_nodes.BaseNode):  # type: ignore[misc]
    """A reader as a node: gives dicts of its outputs, an epoch after each `reset`.

    Its state is the reader's, to the sample: `torchdata.nodes.Loader.load_state_dict` goes on where the loop was, in this
    process or in another. After an epoch that was left early the next one goes on with the samples after those.

    Args:
        reader_type: a class of `jdali.dynamic.readers`.
        batch_size: samples in a batch; None: single samples.
        output_names: keys of the outputs; None: those that the reader gives (`readers.TFRecord`), else "data" and
            "label" for a reader with two outputs.
        kwargs: arguments of the reader.

    Raises:
        ValueError: there are not as many names as outputs, or there are no names and not two outputs.
    """

    def __init__(
        self,
        reader_type: type[DynamicReader],
        *,
        batch_size: int | None,
        output_names: Iterable[str] | None = None,
        **kwargs: Any,
    ):
        super().__init__()
        if batch_size is not None:
            kwargs.setdefault("max_batch_size", batch_size)
        self._reader = reader_type(**kwargs)
        self._batch_size = batch_size
        self._epoch: Iterator[Any] | None = None
        self._names = _names(self._reader, None if output_names is None else tuple(output_names))

    def next(self) -> dict[str, Any]:
        """Returns the outputs of the next sample or batch."""
        if self._epoch is None:
            raise RuntimeError("Reader.next: call reset first")
        outputs = next(self._epoch)
        values = outputs.values() if isinstance(outputs, Mapping) else outputs
        return dict(zip(self._names, values, strict=True))

    def reset(self, initial_state: Mapping[str, object] | None = None) -> None:
        """Begins the next epoch, or goes to a state of `get_state`."""
        super().reset(initial_state)
        if initial_state is not None:
            self._reader.set_state(dict(initial_state))
        self._epoch = self._reader.next_epoch(batch_size=self._batch_size)

    def get_state(self) -> dict[str, Any]:
        """Returns the position of the reader: plain numbers."""
        return self._reader.get_state()

    def get_metadata(self) -> dict[str, int]:
        """Returns the sizes of the data set and its shards, as `Pipeline.reader_meta`."""
        return self._reader.get_metadata(self._batch_size)


def _names(reader: DynamicReader, names: tuple[str, ...] | None) -> tuple[str, ...]:
    count, own = outputs_of(reader)
    if names is None:
        if own is None and count != len(_TWO_OUTPUTS):
            raise ValueError(f"Reader: Cannot infer output names for reader {reader!r}: give {count}")
        return own or _TWO_OUTPUTS
    if len(names) != count:
        raise ValueError(
            f"Reader: Number of output names does not match number of outputs: {len(names)} names, and {reader!r} "
            f"has {count} outputs"
        )
    return names


class DictMapper(_nodes.BaseNode):  # type: ignore[misc]
    """A function applied to one value of each dict that a node gives.

    Args:
        source: the node.
        map_fn: takes and returns a `Tensor` or a `Batch`.
        key: of the value.
    """

    def __init__(self, source: Any, map_fn: Callable[[Any], Tensor | Batch], key: str = "data"):
        super().__init__()
        self._source, self._map_fn, self._key = source, map_fn, key

    def next(self) -> dict[str, Any]:
        """Returns the next dict of the source, with the function's result in place of its value."""
        values = dict(next(self._source))
        values[self._key] = self._map_fn(values[self._key])
        return values

    def reset(self, initial_state: Mapping[str, object] | None = None) -> None:
        """Resets the source, or brings it to a state of `get_state`."""
        super().reset(initial_state)
        _reset(self._source, initial_state)

    def get_state(self) -> dict[str, Any]:
        """Returns the state of the source."""
        return _state(self._source)


class ToTorch(_nodes.BaseNode):  # type: ignore[misc]
    """The values of each dict that a node gives, as a tuple of `torch.Tensor`s.

    If any of them is on the accelerator, all are brought there. The samples of a batch must have one shape.

    Args:
        source: the node.
        output_stream: without effect.
    """

    def __init__(self, source: Any, output_stream: Any = None):
        super().__init__()
        self._source = source

    def next(self) -> tuple[Any, ...]:
        """Returns the next dict of the source, as tensors in its order."""
        values = list(next(self._source).values())
        device = next((v.device for v in values if v.device != Device.CPU), Device.CPU)
        return tuple(value.to_device(device).torch() for value in values)

    def reset(self, initial_state: Mapping[str, object] | None = None) -> None:
        """Resets the source, or brings it to a state of `get_state`."""
        super().reset(initial_state)
        _reset(self._source, initial_state)

    def get_state(self) -> dict[str, Any]:
        """Returns the state of the source."""
        return _state(self._source)


def _state(source: Any) -> dict[str, Any]:
    return {"source": source.state_dict()}


def _reset(source: Any, state: Mapping[str, Any] | None) -> None:
    source.reset(None if state is None else state["source"])
