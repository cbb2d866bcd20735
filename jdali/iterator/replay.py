"""Any batch or sample of an iterator once more, for debugging, while the iterator goes on as before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jdali._numerics.narrow import narrow
from jdali.iterator.stream import BatchStream, UserBatch
from jdali.pipeline import Pipeline

State = Mapping[str, Any]


def batch_at(stream: BatchStream, step: int, epoch: int | None) -> dict[str, jax.Array]:
    """See `DataIterator.batch_at`."""
    if step < 0 or (epoch is not None and epoch < 0):
        raise IndexError(f"batch_at: step {step}, epoch {epoch}; both count from 0")
    twin = stream.twin()
    anchors = stream.anchors
    if epoch is None:
        positions = [(0, anchor["steps"]) for anchor in anchors]
        wanted = (0, step)
    else:
        positions = [(anchor["epochs"], anchor["epoch"]["done"]) for anchor in anchors]
        wanted = (epoch, step)
    chosen = max(i for i, position in enumerate(positions) if position <= wanted)
    if chosen == 0 and stream.forgot:
        raise ValueError(
            f"batch_at: the way to step {step} is forgotten: the source began again too often since then; what comes "
            f"after step {anchors[1]['steps']} is known"
        )
    if chosen == 0 and stream.restored is not None:
        _check_the_way(twin, anchors[0], stream.restored)
    twin.set_state(anchors[chosen])
    if twin.counter.gives_nothing:
        raise IndexError(
            "batch_at: there is no batch, LastBatchPolicy.DROP leaves out what is smaller than one"
        )
    if epoch is not None:
        while twin.counter.epoch < epoch:
            twin.skip_epoch()
        length = twin.counter.length
        if length is not None and step >= length:
            raise IndexError(f"batch_at: epoch {epoch} has {length} batches, there is no step {step}")
        twin.skip(step - twin.counter.done)
    else:
        twin.skip(step - twin.counter.step)
    item = twin.next()
    while not isinstance(item, UserBatch):  # the end of an epoch comes first
        item = twin.next()
    return item.arrays


def _check_the_way(twin: BatchStream, start: State, restored: State) -> None:
    """Raises if a restored state was not reached in the way that a fresh iterator would go."""
    twin.set_state(restored)
    reached = twin.get_state()
    twin.set_state(start)
    twin.skip(restored["steps"])
    twin.set_state(twin.get_state())  # as plain as the other one
    mine = twin.get_state()
    mine["ended"], mine["epochs"], mine["epoch"] = reached["ended"], reached["epochs"], reached["epoch"]
    if mine != reached:
        raise ValueError(
            f"batch_at: batches before step {restored['steps']}, where the state was restored, are not known: "
            "epochs were ended early, or there was another batch size or number of shards"
        )


def sample(
    stream: BatchStream, names: Sequence[str], index: int, epoch: int
) -> dict[str, jax.Array]:  # fmt: skip
    """See `DataIterator.sample`."""
    pipelines = [pipeline for pipeline in stream.pipelines if isinstance(pipeline, Pipeline)]
    seeds = sorted({pipeline.seed for pipeline in pipelines})
    if len(seeds) > 1:
        raise ValueError(
            f"sample: the pipelines have different seeds, {seeds}: give them one, or use batch_at"
        )
    outputs = pipelines[0].twin().sample(index, epoch).outputs
    return {
        name: jnp.asarray(narrow(output.store.sample(0), f"iterator: output {name!r}"))
        for name, output in zip(names, outputs, strict=True)
    }
