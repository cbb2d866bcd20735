"""Provides DALI's `plugin.jax.iterator`, on top of `jdali.iterator`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
from jax.sharding import Sharding

from jdali._batches import BatchSplit, over_devices, stack
from jdali._system.devices import AnyArray
from jdali.iterator import LastBatchPolicy
from jdali.iterator.assemble import Assembler
from jdali.iterator.decorator import DEFAULT_NUM_THREADS, factory_of
from jdali.pipeline import Pipeline
from jdali.plugin.dali_names import DaliNames

__all__ = ["DALIGenericIterator", "data_iterator", "default_num_threads_value"]


class DALIGenericIterator(DaliNames[Any]):
    """Provides `jdali.iterator.DataIterator` under DALI's name, with DALI's shapes for several pipelines.

    Without `sharding`, it stacks the outputs of several pipelines to [pipelines, batch, ...], as `jax.pmap` expects. Each
    pipeline's part stays on the device that the pipeline's `device_id` names.

    Parity: `LastBatchPolicy.PARTIAL` works; DALI's iterator for JAX rejects it.

    Args:
        pipelines, output_map, size, reader_name, auto_reset, last_batch_padded, last_batch_policy,
            prepare_first_batch, sharding: see `jdali.iterator.DataIterator`.
        pmap_compatible: True adds a leading axis even to the outputs of a single pipeline.
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: bool | str | None = False,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        sharding: Sharding | Mapping[str, Sharding] | None = None,
        pmap_compatible: bool | None = None,
    ):
        pipes = [pipelines] if isinstance(pipelines, Pipeline) else list(pipelines or ())
        self._stacks = sharding is None and (len(pipes) > 1 or bool(pmap_compatible))
        super().__init__(
            pipes, output_map, size, reader_name, auto_reset, last_batch_padded, last_batch_policy,
            prepare_first_batch, sharding,
        )  # fmt: skip

    def _assembler(self, **options: Any) -> Assembler:
        if not self._stacks:
            return super()._assembler(**options)
        return _Stacking(_devices(self._pipelines), self.output_map, **options)


def _devices(pipes: Sequence[Pipeline]) -> list[jax.Device] | None:
    """Returns the device of each pipeline; None unless their `device_id`s name distinct existing devices."""
    ids = [pipe.device_id for pipe in pipes]
    local = jax.local_devices()
    if len(set(ids)) < len(ids) or any(i is None or not 0 <= i < len(local) for i in ids):
        return None
    return [local[i] for i in ids if i is not None]


class _Stacking(Assembler):
    """Stacks the outputs of pipelines along a new first axis."""

    def __init__(self, devices: Sequence[jax.Device] | None, names: Sequence[str], **options: Any):
        super().__init__(names, **options)
        self._devices = devices

    def splits(self, pipelines: int) -> list[list[BatchSplit | None]]:
        if self._devices is None:
            return super().splits(pipelines)
        return [[BatchSplit(1, ((0, (device,)),))] * len(self.names) for device in self._devices]

    def combine(self, name: str, parts: Sequence[AnyArray], sharding: Sharding | None) -> jax.Array:
        sizes = [len(part) for part in parts]
        if len(set(sizes)) > 1:
            raise ValueError(
                f"iterator: the pipelines gave {sizes} samples of output {name!r}, which cannot be stacked; "
                "use LastBatchPolicy.PAD, FILL or DROP"
            )
        return stack(parts, self._devices)


def default_num_threads_value() -> int:
    """Returns the default number of threads for each pipeline of `data_iterator`."""
    return DEFAULT_NUM_THREADS


def data_iterator(
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
    """Turns a pipeline function into a function that returns a `DALIGenericIterator`.

    With `sharding` or `devices`, the new function makes a pipeline for each part of the batch. Then `pipeline_fn` must take
    `shard_id` and `num_shards`, and `batch_size` is the number of samples in all parts together. The new function also takes
    `checkpoints`, the result of `DALIGenericIterator.checkpoints`.

    Args:
        pipeline_fn: see `pipeline_def`.
        output_map, size, reader_name, auto_reset, last_batch_padded, last_batch_policy,
            prepare_first_batch, sharding: see `DALIGenericIterator`.
        devices: devices over which a leading axis of the outputs is split.
        pmap_compatible: True adds a leading axis to the outputs; None adds it only with `devices`.
    """
    return make_decorator(
        DALIGenericIterator, pipeline_fn, sharding, devices, pmap_compatible, output_map, size, reader_name,
        auto_reset, last_batch_padded, last_batch_policy, prepare_first_batch,
    )  # fmt: skip


def make_decorator(
    kind: Callable[..., DALIGenericIterator],
    pipeline_fn: Callable[..., object] | None,
    sharding: Sharding | None,
    devices: Sequence[jax.Device] | None,
    pmap_compatible: bool | None,
    *others: Any,
) -> Any:
    """Implements `data_iterator` and `clu.peekable_data_iterator` for an iterator class, which also gets `others`."""
    if sharding is not None and devices is not None:
        raise ValueError("data_iterator: Only one of `sharding` and `devices` arguments can be provided")
    stacked = devices is not None if pmap_compatible is None else pmap_compatible
    split = over_devices(devices) if devices is not None else sharding
    if devices is not None and not stacked:
        sharding = split

    def iterate(pipelines: list[Pipeline]) -> DALIGenericIterator:
        return kind(pipelines, *others, sharding=sharding, pmap_compatible=stacked)

    return factory_of(pipeline_fn, iterate, split, one_for_each=True)
