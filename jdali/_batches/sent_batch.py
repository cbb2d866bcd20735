"""A batch on its way to another process: few arrays, however many samples there are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import numpy as np

from jdali._batches.extent import BatchSpec
from jdali._batches.gather import gather
from jdali._batches.provenance import Drawn, Provenance, SentProvenance
from jdali._batches.store import PaddedBlock, RaggedBlock, Store, keeping
from jdali._batches.tensor_list import TensorList
from jdali._system.devices import AnyArray, HostArray, host_device, to_host


@dataclasses.dataclass(frozen=True)
class SentBatch:
    """A `TensorList` without anything of its process.

    Attributes:
        spec: sizes, element type and layout.
        device: "cpu" or "gpu".
        values: [N, *extent] if all samples have one size, else [elements] of one sample after another.
        is_jax: an array of JAX held them.
        provenance: of the samples.
    """

    spec: BatchSpec
    device: str
    values: HostArray
    is_jax: bool
    provenance: SentProvenance | None


def send_batch(batch: TensorList) -> SentBatch:
    """Describes a batch; its samples are brought to host memory."""
    store, spec = batch.store, batch.spec
    is_jax = any(isinstance(b, PaddedBlock) and isinstance(b.array, jax.Array) for b in store.blocks)
    values: HostArray
    if spec.is_uniform:
        shape = tuple(spec.extents[0].tolist()) if len(batch) else (0,) * spec.ndim
        values = np.ascontiguousarray(to_host(gather(store, None, shape, None)))
    else:
        values = np.concatenate([sample.reshape(-1) for sample in store.host_samples()])
    provenance = batch.provenance
    return SentBatch(spec, batch.device, values, is_jax, None if provenance is None else provenance.send())


def receive_batch(sent: SentBatch, drawn: Callable[[str, np.ndarray], Drawn]) -> TensorList:
    """Makes a batch of what `send_batch` returned; its arrays lie in the memory of the description.

    Args:
        sent: the description.
        drawn: see `Provenance.receive`.
    """
    spec = sent.spec
    if not spec.batch_size:
        store = Store.empty(spec)
    elif spec.is_uniform:
        store = Store.of_block(PaddedBlock(_placed(sent)), spec)
    else:
        sizes = spec.extents.prod(axis=1)
        block = RaggedBlock(sent.values, np.cumsum(sizes) - sizes, spec.extents)
        store = Store.of_block(block, spec)
    source = None if sent.provenance is None else Provenance.receive(sent.provenance, drawn)
    return TensorList.from_store(store, sent.device, source)


def _placed(sent: SentBatch) -> AnyArray:
    if not sent.is_jax:
        return sent.values
    with keeping(sent.spec.dtype):
        # The values never change as long as something looks at them, so JAX need not copy them.
        placed: jax.Array = jax.device_put(sent.values, host_device(), may_alias=True)
        return placed
