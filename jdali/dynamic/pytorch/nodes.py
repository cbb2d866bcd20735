"""Provides nodes for loaders of `torchdata.nodes`: readers of dynamic mode, and functions of tensors and batches."""

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
    """Yields dicts of a reader's outputs; each `reset` begins an epoch.

    The node's state is the reader's position, exact to the sample, so `torchdata.nodes.Loader.load_state_dict` continues the
    loop in this process or in a different one. If a loop ends before the end of an epoch, the next epoch continues with
    the following samples.

    Args:
        reader_type: a class of `jdali.dynamic.readers`.
        batch_size: number of samples in a batch; None: single samples.
        output_names: keys of the outputs. None: the reader's own names, if it has names (`readers.TFRecord`); otherwise
            "data" and "label", for a reader with two outputs.
        kwargs: arguments of the reader.

    Raises:
        ValueError: the number of names differs from the number of outputs, or `output_names` is None and the reader has
            neither names nor two outputs.
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
        """Begins the next epoch, or continues from a state returned by `get_state`."""
        super().reset(initial_state)
        if initial_state is not None:
            self._reader.set_state(dict(initial_state))
        self._epoch = self._reader.next_epoch(batch_size=self._batch_size)

    def get_state(self) -> dict[str, Any]:
        """Returns the position of the reader."""
        return self._reader.get_state()

    def get_metadata(self) -> dict[str, int]:
        """Returns the sizes of the data set and its shards, as `Pipeline.reader_meta` does."""
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


class _DictNode(_nodes.BaseNode):  # type: ignore[misc]
    """Base of nodes that take dicts from a source node; the node's state is the source's state."""

    def __init__(self, source: Any):
        super().__init__()
        self._source = source

    def reset(self, initial_state: Mapping[str, Any] | None = None) -> None:
        """Resets the source, or restores it to a state returned by `get_state`."""
        super().reset(initial_state)
        self._source.reset(None if initial_state is None else initial_state["source"])

    def get_state(self) -> dict[str, Any]:
        """Returns the state of the source."""
        return {"source": self._source.state_dict()}


class DictMapper(_DictNode):
    """Applies a function to one value of each dict.

    Args:
        source: a node that yields dicts.
        map_fn: takes and returns a `Tensor` or a `Batch`.
        key: key of the value.
    """

    def __init__(self, source: Any, map_fn: Callable[[Any], Tensor | Batch], key: str = "data"):
        super().__init__(source)
        self._map_fn, self._key = map_fn, key

    def next(self) -> dict[str, Any]:
        """Returns the next dict of the source, with the function's result in place of the value."""
        values = dict(next(self._source))
        values[self._key] = self._map_fn(values[self._key])
        return values


class ToTorch(_DictNode):
    """Converts the values of each dict to a tuple of `torch.Tensor`s.

    If one of the values is on the accelerator, all are moved there. All samples of a batch must have the same shape.

    Args:
        source: a node that yields dicts.
        output_stream: without effect.
    """

    def __init__(self, source: Any, output_stream: Any = None):
        super().__init__(source)

    def next(self) -> tuple[Any, ...]:
        """Returns the values of the next dict as tensors, in the dict's order."""
        values = list(next(self._source).values())
        device = next((v.device for v in values if v.device != Device.CPU), Device.CPU)
        return tuple(value.to_device(device).torch() for value in values)
