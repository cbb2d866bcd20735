from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from jdali._sources import SourceItems, check_source, cycle_mode, is_callback, takes_argument
from jdali.dynamic._batch import Batch, as_batch
from jdali.dynamic._device import Device
from jdali.dynamic._tensor import Tensor


class ExternalSource:
    """Takes data from a function or an iterable, one item per call.

    Args:
        source: a function without arguments, a generator function, or an iterable. Each item is data for a tensor or a batch
            or, with `num_outputs` above 1, a tuple of such data.
        num_outputs: number of outputs of a call.
        cycle: what happens at the end of an iterable. "quiet" or True begins again. "raise" raises StopIteration once and
            then begins again. "no", False or None raises StopIteration at every further call.
        device: device of the outputs.
        layout: layout of a sample; a list has a layout for each output.
        dtype: element type; a list has a type for each output.
    """

    def __init__(
        self,
        source: Callable[[], Any] | Iterable[Any],
        num_outputs: int = 1,
        *,
        cycle: str | bool | None = None,
        device: Any = "cpu",
        layout: str | Sequence[str] | None = None,
        dtype: Any = None,
    ):
        if source is None:
            raise TypeError("ExternalSource: The `source` must be callable or iterable, it is None")
        check_source(source, cycle)
        if is_callback(source) and takes_argument(source):
            raise ValueError("ndd.ExternalSource only supports callables with no parameters")
        if num_outputs <= 0:
            raise ValueError(f"ExternalSource: num_outputs must be strictly positive, not {num_outputs}")
        self._num_outputs = num_outputs
        self._items = SourceItems(source, cycle_mode(cycle))
        self._device = device if isinstance(device, Device) else Device(device)
        self._layouts = self._each(layout, "layout")
        self._dtypes = self._each(dtype, "dtype")

    def _each(self, value: object, name: str) -> list[Any]:
        if not isinstance(value, (list, tuple)):
            return [value] * self._num_outputs
        if len(value) != self._num_outputs:
            raise ValueError(
                f"ExternalSource: {name}: Expected a sequence of size {self._num_outputs}, got {len(value)}"
            )
        return list(value)

    def __call__(self, *, batch_size: int | None = None) -> object:
        """Returns the next item.

        Args:
            batch_size: size of the returned batch. An item that is one tensor is repeated; a batch must have this size.

        Returns: a `Tensor`, or a `Batch`; a tuple of them if there are several outputs.
        """
        item = self._items.next()
        if self._num_outputs > 1 and (not isinstance(item, Sequence) or len(item) != self._num_outputs):
            found = len(item) if isinstance(item, Sequence) else type(item).__name__
            raise ValueError(
                f"ExternalSource: Expected {self._num_outputs} outputs from the source. It gave {found}"
            )
        items = (item,) if self._num_outputs == 1 else tuple(item)
        outputs = tuple(
            self._output(data, batch_size, layout, dtype)
            for data, layout, dtype in zip(items, self._layouts, self._dtypes, strict=True)
        )
        return outputs[0] if self._num_outputs == 1 else outputs

    def _output(self, data: Any, batch_size: int | None, layout: Any, dtype: Any) -> object:
        if isinstance(data, Batch):
            if batch_size not in (None, data.batch_size):
                raise ValueError(f"ExternalSource: Expected batch size {batch_size}, got {data.batch_size}")
            return as_batch(data, dtype, self._device, layout)
        tensor = Tensor(data, dtype, self._device, layout, copy=True)  # the source may reuse its memory
        return tensor if batch_size is None else Batch.broadcast(tensor, batch_size)

    def captured(self, batch_size: int | None = None, ctx: object = None) -> Iterator[Any]:
        """Yields items until the source ends; `ctx` has no effect."""
        while True:
            try:
                item = self(batch_size=batch_size)
            except StopIteration:
                return
            yield item
