"""Draws from the sources: up to their end, and ahead for the user."""

import numpy as np
import pytest
from support.nodes import engine_of

from jdali._sources import SourceFeed
from jdali.engine.flow.drawing import Drawing, When
from jdali.engine.flow.drawn_ahead import DrawErrors, DrawFailed
from jdali.engine.flow.ready_queue import ReadyQueue, Room


def drawing_of(batches, when, errors, before_draw=lambda: None):
    source = SourceFeed([np.full((3, 1), i) for i in range(batches)], cycle="raise")
    return Drawing(engine_of(source), when, errors, before_draw)


def queue(depth):
    return ReadyQueue(Room(depth, 1 << 30, is_strict=False), when_asked=True)


@pytest.mark.parametrize("when", When)
def test_an_end_stays_until_the_sources_go_on(when):
    errors = DrawErrors()
    drawing = drawing_of(1, when, errors)
    for _ in range(2):
        assert len(drawing.now().task) == 3
        for _ in range(2):
            with pytest.raises(StopIteration):
                drawing.now()
        assert drawing.drained
        assert drawing.may_begin() == (when is not When.AHEAD)
        drawing.go_on()
        assert drawing.may_begin()


def test_as_many_are_drawn_for_the_user_as_there_is_room_for():
    calls, errors = [], DrawErrors()
    drawing = drawing_of(9, When.AHEAD_BY_CALLS, errors, lambda: lambda: calls.append(1))
    made = queue(3)
    drawing.fill(made, lambda: False)
    assert (made.asked, len(calls)) == (3, 3)
    drawing.fill(made, lambda: False)
    assert made.asked == 3
    assert [int(next(iter(drawing.next().task.data.values())).outputs[0][0][0]) for _ in range(3)] == [
        0,
        1,
        2,
    ]


def test_nothing_is_drawn_for_the_user_of_a_pipeline_that_stops():
    errors = DrawErrors()
    drawing, made = drawing_of(9, When.AHEAD_BY_CALLS, errors), queue(3)
    drawing.fill(made, lambda: True)
    assert made.asked == 0


def test_an_error_of_the_user_comes_in_its_turn_and_is_kept_by_the_owner():
    def fails():
        raise KeyError("no data")

    errors = DrawErrors()
    drawing, made = drawing_of(9, When.AHEAD_BY_CALLS, errors, lambda: fails), queue(1)
    drawing.fill(made, lambda: False)
    assert [type(error) for error in errors] == [KeyError]
    with pytest.raises(DrawFailed) as raised:
        drawing.next()
    assert type(drawing.error_of(raised.value)) is KeyError
    assert not errors


def test_what_was_drawn_is_thrown_away():
    errors = DrawErrors()
    drawing, made = drawing_of(9, When.AHEAD_BY_CALLS, errors), queue(2)
    drawing.fill(made, lambda: False)
    drawing.clear()
    with pytest.raises(IndexError):
        drawing.next()
