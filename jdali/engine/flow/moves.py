"""Moves a pipeline to other positions of its sources."""

from __future__ import annotations

import functools
from collections.abc import Callable

from jdali._state import End
from jdali.engine.flow.drawing import Drawing
from jdali.engine.flow.executor import Engine
from jdali.engine.flow.life import Life, Phase
from jdali.engine.flow.ready_queue import ReadyQueue


class Moves:
    """Goes on after an end, from a state, or with the next epoch.

    Args:
        engine, life, made, drawing: of the pipeline.
        is_ahead: batches are made before they are asked for.
    """

    def __init__(self, engine: Engine, life: Life, made: ReadyQueue, drawing: Drawing, *, is_ahead: bool):
        self._engine, self._life, self._made, self._drawing = engine, life, made, drawing
        self._is_ahead = is_ahead

    def after_end(self, draw_ahead: Callable[[], None]) -> bool:
        """Goes on after the end of an external source; False: it was not met.

        Where batches are made ahead, the end counts as met once nothing else is left.

        Args:
            draw_ahead: draws for the user what may be drawn ahead.
        """
        life, made = self._life, self._made
        if life.phase is Phase.RUNNING and self._is_ahead and self._engine.feed.may_end:
            draw_ahead()
            with life.changed:
                life.changed.wait_to_take(lambda: made or not life.threads or life.stopped())
                if made.at_end:
                    life.meet_end()
                    made.take()
        if life.phase is not Phase.ENDED:
            return False
        with life.changed:  # what was scheduled before meets the same end
            life.changed.wait_for(lambda: self._is_ahead or made.begun == made.asked or life.stopped())
            self._drawing.go_on()
            life.go_on()
        return True

    def to_state(self, state: dict[str, object]) -> None:
        """Goes on from a state of the sources; what was made, or scheduled, is thrown away."""
        self._move(functools.partial(self._engine.set_state, state), ended=state.get("end") == End.REACHED)

    def behind_epoch(self, state: dict[str, object], batches: int | None) -> None:
        """Ends an epoch after a state of the sources, see `Feed.leave_epoch`; what was made since is thrown away."""
        self._move(functools.partial(self._engine.leave_epoch, state, batches), ended=False)

    def _move(self, move: Callable[[], None], *, ended: bool) -> None:
        life = self._life
        with life.halt():
            move()
            self._drawing.moved(ended=ended)
            if ended:
                life.meet_end()
            else:
                life.go_on()
