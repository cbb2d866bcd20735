"""The objects that run a pipeline, for debugging and tests: `Pipeline.internals`."""

from __future__ import annotations

import dataclasses
import threading

from jdali._pipeline.config import PipelineConfig
from jdali._workers.callbacks import CallbackWorkers
from jdali.engine import Engine, Window


@dataclasses.dataclass(frozen=True, eq=False)
class Internals:
    """The objects behind a pipeline that was built. They are for reading, and change from version to version.

    Attributes:
        config: its options as they were given.
        engine: makes the batches: plan, steps, programs, readers.
        window: makes them ahead, and hands them over.
        callback_workers: processes of parallel sources and functions; None: there are none.
    """

    config: PipelineConfig
    engine: Engine
    window: Window
    callback_workers: CallbackWorkers | None

    @property
    def phase(self) -> str:
        """ "built", "running", "ended" (a source is at its end) or "closed"."""
        return self.window.phase.name.lower()

    @property
    def programs(self) -> int:
        """Programs that were compiled."""
        return self.engine.compiler.count

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        """Threads that make batches, but those of the pool."""
        return self.window.threads

    def __repr__(self) -> str:
        return (
            f"<jdali pipeline, {self.phase}: {len(self.engine.plan.steps)} steps, {self.programs} programs compiled, "
            f"{self.window.ready} batches ready, {len(self.threads)} threads>"
        )
