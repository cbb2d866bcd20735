"""Phases of the life of a pipeline: started, halted, ended, closed; and threads that do not start."""

import threading

import pytest
from support.faults import PATIENCE
from support.nodes import engine_of
from support.numbers import NumberReader

from jdali.engine.flow.drawing import Drawing, When
from jdali.engine.flow.drawn_ahead import DrawErrors
from jdali.engine.flow.finishing import Finishing
from jdali.engine.flow.life import FORKED, Life, Phase
from jdali.engine.flow.makers import IN_FLIGHT, Makers
from jdali.engine.flow.ready_queue import ReadyQueue, Room


@pytest.fixture
def parts():
    errors = DrawErrors()
    engine = engine_of(NumberReader(100))
    made = ReadyQueue(Room(2, 1 << 30, is_strict=False), when_asked=False)
    drawing = Drawing(engine, When.AHEAD, errors, lambda: None)
    life = Life(engine, made, drawing)
    makers = Makers(engine, made, drawing.next, drawing.may_begin, life.stopped, Finishing())
    yield life, makers, made
    life.close(PATIENCE)


def start(life, makers):
    with life.turn:
        life.begin()
        life.start(makers)


def test_from_built_to_closed(parts):
    life, makers, _ = parts
    assert life.phase is Phase.BUILT
    start(life, makers)
    assert life.phase is Phase.RUNNING
    assert len(life.threads) == IN_FLIGHT + 1  # and one that ends them
    life.meet_end()
    assert life.phase is Phase.ENDED
    life.go_on()
    assert life.phase is Phase.RUNNING
    life.close(PATIENCE)
    assert life.phase is Phase.CLOSED
    assert not life.threads
    life.meet_end()
    life.go_on()
    assert life.phase is Phase.CLOSED
    with pytest.raises(RuntimeError, match="the pipeline is closed"):
        life.refuse_if_closed()


def test_while_it_is_halted_no_thread_runs_and_nothing_is_left(parts):
    life, makers, made = parts
    start(life, makers)
    threads = list(life.threads)
    with life.halt():
        assert life.stopped()
        assert not any(thread.is_alive() for thread in threads)
        assert (len(made), made.begun) == (0, 0)
    assert not life.stopped()


def test_threads_that_do_not_start_leave_none_and_lose_nothing(parts, monkeypatch):
    life, makers, made = parts
    started, begin = [], threading.Thread.start

    def refused(thread):
        if len(started) == 2:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        begin(thread)

    with monkeypatch.context() as context:
        context.setattr(threading.Thread, "start", refused)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            start(life, makers)
    assert not any(thread.is_alive() for thread in started)
    assert (life.phase, life.threads, made.begun) == (Phase.RUNNING, [], 0)
    assert not life.stopped()


def test_the_copy_in_a_forked_process_is_closed(parts):
    life, makers, _ = parts
    start(life, makers)
    threads, changed = list(life.threads), life.changed
    life.forget_parent()  # as the handler of forks does; here the threads are alive
    with pytest.raises(RuntimeError, match=FORKED[:40]):
        life.refuse_if_closed()
    assert not life.threads
    life.close()  # waits for none of them
    life.abandon()
    makers.wake()
    with changed:
        changed.notify_all()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)
