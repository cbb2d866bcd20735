"""State of a pipeline, and DALI's checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jdali._pipeline.base import PipelineBase
from jdali._state import to_checkpoint
from jdali.engine import PipelineTwin


class PipelineState(PipelineBase):
    """Saves where a pipeline is, and goes back there."""

    def get_state(self) -> dict[str, Any]:
        """Returns the position of the sources after the last batch taken: a few hundred bytes, fit for JSON.

        It holds a fingerprint of the pipeline's operators and arguments; without that entry, "graph",
        `set_state` does not compare. External sources are in it with their own state, if they have
        `get_state` and `set_state`, or with the number of items taken; a callback that takes the number
        of the batch or a `SampleInfo` needs none.
        """
        return self._building.run().get_state()

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Goes on after the batch that `get_state` followed, in this or in a like pipeline.

        The batch size and the number of shards may be others. A pipeline that was given no seed takes that
        of the state. Iterables without `get_state` and `set_state` are gone through again up to that position.

        Raises:
            StateError: the state is of another pipeline, and what differs; or a source cannot go there.
        """
        self._building.run().set_state(state)

    def leave_epoch(self, state: Mapping[str, Any], batches: int | None) -> None:
        """Ends an epoch early, after the batch that `get_state` followed; what was made since is thrown away.

        For iterators, which count epochs; see their `take` and `reset(force=True)`.

        Args:
            state: of this pipeline.
            batches: how many the epoch would have had after that: readers and sources go on behind them. None: it
                would have lasted until a source ends; sources with a `cycle` begin again, readers go on.

        Raises:
            StateError: a source cannot go there.
        """
        self._building.run().leave_epoch(state, batches)

    def twin(self) -> PipelineTwin:
        """The same batches with a position of their own, for replaying; the pipeline goes on as before."""
        return PipelineTwin(self._building.run().engine)

    def checkpoint(self, filename: str | None = None) -> bytes:
        """The state as bytes, for the argument `checkpoint` of the same pipeline.

        Args:
            filename: also written there.

        Raises:
            RuntimeError: the pipeline was made without `enable_checkpointing=True`.
        """
        run = self._building.run()
        if not self._config.enable_checkpointing:
            raise RuntimeError(
                "Pipeline.checkpoint: Cannot save the checkpoint. The `enable_checkpointing` was not specified when "
                "creating the pipeline (`get_state` does not need it)"
            )
        data = to_checkpoint(run.get_state())
        if filename is not None:
            Path(filename).write_bytes(data)
        return data

    @property
    def is_restored_from_checkpoint(self) -> bool:
        """True once the pipeline was built and went to the `checkpoint` passed at construction."""
        return self._building.is_restored

    @property
    def iterator_state(self) -> dict[str, Any] | None:
        """State of the iterator in the checkpoint that was restored, if it was an iterator's."""
        return self._building.iterator_state
