"""A pipeline's batches once more, with a position of their own, while the pipeline itself runs on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jdali._batches import SlabPool
from jdali._state import End
from jdali.engine.engine import Engine
from jdali.engine.iteration import Result
from jdali.engine.sample_ids import SampleIds
from jdali.engine.task import BatchTask
from jdali.readers.order.epochs import SampleRefs


class PipelineTwin:
    """Makes batches with the programs and threads of a pipeline, but from another position in its sources.

    Raises:
        RuntimeError: an external source cannot be asked again.
    """

    def __init__(self, engine: Engine):
        self._engine, self._feed = engine, engine.cursor.twin()
        self._ended = False

    @property
    def slabs(self) -> SlabPool:
        """As `Pipeline.slabs`."""
        return self._engine.pool.slabs

    def take_result(self) -> Result:
        """Makes the next batch."""
        if self._ended:
            raise StopIteration
        try:
            return self._engine.make(self._engine.draw(self._feed))
        except StopIteration:
            self._ended = True
            raise

    def reset(self) -> None:
        """Goes on after the end of an external source."""
        if self._ended:
            self._ended = False
            self._feed.reset()

    def skip(self, batches: int) -> None:
        """Leaves out batches without making them."""
        self._feed.skip(batches, self._engine.batch_size)

    def get_state(self) -> dict[str, Any]:
        return {
            **self._engine.get_state(self._feed),
            **({"end": End.REACHED} if self._ended else {}),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._ended = state.get("end") == End.REACHED
        self._feed.set_state(state)

    def sample(self, index: int, epoch: int) -> Result:
        """Makes a batch of one sample.

        Args:
            index: in the data set of the reader; of a pipeline without a reader: in the stream.
            epoch: of the reader.
        """
        engine = self._engine
        if len(engine.sources) > len(engine.readers) or len(engine.readers) > 1:
            raise ValueError(
                "sample: which data belongs to a sample is known of pipelines with one reader and no external "
                "source only; use batch_at"
            )
        for node in (node for step in engine.plan.steps for node in step.nodes):
            if node.mixes_samples:
                raise ValueError(
                    f"sample: {node.op.name} works on a whole batch, so a sample alone is not what it was "
                    "there; use batch_at"
                )
        for reader in engine.readers.values():
            if not 0 <= index < reader.count:
                raise IndexError(f"sample: index {index} is not in the data set of {reader.count} samples")
            if reader.selection is not None and reader.selection.ends is not None:
                raise ValueError(
                    "sample: with weights an epoch may draw a sample several times; use batch_at"
                )
        return engine.make(task_of_sample(engine, index, range(epoch, epoch + 1)), tolerates=False)


def task_of_sample(engine: Engine, index: int, epochs: range) -> BatchTask:
    """Returns the task of one sample in several epochs, for a pipeline with one reader or without sources."""
    count = len(epochs)
    ids = SampleIds(np.array(epochs, np.uint32), np.full(count, index, np.int64), np.arange(count))
    refs = SampleRefs(ids.epoch, ids.index, np.zeros(count, bool))
    return BatchTask(ids, np.ones(count, bool), {node.name: refs for node in engine.readers})
