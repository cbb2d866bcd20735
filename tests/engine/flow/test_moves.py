"""Other positions of the sources: behind an end, at a state, in the next epoch."""

import numpy as np
import pytest
from support.nodes import engine_of
from support.numbers import NumberReader

from jdali._sources import SourceFeed
from jdali._state import End
from jdali.engine.flow.drawing import Drawing, When
from jdali.engine.flow.drawn_ahead import DrawErrors
from jdali.engine.flow.life import Life, Phase
from jdali.engine.flow.moves import Moves
from jdali.engine.flow.ready_queue import ReadyQueue, Room


class Parts:
    """Parts that run a pipeline, without threads."""

    def __init__(self, source):
        self.errors, self.engine = DrawErrors(), engine_of(source)
        self.made = ReadyQueue(Room(2, 1 << 30, is_strict=False), when_asked=False)
        self.drawing = Drawing(self.engine, When.AHEAD, self.errors, lambda: None)
        self.life = Life(self.engine, self.made, self.drawing)
        self.life.begin()
        self.moves = Moves(self.engine, self.life, self.made, self.drawing, is_ahead=True)

    def put(self):
        """Makes what comes next, as the threads do."""
        try:
            batch = self.drawing.now()
            self.made.add(self.engine.settle(batch, self.engine.make(batch.task, levels=batch.levels)))
        except StopIteration as end:
            self.made.add(end)


def nothing():
    pass


@pytest.fixture
def ends():
    parts = Parts(SourceFeed([np.zeros((3, 1))], cycle="raise"))
    yield parts
    parts.life.close()


def test_before_the_end_there_is_nothing_to_go_on_after(ends):
    ends.put()
    assert not ends.moves.after_end(nothing)
    assert len(ends.made) == 1


def test_an_end_that_is_all_that_is_left_counts_as_met(ends):
    ends.put()
    ends.made.take()
    ends.put()
    assert ends.made.at_end
    assert ends.moves.after_end(nothing)
    assert (len(ends.made), ends.life.phase) == (0, Phase.RUNNING)
    assert len(ends.drawing.now().task) == 3


def test_a_state_at_the_end_is_the_end(ends):
    state = {**ends.engine.get_state(), "end": End.REACHED}
    ends.moves.to_state(state)
    assert ends.life.phase is Phase.ENDED
    with pytest.raises(StopIteration):
        ends.drawing.now()
    ends.moves.to_state({key: value for key, value in state.items() if key != "end"})
    assert ends.life.phase is Phase.RUNNING


def test_the_rest_of_an_epoch_is_left_out():
    parts = Parts(NumberReader(12))
    for _ in range(2):
        parts.put()
    state = parts.made.take().state
    parts.moves.behind_epoch(state, 2)
    assert len(parts.made) == 0
    assert parts.drawing.now().task.ids.index.tolist() == [9, 10, 11]
    parts.life.close()
