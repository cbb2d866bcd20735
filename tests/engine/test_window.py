"""The life of a pipeline, for each time at which batches may be made: running, at an end, moved, closed."""

import contextlib
import threading

import numpy as np
import pytest
from support.faults import PATIENCE, in_thread, until
from support.nodes import engine_of, rows
from support.numbers import NumberReader

from jdali._sources import SourceFeed
from jdali._state import End
from jdali.engine.in_flight import IN_FLIGHT, Room, When
from jdali.engine.window import FORKED, Phase, Window

each_time = pytest.mark.parametrize("when", When, ids=lambda when: when.name)


@contextlib.contextmanager
def running(source, when, **options):
    room = Room(2, 1 << 30, is_strict=False) if when.name.startswith("AHEAD") else None
    window = Window(engine_of(source), when, room, **options)
    try:
        yield window
    finally:
        window.close(PATIENCE)
    assert not window.threads


def first_number(window):
    window.wait()
    with window.turn:
        result = window.take()
    return rows(result.outputs[0])[0][0]


@each_time
def test_batches_come_in_order_scheduled_or_not(when):
    with running(NumberReader(100), when) as window:
        assert not window.started
        for scheduled in range(2):
            window.schedule(scheduled)
        assert [first_number(window) for _ in range(4)] == [0, 3, 6, 9]
        assert window.started
        assert window.ahead == (window.room is not None) == when.name.startswith("AHEAD")


@each_time
def test_a_state_goes_back_and_what_was_made_is_thrown_away(when):
    with running(NumberReader(100), when) as window:
        window.wait()
        state = window.take().state
        assert [first_number(window) for _ in range(2)] == [3, 6]
        window.schedule()
        window.set_state(state)
        assert [first_number(window) for _ in range(2)] == [3, 6]


def test_who_waits_notices_a_move_that_is_over_by_then(monkeypatch):
    with running(NumberReader(100), When.AHEAD) as window:
        assert first_number(window) == 0
        state = window.engine.get_state()
        with monkeypatch.context() as context:
            context.setattr(window._flight, "_has_room", lambda: False)
            window.set_state(state)  # nothing is under way
            waiting = in_thread(window.wait)
            assert until(lambda: window._flight.changed._waiters)
        with window._flight.changed:
            window.set_state(state)
        waiting()


@each_time
def test_an_end_stays_up_to_the_reset(when):
    with running(SourceFeed([np.array([[5]] * 3)], cycle="raise"), when) as window:
        for _ in range(2):
            assert first_number(window) == 5
            for _ in range(2):
                with pytest.raises(StopIteration):
                    first_number(window)
            assert window.reset()
        assert first_number(window) == 5


@each_time
def test_an_error_comes_once_and_the_next_batch_after_it(when):
    with running(NumberReader(100, bad=(4,)), when) as window:
        assert first_number(window) == 0
        with pytest.raises(RuntimeError, match="number 4 is bad"):
            first_number(window)
        assert first_number(window) == 6


@each_time
def test_closed_and_asked_by_its_own_threads(when):
    with running(NumberReader(100), when) as window:
        with window.engine.pool.serving, pytest.raises(RuntimeError, match="would wait for itself forever"):
            window.wait()
        assert first_number(window) == 0
        window.close()
        window.close()
        for ask in (window.wait, window.schedule):
            with pytest.raises(RuntimeError, match="the pipeline is closed"):
                ask()


def ending():
    return SourceFeed([np.array([[5]] * 3)], cycle="raise")


def test_the_phases_of_a_life():
    with running(ending(), When.AHEAD) as window:
        assert window.phase is Phase.BUILT
        assert first_number(window) == 5
        assert window.phase is Phase.RUNNING
        assert len(window.threads) == IN_FLIGHT + 1  # and one that ends them
        with pytest.raises(StopIteration):
            first_number(window)
        assert window.phase is Phase.ENDED
        window.reset()
        assert window.phase is Phase.RUNNING
        window.close(PATIENCE)
        assert window.phase is Phase.CLOSED
        with pytest.raises(RuntimeError, match="the pipeline is closed"):
            window.set_state(window.engine.get_state())


def test_before_the_end_there_is_nothing_to_reset():
    with running(ending(), When.AHEAD) as window:
        window.begin()
        assert not window.reset()
        assert first_number(window) == 5


def test_an_end_that_is_all_that_is_left_counts_as_met():
    with running(ending(), When.AHEAD) as window:
        assert first_number(window) == 5
        assert window.reset()
        assert first_number(window) == 5


def test_a_state_at_the_end_is_the_end():
    with running(ending(), When.AHEAD) as window:
        state = window.engine.get_state()
        window.set_state({**state, "end": End.REACHED})
        assert window.phase is Phase.ENDED
        with pytest.raises(StopIteration):
            first_number(window)
        window.set_state(state)
        assert first_number(window) == 5


def test_the_rest_of_an_epoch_is_left_out():
    with running(NumberReader(12), When.AHEAD) as window:
        window.wait()
        state = window.take().state
        assert first_number(window) == 3
        window.leave_epoch(state, 2)
        assert first_number(window) == 9


def test_threads_that_do_not_start_leave_none_and_lose_nothing(monkeypatch):
    started, begin = [], threading.Thread.start

    def refused(thread):
        if len(started) == 2:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        begin(thread)

    with running(NumberReader(100), When.AHEAD) as window:
        with monkeypatch.context() as context:
            context.setattr(threading.Thread, "start", refused)
            with pytest.raises(RuntimeError, match="can't start new thread"):
                window.wait()
        assert until(lambda: not any(thread.is_alive() for thread in started))
        assert window.threads == ()
        assert first_number(window) == 0


def test_the_copy_in_a_forked_process_is_closed():
    with running(NumberReader(100), When.AHEAD) as window:
        assert first_number(window) == 0
        threads, ends = window.threads, (window._threads, window._keeper)
        queues = [end._calls for end in ends]
        window.forget_parent()  # as the handler of forks does; here the threads are alive
        with pytest.raises(RuntimeError, match=FORKED[:40]):
            window.wait()
        window.close()  # waits for none of them
        for calls in queues:
            for _ in threads:
                calls.put(None)
        for thread in threads:
            thread.join(PATIENCE)
        assert not any(thread.is_alive() for thread in threads)
