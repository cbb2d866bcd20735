"""Where a pipeline is: its state, and DALI's checkpoints."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jdali._pipeline._twin import PipelineTwin
from jdali._state import StateError, check_version, from_checkpoint, to_checkpoint
from jdali.engine._executor import Engine
from jdali.engine._runtime import Runtime
from jdali.graph._fingerprint import Entry, describe, difference, fingerprint
from jdali.graph._node import Graph

STATE_VERSION = 1


class Checkpointing(abc.ABC):
    """The part of `Pipeline` that saves where it is, and goes back there."""

    seed: int
    scaled_decoding: bool
    enable_checkpointing: bool
    graph: Graph
    _seed_given: bool
    _checkpoint: str | bytes | None
    _scheduled: int
    _state: dict[str, Any]
    _restored = False
    _iterator_state: dict[str, Any] | None = None
    _fingerprint: tuple[list[Entry], str] | None = None

    @abc.abstractmethod
    def build(self) -> Any:
        """Plans the graph and opens the readers."""

    @abc.abstractmethod
    def _built(self) -> tuple[Engine, Runtime]:
        """Builds, and gives what runs the pipeline."""

    def _graph_entries(self) -> tuple[list[Entry], str]:
        if self._fingerprint is None:
            entries = describe(self.graph.nodes, {"scaled_decoding": self.scaled_decoding})
            self._fingerprint = entries, fingerprint(entries)
        return self._fingerprint

    def get_state(self) -> dict[str, Any]:
        """Where the sources are after the last batch that was taken: a few hundred bytes, fit for JSON.

        It holds a fingerprint of the pipeline's operators and arguments; without that entry, "graph",
        `set_state` does not compare. External sources are in it with their own state, if they have
        `get_state` and `set_state`, or with the number of items taken; a callback that takes the number
        of the batch or a `SampleInfo` needs none.
        """
        self._built()
        return {"version": STATE_VERSION, "graph": self._graph_entries()[1], **self._state}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Goes on after the batch that `get_state` followed, in this or in a like pipeline.

        The batch size and the number of shards may be others. A pipeline that was given no seed takes that
        of the state. Iterables without `get_state` and `set_state` are gone through again up to the place.

        Raises:
            StateError: the state is of another pipeline, and what differs; or a source cannot go there.
        """
        _, executor = self._built()
        check_version("pipeline", state, STATE_VERSION)
        entries, _ = self._graph_entries()
        if "graph" in state and (found := difference(state["graph"], entries)) is not None:
            raise StateError(f"pipeline: the state is of another pipeline: {found}")
        if self._seed_given and state["seed"] != self.seed:
            raise StateError(
                f"pipeline: the state is of a pipeline of seed {state['seed']}, this one has seed {self.seed}"
            )
        sources = {key: value for key, value in state.items() if key not in ("version", "graph")}
        with executor.turn:
            try:
                executor.set_state(sources)
            except ValueError as error:
                raise StateError(f"pipeline: {error}") from error
            self.seed = int(state["seed"])
            self._state, self._scheduled = sources, 0

    def twin(self) -> PipelineTwin:
        """The same batches at a place of their own, for replaying; the pipeline goes on as before."""
        return PipelineTwin(self._built()[0])

    # --- DALI's checkpoints -----------------------------------------------------------------
    def checkpoint(self, filename: str | None = None) -> bytes:
        """The state as bytes, for the argument `checkpoint` of the same pipeline.

        Args:
            filename: also written there.

        Raises:
            RuntimeError: the pipeline was made without `enable_checkpointing=True`.
        """
        self.build()
        if not self.enable_checkpointing:
            raise RuntimeError(
                "Pipeline.checkpoint: give the pipeline enable_checkpointing=True (get_state needs it not)"
            )
        data = to_checkpoint(self.get_state())
        if filename is not None:
            Path(filename).write_bytes(data)
        return data

    def _restore(self) -> None:
        """Goes to the checkpoint given at construction, if there is one."""
        if self._checkpoint is None:
            return
        if not self.enable_checkpointing:
            raise RuntimeError("Pipeline: a checkpoint can be restored only with enable_checkpointing=True")
        try:
            state, self._iterator_state = from_checkpoint(self._checkpoint)
            self.set_state(state)
        except StateError as error:
            raise RuntimeError(f"Pipeline: the checkpoint cannot be restored: {error}") from error
        self._restored = True

    @property
    def is_restored_from_checkpoint(self) -> bool:
        """Whether the pipeline was built and has gone to the `checkpoint` given at construction."""
        return self._restored

    @property
    def iterator_state(self) -> dict[str, Any] | None:
        """State of the iterator in the checkpoint that was restored, if it was an iterator's."""
        return self._iterator_state
