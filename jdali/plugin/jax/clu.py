"""Provides DALI's `plugin.jax.clu`: iterators with the interface of CLU's `PeekableDatasetIterator`.

CLU is not required: without it, this module defines an `ArraySpec` with the same fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

import jax
import numpy as np
from jax.sharding import Sharding

from jdali._batches import of_batch_axis, place
from jdali._system.devices import HostArray
from jdali._threads import WorkerThreads
from jdali.iterator import LastBatchPolicy
from jdali.iterator.assembled_ahead import UserBatch
from jdali.plugin.jax.iterator import DALIGenericIterator, make_decorator

__all__ = ["ArraySpec", "DALIGenericPeekableIterator", "get_spec_for_array", "peekable_data_iterator"]


try:
    from clu.data.dataset_iterator import ArraySpec  # type: ignore[import-not-found]
except ImportError:

    @dataclasses.dataclass(frozen=True)
    class ArraySpec:  # type: ignore[no-redef]
        """Describes element type and shape of an array."""

        dtype: np.dtype
        shape: tuple[int, ...]


def get_spec_for_array(jax_array: jax.Array) -> ArraySpec:
    """Returns the `ArraySpec` of an array."""
    return ArraySpec(np.dtype(jax_array.dtype), tuple(jax_array.shape))


class DALIGenericPeekableIterator(DALIGenericIterator):
    """Extends `DALIGenericIterator` by `peek`, which returns the next batch without consuming it.

    All batches must have the same shapes and element types. `peek` and `next` may be called from several
    threads. `get_state` and `checkpoints` do not count a batch that was only peeked at.

    Args:
        pipelines, output_map, size, reader_name, auto_reset, last_batch_padded, last_batch_policy,
            prepare_first_batch, sharding: see `jdali.iterator.DataIterator`.
        pmap_compatible: True adds a leading axis even to the outputs of a single pipeline.
    """

    _spec: dict[str, ArraySpec] | None = None
    _peekers: WorkerThreads | None = None

    def _accepted(self, batch: UserBatch) -> UserBatch:
        spec = {name: get_spec_for_array(array) for name, array in batch.arrays.items()}
        self._spec = self._spec or spec
        for name in spec:
            if spec[name] != self._spec[name]:
                raise ValueError(
                    "The shape or type of the output changed between iterations. "
                    f"Output {name!r} was {self._spec[name]} and is {spec[name]} now; a peekable iterator needs "
                    "the same shapes and types in all batches"
                )
        return batch

    def peek_async(self) -> Future[dict[str, jax.Array]]:
        """Calls `peek` in another thread; a `next` that is called before `peek` finishes may take the batch first."""
        if self._peekers is None:
            self._peekers = WorkerThreads(1, "jdali-peek")
        return self._peekers.submit(self.peek)

    @property
    def element_spec(self) -> dict[str, ArraySpec]:
        """Returns the `ArraySpec` of each output."""
        if self._spec is None:
            self.peek()
        assert self._spec is not None
        return dict(self._spec)

    @property
    def is_nonpadding(self) -> HostArray | jax.Array:
        """Returns bool [N] for the batch that `next` returned last: False for samples that only fill up the batch."""
        sharding = self._stream.assemble.sharding
        if not isinstance(sharding, Sharding):
            return self._belongs
        return place("is_nonpadding", [self._belongs], of_batch_axis(sharding))

    def close(self) -> None:
        super().close()
        if self._peekers is not None:
            self._peekers.shutdown()


def peekable_data_iterator(
    pipeline_fn: Callable[..., object] | None = None,
    output_map: Sequence[str] = (),
    size: int = -1,
    reader_name: str | None = None,
    auto_reset: bool | str | None = False,
    last_batch_padded: bool = False,
    last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
    prepare_first_batch: bool = True,
    sharding: Sharding | None = None,
    devices: Sequence[jax.Device] | None = None,
    pmap_compatible: bool | None = None,
) -> Any:
    """Turns a pipeline function into a function that returns a `DALIGenericPeekableIterator`.

    Args:
        pipeline_fn, output_map, size, reader_name, auto_reset, last_batch_padded, last_batch_policy,
            prepare_first_batch, sharding, devices, pmap_compatible: see `plugin.jax.data_iterator`.
    """
    return make_decorator(
        DALIGenericPeekableIterator, pipeline_fn, sharding, devices, pmap_compatible, output_map, size, reader_name,
        auto_reset, last_batch_padded, last_batch_policy, prepare_first_batch,
    )  # fmt: skip
