"""Makes any batch or sample of an iterator again, for debugging; the iterator's position does not change."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jdali._numerics.narrow import narrow
from jdali._state import End
from jdali._system.jax_modes import batch_modes
from jdali.engine import Engine, Result
from jdali.iterator.assembled_ahead import UserBatch
from jdali.iterator.policy import EpochCounter
from jdali.iterator.stream import BatchStream

State = Mapping[str, Any]


class PipelineTwin:
    """Makes batches with the programs and threads of a pipeline, but at an independent position in the sources."""

    def __init__(self, engine: Engine):
        self._engine, self._cursor, self.slabs = engine, engine.cursor.twin(), engine.pool.slabs
        self._ended = False

    def take_result(self) -> Result:
        """Makes the next batch; raises StopIteration at the end of a source."""
        if self._ended:
            raise StopIteration
        try:
            return self._engine.make(self._engine.draw(self._cursor))
        except StopIteration:
            self._ended = True
            raise

    def reset(self) -> None:
        """Continues after the end of an external source."""
        if self._ended:
            self._ended = False
            self._cursor.reset()

    def skip(self, batches: int) -> None:
        """Skips batches without making them."""
        self._cursor.skip(batches, self._engine.batch_size)

    def shared_state(self) -> dict[str, Any]:
        return {
            **self._engine.get_state(self._cursor),
            **({"end": End.REACHED} if self._ended else {}),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._ended = state.get("end") == End.REACHED
        self._cursor.set_state(state)

    def sample(self, index: int, epoch: int) -> Result:
        """Makes a batch of one sample, by its index in the data set (without a reader: in the stream of samples)."""
        engine = self._engine
        if len(engine.sources) > len(engine.readers) or len(engine.readers) > 1:
            raise ValueError(
                "sample: the data of a sample is known only in pipelines with one reader and no external "
                "source; use batch_at"
            )
        for node in (node for step in engine.plan.steps for node in step.nodes):
            if node.mixes_samples:
                raise ValueError(
                    f"sample: {node.op.name} works on a whole batch, so a sample alone differs from the sample in "
                    "its batch; use batch_at"
                )
        for reader in engine.readers.values():
            if not 0 <= index < reader.count:
                raise IndexError(f"sample: index {index} is not in the data set of {reader.count} samples")
            if reader.selection is not None and reader.selection.ends is not None:
                raise ValueError(
                    "sample: with weights an epoch may draw a sample several times; use batch_at"
                )
        return engine.make(engine.task_of_sample(index, range(epoch, epoch + 1)), tolerates=False)


class Replay(BatchStream):
    """Makes the batches of another stream again, at an independent position."""

    def __init__(self, stream: BatchStream):
        twins = [PipelineTwin(pipeline.internals().engine) for pipeline in stream.pipelines]
        super().__init__(twins, copy.copy(stream.counter), stream.assemble.twin())

    def _follow(self, counter: EpochCounter) -> None:
        """Does nothing: batches are made when they are taken."""

    def skip(self, batches: int) -> None:
        """Skips batches without making them."""
        while batches:
            left = 0 if self._ended else self.counter.left
            if left is None or batches <= left:
                self._skip(batches)
                self.counter.skip(batches)
                return
            self.skip_epoch()
            batches -= left

    def skip_epoch(self) -> None:
        if not self._ended:
            left = self.counter.left
            if left is None:
                raise ValueError("batch_at: the length of the epochs is not known; give no epoch, or size")
            self._skip(left + self.counter.surplus)
            self.counter.skip(left)
        self._begin_epoch()

    def _skip(self, batches: int) -> None:
        for pipeline in self.pipelines:
            pipeline.skip(batches)

    def next(self) -> UserBatch:
        while True:
            if self._ended or self.counter.left == 0:
                self.skip_epoch()
            item = self.take()
            if isinstance(item, BaseException):
                raise item
            if isinstance(item, UserBatch):
                return item


def batch_at(stream: BatchStream, step: int, epoch: int | None) -> dict[str, jax.Array]:
    if step < 0 or (epoch is not None and epoch < 0):
        raise IndexError(f"batch_at: step {step}, epoch {epoch}; both count from 0")
    replay, anchors = Replay(stream), stream.anchors
    if epoch is None:
        positions = [(0, anchor["steps"]) for anchor in anchors]
        wanted = (0, step)
    else:
        positions = [(anchor["epochs"], anchor["epoch"]["done"]) for anchor in anchors]
        wanted = (epoch, step)
    chosen = max(i for i, position in enumerate(positions) if position <= wanted)
    if chosen == 0 and stream.forgot:
        raise ValueError(
            f"batch_at: the position of step {step} is forgotten, because the source began again too often since then; "
            f"steps from {anchors[1]['steps']} on are known"
        )
    if chosen == 0 and stream.restored is not None:
        _check_the_way(replay, anchors[0], stream.restored)
    replay.set_state(anchors[chosen])
    counter = replay.counter
    if counter.gives_nothing:
        raise IndexError("batch_at: there is no batch: LastBatchPolicy.DROP leaves out incomplete batches")
    if epoch is None:
        replay.skip(step - counter.step)
    else:
        while counter.epoch < epoch:
            replay.skip_epoch()
        if counter.length is not None and step >= counter.length:
            raise IndexError(f"batch_at: epoch {epoch} has {counter.length} batches, there is no step {step}")
        replay.skip(step - counter.done)
    arrays: dict[str, jax.Array] = replay.next().arrays
    return arrays


def _check_the_way(replay: Replay, start: State, restored: State) -> None:
    """Raises ValueError if a fresh iterator would not reach the restored state in the same number of steps."""
    replay.set_state(restored)
    reached = replay.get_state()
    replay.set_state(start)
    replay.skip(restored["steps"])
    replay.set_state(replay.get_state())  # so that it has the same form as the restored state
    mine = replay.get_state()
    mine["ended"], mine["epochs"], mine["epoch"] = reached["ended"], reached["epochs"], reached["epoch"]
    if mine != reached:
        raise ValueError(
            f"batch_at: batches before step {restored['steps']}, where the state was restored, are not known: "
            "epochs were ended early, or there was another batch size or number of shards"
        )


@batch_modes()
def sample(
    stream: BatchStream, names: Sequence[str], index: int, epoch: int
) -> dict[str, jax.Array]:  # fmt: skip
    seeds = sorted({pipeline.seed for pipeline in stream.pipelines})
    if len(seeds) > 1:
        raise ValueError(
            f"sample: the pipelines have different seeds, {seeds}: give them one, or use batch_at"
        )
    outputs = PipelineTwin(stream.pipelines[0].internals().engine).sample(index, epoch).outputs
    return {
        name: jnp.asarray(narrow(output.store.sample(0), f"iterator: output {name!r}"))
        for name, output in zip(names, outputs, strict=True)
    }
