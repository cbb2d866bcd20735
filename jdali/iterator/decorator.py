"""Defines the decorator `data_iterator`, which turns a pipeline function into a factory of iterators."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
from jax.sharding import Sharding

from jdali._batches import batch_shards, number_of_batch_shards, over_devices
from jdali.iterator.data_iterator import DataIterator
from jdali.iterator.policy import LastBatchPolicy
from jdali.pipeline import Pipeline, pipeline_def

# Default number of threads of each pipeline, as in DALI.
DEFAULT_NUM_THREADS = 4


def data_iterator(
    pipeline_fn: Callable[..., object] | None = None,
    output_map: Sequence[str] | type | None = None,
    size: int = -1,
    reader_name: str | None = None,
    auto_reset: bool | str | None = False,
    last_batch_padded: bool = False,
    last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
    prepare_first_batch: bool = True,
    sharding: Sharding | Mapping[str, Sharding] | None = None,
    devices: Sequence[jax.Device] | None = None,
    *,
    mask_name: str = "mask",
    ragged: str | Sequence[str] = "error",
    squeeze: str | Sequence[str] = (),
    pmap_shape: bool = False,
) -> Any:
    """Turns a pipeline function into a factory of `DataIterator`s.

    The factory takes the arguments of the function and of `Pipeline`. With `sharding` or `devices`,
    `batch_size` counts the samples of all devices (and processes) together. If the function has the parameters
    `shard_id` and `num_shards`, each shard of the batch has its own pipeline, called with its `shard_id`;
    otherwise one pipeline makes the whole batch, which is then split.

    Args:
        pipeline_fn: as for `pipeline_def`.
        output_map, size, reader_name, auto_reset, last_batch_padded, last_batch_policy, prepare_first_batch,
            sharding, mask_name, ragged, squeeze, pmap_shape: as for `DataIterator`.
        devices: used instead of `sharding`; the batch is split over these devices.
    """
    if sharding is not None and devices is not None:
        raise ValueError("data_iterator: Only one of `sharding` and `devices` arguments can be provided")
    if devices is not None:
        sharding = over_devices(devices)

    def iterate(pipelines: list[Pipeline]) -> DataIterator:
        return DataIterator(
            pipelines, output_map, size, reader_name, auto_reset, last_batch_padded, last_batch_policy,
            prepare_first_batch, sharding, mask_name=mask_name, ragged=ragged, squeeze=squeeze, pmap_shape=pmap_shape,
        )  # fmt: skip

    return factory_of(pipeline_fn, iterate, sharding)


def factory_of(
    pipeline_fn: Callable[..., object] | None,
    iterate: Callable[[list[Pipeline]], DataIterator[Any]],
    sharding: Sharding | Mapping[str, Sharding] | None,
    *,
    one_for_each: bool = False,
) -> Any:
    """Returns a factory of iterators over the pipelines of `pipeline_fn`, or a decorator that makes one if it is None.

    Args:
        one_for_each: if True, each part of the batch must have its own pipeline, with `shard_id` and `num_shards`. The
            factory then takes `checkpoints`, one for each pipeline, from `DataIterator.checkpoints`.
    """

    def decorate(function: Callable[..., object]) -> Callable[..., DataIterator[Any]]:
        @functools.wraps(function)
        def create(*args: object, **kwargs: Any) -> DataIterator[Any]:
            checkpoints = kwargs.pop("checkpoints", None) if one_for_each else None
            each = _arguments(function, kwargs, sharding, one_for_each)
            if checkpoints:
                if len(checkpoints) != len(each):
                    name = function.__name__
                    raise ValueError(f"{name}: {len(checkpoints)} checkpoints for {len(each)} pipelines")
                each = [own | {"checkpoint": one} for own, one in zip(each, checkpoints, strict=True)]
            return iterate([pipeline_def(function)(*args, **arguments) for arguments in each])

        return create

    return decorate(pipeline_fn) if pipeline_fn is not None else decorate


def _arguments(
    function: Callable[..., Any],
    kwargs: Mapping[str, Any],
    sharding: Sharding | Mapping[str, Sharding] | None,
    one_for_each: bool,
) -> list[dict[str, Any]]:
    """Returns the keyword arguments of the pipeline function, for each pipeline of this process."""
    options = {"num_threads": DEFAULT_NUM_THREADS, **kwargs}
    if sharding is None:
        return [options]
    shards, count = _shards(sharding)
    if "batch_size" not in options:
        raise TypeError(f"{function.__name__}: batch_size must be given, for all devices together")
    whole = options.pop("batch_size")
    if whole % count:
        raise ValueError(f"{function.__name__}: batch_size {whole} cannot be split evenly in {count} parts")
    own = inspect.signature(function).parameters
    if "shard_id" not in own or "num_shards" not in own:
        if len(shards) != count or one_for_each:
            raise TypeError(
                f"{function.__name__}: each part of the batch has its own pipeline, so the function must "
                "take shard_id and num_shards, and give them to its reader"
            )
        return [{**options, "batch_size": whole}]
    options |= {"batch_size": whole // count, "num_shards": count}
    return [
        {"device_id": jax.local_devices().index(device), **options, "shard_id": shard}
        for shard, device in shards
    ]


def _shards(sharding: Sharding | Mapping[str, Sharding]) -> tuple[list[tuple[int, jax.Device]], int]:
    """Returns (part, device) for each part of the batch in this process, and the number of parts in all processes."""
    found = {
        (tuple(batch_shards(one)), number_of_batch_shards(one))
        for one in (sharding.values() if isinstance(sharding, Mapping) else [sharding])
    }
    if len(found) != 1:
        raise ValueError("data_iterator: all shardings must split the batch in the same way")
    shards, count = found.pop()
    return list(shards), count
