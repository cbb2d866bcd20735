"""Checks an iterator's arguments against each other; finds the length of its epochs."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from jax.sharding import AbstractMesh, Mesh, PartitionSpec, Sharding

from jdali._batches import BatchSplit
from jdali.iterator.policy import EpochCounter, IteratorError, LastBatchPolicy, ReaderFacts
from jdali.pipeline import Pipeline


def output_names(
    output_map: Any,
    pipelines: Sequence[Pipeline],
    *,
    mask_name: str,
    masked: bool,
    ragged: str | Sequence[str],
) -> list[str]:
    """Returns the names of the outputs, from a list, the keys of a TypedDict, or the pipeline.

    A TypedDict may also declare the mask and the sizes of ragged outputs; they are not outputs and are left out.

    Raises:
        ValueError: the outputs have no names, or a mask is declared that the iterator does not make.
        TypeError: `output_map` is a str.
    """
    if isinstance(output_map, str):
        raise TypeError(f"iterator: output_map is a list of names, one for each output: [{output_map!r}]")
    if output_map is not None and not isinstance(output_map, type):
        return list(output_map)
    if not pipelines or not isinstance(pipelines[0], Pipeline):
        return []  # `check_arguments` raises the error
    if output_map is None:
        pipelines[0].build()  # a class defines its graph, and the names, when it is built
        named = list(pipelines[0].output_names)
    else:
        named = list(getattr(output_map, "_fields", output_map.__annotations__))
    if not named:
        raise ValueError(
            "iterator: the outputs have no names: give output_map, as in DataIterator(pipe, ['images', 'labels']); or let "
            "the function of the pipeline return a dict, or annotate it `-> Batch` with a TypedDict `Batch`"
        )
    if len(named) <= pipelines[0].num_outputs:
        return named
    padded = named if ragged == "pad" else [] if isinstance(ragged, str) else ragged
    beside = {f"{name}_extent" for name in padded} | {mask_name}
    if mask_name in named and not masked:
        raise ValueError(
            f"iterator: {mask_name!r} is declared, and there is no mask: give last_batch_policy=LastBatchPolicy.PAD, or "
            'on_error="mask" to the pipeline'
        )
    return [name for name in named if name not in beside]


def check_arguments(
    pipes: Sequence[Any],
    names: Sequence[str],
    size: int,
    reader_name: str | None,
    padded: bool,
    policy: Any,
) -> None:
    for pipe in pipes:
        if hasattr(pipe, "_is_pipeline_def"):
            raise TypeError(
                f"iterator: {pipe.__name__} is a function that makes pipelines: call it, as in "
                f"DataIterator({pipe.__name__}(...), ...)"
            )
    if not pipes:
        raise IteratorError("iterator: Number of provided pipelines has to be at least 1")
    sizes = [pipe.batch_size for pipe in pipes]
    if len(set(sizes)) > 1:
        raise IteratorError(f"iterator: All pipelines should have the same batch size set, got {sizes}")
    if len(set(names)) != len(names):
        raise IteratorError(f"iterator: output_map names should be distinct, got {list(names)}")
    if not isinstance(policy, LastBatchPolicy):
        raise IteratorError(
            f"iterator: Wrong type for `last_batch_policy`. Expected {LastBatchPolicy}, got {type(policy)}: {policy!r}. "
            f"Give one of {', '.join(f'LastBatchPolicy.{p.name}' for p in LastBatchPolicy)}"
        )
    if len({pipe.enable_checkpointing for pipe in pipes}) > 1:
        raise IteratorError(
            "iterator: All wrapped pipelines must have the same value for `enable_checkpointing`."
        )
    if size == 0:
        raise IteratorError("iterator: Size cannot be 0")
    if reader_name is not None and (size > 0 or padded):
        what = "size" if size > 0 else "last_batch_padded"
        raise IteratorError(
            f"iterator: When reader_name is provided, {what} should not be set: the reader provides it"
        )
    if reader_name is None and size < 0 and len(pipes) > 1:
        raise IteratorError(
            "iterator: Negative size is supported only for a single pipeline; several need size or reader_name"
        )


def epoch_counter(
    pipes: Sequence[Pipeline],
    size: int,
    reader_name: str | None,
    padded: bool,
    policy: LastBatchPolicy,
    prepares: bool,
) -> EpochCounter:
    reader = None
    if reader_name is not None:
        reader = ReaderFacts.of([pipe.reader_meta(reader_name) for pipe in pipes])
        if policy is LastBatchPolicy.PAD and not reader.pads:
            raise ValueError(
                f"iterator: LastBatchPolicy.PAD needs pad_last_batch=True for the reader {reader_name!r}: without it the "
                "samples that fill up the last batch would be missing from the next epoch (readers without this argument, such "
                "as readers.pack, go with FILL or DROP)"
            )
        if policy is LastBatchPolicy.DROP and reader.pads:
            _refuse_padding_alone(reader, pipes[0].batch_size)
    counter = EpochCounter(
        policy, batch_size=pipes[0].batch_size, pipelines=len(pipes), size=size, reader=reader, padded=padded
    )
    if counter.length == 0 and prepares:  # as in DALI; if `prepares` is false, epochs are empty
        raise RuntimeError(
            f"iterator: {counter.size} samples in a shard do not fill one batch of "
            f"{counter.samples_per_step}, and LastBatchPolicy.DROP gives full ones only "
            "(with prepare_first_batch=False epochs are empty). It seems that there is no data in "
            "the pipeline. This may happen if `last_batch_policy` is set to PARTIAL and the requested batch size is greater "
            "than the shard size."
        )
    return counter


def _refuse_padding_alone(reader: ReaderFacts, batch_size: int) -> None:
    """Raises ValueError if every second epoch would consist of padding alone."""
    sizes = reader.shard_sizes()
    if min(sizes) == batch_size < max(sizes):
        raise ValueError(
            f"iterator: with LastBatchPolicy.DROP and pad_last_batch=True every second epoch would hold nothing but padding: "
            f"shards have {min(sizes)} or {max(sizes)} samples, a batch {batch_size}. Give the reader pad_last_batch=False, or "
            "the iterator another policy"
        )


def _sharding_advice(value: object) -> str:
    if isinstance(value, (Mesh, AbstractMesh)):
        return '; write sharding=NamedSharding(mesh, P("batch")), with the axis of the mesh that the batch is split over'
    if isinstance(value, PartitionSpec):
        return "; write sharding=NamedSharding(mesh, P(...)): a PartitionSpec has no devices"
    return ""


def check_sharding(
    sharding: object, names: Sequence[str], policy: LastBatchPolicy, padded: Sequence[str]
) -> None:
    if isinstance(sharding, Mapping):
        unknown = sorted(set(sharding) - set(names))
        if unknown:
            raise ValueError(f"iterator: sharding names {unknown}, the outputs are {list(names)}")
    by_name = sharding if isinstance(sharding, Mapping) else dict.fromkeys(names, sharding)
    for name, one in by_name.items():
        if one is not None and not isinstance(one, Sharding):
            raise TypeError(
                f"iterator: `sharding` should be an instance of `jax.sharding.Sharding`, not {type(one).__name__}"
                + _sharding_advice(one)
            )
        if one is not None and not one.is_fully_addressable and policy is LastBatchPolicy.PARTIAL:
            raise ValueError(
                "iterator: with LastBatchPolicy.PARTIAL processes would disagree on the shape of the last "
                "batch, and wait for each other for ever; use PAD, FILL or DROP"
            )
        if one is not None and not one.is_fully_addressable and name in padded:
            raise ValueError(
                f"iterator: output {name!r} is ragged, and processes would pad it to different shapes, each by its own "
                "samples; pad it in the pipeline: fn.pad(x, shape=[...]), with x.shape() as another output"
            )


def check_last_batch(counter: EpochCounter, splits: Sequence[BatchSplit | None]) -> None:
    """Raises if the partial last batch of some epoch cannot be split evenly among devices."""
    parts = {split.count for split in splits if split is not None}
    if counter.policy is not LastBatchPolicy.PARTIAL or not counter.length:
        return
    counter = copy.copy(counter)
    for _ in range(1 if counter.reader is None else counter.reader.shards):
        left = sum(counter.belonging((counter.length or 1) - 1))
        for count in parts:
            if left % count:
                raise ValueError(
                    f"iterator: with LastBatchPolicy.PARTIAL the last batch of an epoch has {left} samples, which `sharding` "
                    f"cannot split into {count} equal parts; use PAD, FILL or DROP, or another batch size"
                )
        counter.advance()
