"""Converts a batch to a few arrays, to send it to another process. The number of arrays does not depend on the batch size."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import numpy as np

from jdali._batches.extent import BatchSpec
from jdali._batches.gathering import gather
from jdali._batches.provenance import Drawn, Provenance
from jdali._batches.store import PaddedBlock, RaggedBlock, Store, keeping
from jdali._batches.tensor_list import TensorList
from jdali._system.devices import AnyArray, HostArray, host_device, to_host
from jdali._system.jax_internals import placed_on_host


@dataclasses.dataclass(frozen=True)
class SentBatch:
    """Holds the contents of a `TensorList` in host arrays, so that another process can rebuild it.

    Attributes:
        extent: size of all samples; None if sizes differ, see `extents`.
        extents: [N, ndim], sizes of samples, if they differ.
        device: "cpu" or "gpu".
        values: [N, *extent] if all samples have the same size; otherwise the concatenated elements of all samples.
        is_jax: True if the values were a JAX array.
    """

    extent: tuple[int, ...] | None
    extents: HostArray | None
    dtype: np.dtype
    layout: str
    device: str
    values: HostArray
    is_jax: bool
    provenance: Provenance | None

    def spec(self) -> BatchSpec:
        if self.extent is None:
            assert self.extents is not None
            return BatchSpec(self.extents, self.dtype, self.layout)
        extents = np.empty((len(self.values), len(self.extent)), np.int64)
        extents[:] = self.extent
        return BatchSpec(extents, self.dtype, self.layout)


def send_batch(batch: TensorList, send: Callable[[Provenance], Provenance] = Provenance.send) -> SentBatch:
    """Describes a batch; copies its samples to host memory."""
    store, spec = batch.store, batch.spec
    is_jax = any(isinstance(b, PaddedBlock) and isinstance(b.array, jax.Array) for b in store.blocks)
    values: HostArray
    extent: tuple[int, ...] | None = None
    if spec.is_uniform:
        extent = tuple(spec.extents[0].tolist()) if len(batch) else (0,) * spec.ndim
        values = np.ascontiguousarray(to_host(gather(store, None, extent, None)))
    else:
        values = np.concatenate([sample.reshape(-1) for sample in store.host_samples()])
    provenance = batch.provenance
    return SentBatch(
        extent, spec.extents if extent is None else None, spec.dtype, spec.layout, batch.device, values, is_jax,
        None if provenance is None else send(provenance),
    )  # fmt: skip


def receive_batch(sent: SentBatch, receive: Callable[[Provenance], Provenance]) -> TensorList:
    """Makes a batch from the result of `send_batch`, without copying its values."""
    spec = sent.spec()
    if not spec.batch_size:
        store = Store.empty(spec)
    elif sent.extent is not None:
        store = Store.of_block(PaddedBlock(_placed(sent)), spec)
    else:
        sizes = spec.extents.prod(axis=1)
        block = RaggedBlock(sent.values, np.cumsum(sizes) - sizes, spec.extents)
        store = Store.of_block(block, spec)
    source = None if sent.provenance is None else receive(sent.provenance)
    return TensorList.from_store(store, sent.device, source)


def _placed(sent: SentBatch) -> AnyArray:
    if not sent.is_jax:
        return sent.values
    with keeping(sent.dtype):
        # The values do not change as long as an array references them, so JAX need not copy them.
        return placed_on_host(sent.values, host_device())


def drawn_by(drawn: Callable[[str], Drawn]) -> Callable[[Provenance], Provenance]:
    """Returns a function that restores provenances. A provenance that several batches share is restored only once."""
    known: dict[int, Provenance] = {}

    def receive(sent: Provenance) -> Provenance:
        if id(sent) not in known:
            known[id(sent)] = sent.received(drawn)
        return known[id(sent)]

    return receive
