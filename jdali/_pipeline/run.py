"""A pipeline that was built: taking its batches, and where it is after them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from jdali._errors import SkippedSample
from jdali._pipeline.config import PipelineConfig
from jdali._pipeline.definition import Definition
from jdali._state import End, StateError, check_version
from jdali.engine import Result, Window
from jdali.graph import difference

STATE_VERSION = 1
# An external source that gives only bad samples is an error after so many.
MOST_LOST = 1024


class Run:
    """A built pipeline: takes its batches, and knows its position after them.

    Args:
        window: makes the batches.
        config: the options of the pipeline; a state that is set may change the engine's seed.
        definition: of the pipeline.

    Attributes:
        scheduled: batches that were scheduled and not taken.
        first_state: of the sources, before the first batch.
        errors: bad samples of the batches that were taken.
    """

    def __init__(self, window: Window, config: PipelineConfig, definition: Definition):
        self.window, self.engine = window, window.engine
        self.scheduled = 0
        self._config, self._definition = config, definition
        self.first_state = self._state = self.engine.get_state()
        self.errors: list[SkippedSample] = []
        self._lost = 0  # failed samples since the last batch that has some

    def take(self) -> Result:
        """The next batch; threads that ask at the same time get one each."""
        while True:
            self.window.wait()
            if (result := self.take_ready()) is not None:
                return result

    def take_ready(self) -> Result | None:
        """The next batch; None: it is not there, or another thread took it, or a state was set."""
        with self.window.turn:
            try:
                result = self.window.take()
            except StopIteration:
                self._state = {**self._at_end(), "end": End.REACHED}
                raise
            if result is not None:
                if result.nothing is None:
                    self._config.expected.check(result.outputs)
                self._state = result.state
                self.errors += result.skipped
                self._refuse_many_lost(result)
            return result

    def _refuse_many_lost(self, result: Result) -> None:
        """Raises the error of a batch without samples, if it is the last of many."""
        self._lost = 0 if result.nothing is None else self._lost + len(result.skipped)
        if result.nothing is not None and self._lost >= MOST_LOST:
            self._lost = 0
            raise result.nothing

    def with_samples(self, result: Result) -> Result:
        """The result, or the next one that has samples; of a pipeline that is fed there is only the one."""
        while result.nothing is not None:
            if self.engine.cursor.is_fed:
                raise result.nothing
            result = self.take()
        return result

    def schedule(self) -> None:
        with self.window.turn:
            self.scheduled += self.window.schedule(self.scheduled)

    def take_scheduled(self) -> Result:
        """The oldest batch that was scheduled."""
        with self.window.turn:
            if not self.scheduled:
                raise StopIteration("Pipeline.share_outputs: nothing was scheduled; call schedule_run first")
            self.scheduled -= 1
        return self.take()

    def reset(self) -> None:
        """Goes on after the end of external sources."""
        with self.window.turn:
            if self.window.reset():
                self._state = {**self._at_end(), "end": End.LEFT}

    def _at_end(self) -> dict[str, Any]:
        """The state at the end of an external source: those that are before it have given a batch that is lost."""
        if self._state.get("end") == End.REACHED:
            return self._state
        epoch = self._state["epoch"] + (self._state.get("end") == End.LEFT)
        return {**self._state, **(self.engine.cursor.state_at_end(epoch) or {})}

    def _entries(self) -> Any:
        return self._definition.entries(scaled_decoding=self._config.scaled_decoding)

    def get_state(self) -> dict[str, Any]:
        """See `Pipeline.get_state`."""
        return {"version": STATE_VERSION, "graph": self._entries()[1], **self._state}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """See `Pipeline.set_state`."""
        check_version("pipeline", state, STATE_VERSION)
        entries, _ = self._entries()
        if "graph" in state and (found := difference(state["graph"], entries)) is not None:
            raise StateError(f"pipeline: the state is of another pipeline: {found}")
        seed = self._config.seed
        if self._config.seed_given and state["seed"] != seed:
            raise StateError(
                f"pipeline: the state is of a pipeline of seed {state['seed']}, this one has seed {seed}"
            )
        sources = self._of_sources(state)
        with self._moving():
            self.window.set_state(sources)
            self._state = sources

    def leave_epoch(self, state: Mapping[str, Any], batches: int | None) -> None:
        """See `Pipeline.leave_epoch`."""
        with self._moving():
            self.window.leave_epoch(self._of_sources(state), batches)
            self._state = self.engine.get_state()

    @staticmethod
    def _of_sources(state: Mapping[str, object]) -> dict[str, Any]:
        return {key: value for key, value in state.items() if key not in ("version", "graph")}

    @contextlib.contextmanager
    def _moving(self) -> Iterator[None]:
        """While the sources are moved, and with them what was scheduled is gone."""
        with self.window.turn:
            try:
                yield
            except ValueError as error:
                raise StateError(f"pipeline: {error}") from error
            self.scheduled = 0
