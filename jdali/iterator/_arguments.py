"""What an iterator is given: whether it fits together, and how long its epochs are by that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jax.sharding import Sharding

from jdali.iterator._policy import EpochCounter, LastBatchPolicy, ReaderFacts
from jdali.pipeline import Pipeline


def check_arguments(
    pipes: Sequence[Pipeline],
    names: Sequence[str],
    size: int,
    reader_name: str | None,
    padded: bool,
    policy: Any,
) -> None:
    if not pipes:
        raise ValueError("iterator: give at least one pipeline")
    sizes = [pipe.batch_size for pipe in pipes]
    if len(set(sizes)) > 1:
        raise ValueError(f"iterator: all pipelines must have the same batch size, got {sizes}")
    if len(set(names)) != len(names):
        raise ValueError(f"iterator: output_map names should be distinct, got {list(names)}")
    if not isinstance(policy, LastBatchPolicy):
        raise ValueError(
            f"iterator: Wrong type for `last_batch_policy`. It must be a LastBatchPolicy, not {policy!r}"
        )
    if size == 0:
        raise ValueError("iterator: size cannot be 0")
    if reader_name is not None and (size > 0 or padded):
        raise ValueError(
            "iterator: with reader_name the reader says its size and padding: give neither of them"
        )
    if reader_name is None and size < 0 and len(pipes) > 1:
        raise ValueError(
            "iterator: Negative size is supported only for a single pipeline; several need size or reader_name"
        )


def epoch_counter(
    pipes: Sequence[Pipeline], size: int, reader_name: str | None, padded: bool, policy: LastBatchPolicy
) -> EpochCounter:
    reader = None
    if reader_name is not None:
        reader = ReaderFacts.of([pipe.reader_meta(reader_name) for pipe in pipes])
        if policy is LastBatchPolicy.PAD and not reader.pads:
            raise ValueError(
                f"iterator: LastBatchPolicy.PAD needs pad_last_batch=True for the reader {reader_name!r}: "
                "without it the samples that fill up the last batch would be missing from the next epoch"
            )
    counter = EpochCounter(
        policy, batch_size=pipes[0].batch_size, pipelines=len(pipes), size=size, reader=reader, padded=padded
    )
    if counter.length == 0:
        raise RuntimeError(
            f"iterator: {counter.size} samples in a shard do not fill one batch of "
            f"{counter.samples_per_step}, and LastBatchPolicy.DROP gives full ones only"
        )
    return counter


def check_sharding(sharding: Any, names: Sequence[str], policy: LastBatchPolicy) -> None:
    if isinstance(sharding, Mapping):
        unknown = sorted(set(sharding) - set(names))
        if unknown:
            raise ValueError(f"iterator: sharding names {unknown}, the outputs are {list(names)}")
    for one in sharding.values() if isinstance(sharding, Mapping) else [sharding]:
        if one is not None and not isinstance(one, Sharding):
            raise TypeError(f"iterator: sharding must be a jax.sharding.Sharding, not {type(one).__name__}")
        if one is not None and not one.is_fully_addressable and policy is LastBatchPolicy.PARTIAL:
            raise ValueError(
                "iterator: with LastBatchPolicy.PARTIAL processes would disagree on the shape of the last "
                "batch, and wait for each other for ever; use PAD, FILL or DROP"
            )
