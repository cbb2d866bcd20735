"""One thread for batches that workers make, here workers that this process only pretends to have."""

import contextlib
from concurrent.futures import Future
from types import SimpleNamespace

import pytest
from support.faults import PATIENCE, until
from support.nodes import engine_of
from support.numbers import NumberReader

from jdali.engine.flow.collector import Collector
from jdali.engine.flow.finishing import Finishing
from jdali.engine.flow.made_elsewhere import Begun
from jdali.engine.flow.ready_queue import ReadyQueue

IN_FLIGHT = 3


class WorkerEngine:
    """The parts of an `Engine` that is used: batch n is "made n" once the test has resolved its future."""

    elsewhere = SimpleNamespace(in_flight=IN_FLIGHT)

    def __init__(self):
        self.futures = []

    def draw(self):
        return SimpleNamespace(task=len(self.futures), levels=None)

    def begin(self, task, order):
        assert task == order
        self.futures.append(Future())
        return Begun(task, self.futures[-1], 0.0)

    def make(self, task, *, levels, order, begun):
        return f"{begun.future.result(timeout=0)} {task}"

    def settle(self, drawn, made):
        return made


@contextlib.contextmanager
def collecting(engine, draw=None, may_draw=lambda: True):
    made, stops = ReadyQueue(None, when_asked=True), []
    collector = Collector(engine, made, draw or engine.draw, may_draw, lambda: bool(stops), Finishing())
    (thread,) = collector.threads()
    assert not collector.threads(1)  # there it is
    thread.start()

    def stop():
        stops.append(True)
        made.wake()

    try:
        yield made, thread, stop
    finally:
        stop()
        for future in engine.futures:
            if not future.done():
                future.set_result("made")
        thread.join(PATIENCE)
    assert not thread.is_alive()


def ask(made, count):
    for _ in range(count):
        made.ask()


def test_batches_come_in_the_order_of_their_draws():
    engine = WorkerEngine()
    with collecting(engine) as (made, _, _):
        ask(made, 3)
        assert until(lambda: len(engine.futures) == 3)
        for number in (2, 1):
            engine.futures[number].set_result("made")
        assert made.take() is None
        engine.futures[0].set_result("made")
        assert until(lambda: len(made) == 3)
        assert [made.take() for _ in range(3)] == ["made 0", "made 1", "made 2"]


def test_no_more_are_begun_than_workers_need():
    engine = WorkerEngine()
    with collecting(engine) as (made, _, _):
        ask(made, IN_FLIGHT + 1)
        assert until(lambda: len(engine.futures) >= IN_FLIGHT)
        assert made.begun == IN_FLIGHT
        engine.futures[1].set_result("made")  # it is not the oldest
        made.wake()
        assert made.begun == IN_FLIGHT
        engine.futures[0].set_result("made")
        assert until(lambda: len(engine.futures) == IN_FLIGHT + 1)


@pytest.mark.parametrize("error", [StopIteration, KeyError])
def test_an_error_of_a_draw_comes_in_its_turn(error):
    engine, draws = WorkerEngine(), iter(range(9))

    def draw():
        if next(draws) == 1:
            raise error
        return SimpleNamespace(task=2 * len(engine.futures), levels=None)

    with collecting(engine, draw) as (made, _, _):
        ask(made, 3)
        assert until(lambda: len(engine.futures) == 2)
        assert made.take() is None
        for future in engine.futures:
            future.set_result("made")
        assert until(lambda: len(made) == 3)
        first, second, third = [made.take() for _ in range(3)]
        assert (first, third) == ("made 0", "made 2")
        assert type(second) is error


def test_an_error_of_workers_comes_in_its_turn():
    engine = WorkerEngine()
    with collecting(engine) as (made, _, _):
        ask(made, 2)
        assert until(lambda: len(engine.futures) == 2)
        engine.futures[0].set_exception(KeyError("of a worker"))
        engine.futures[1].set_result("made")
        assert until(lambda: len(made) == 2)
        assert type(made.take()) is KeyError
        assert made.take() == "made 1"


def test_nothing_is_drawn_where_the_sources_have_nothing():
    engine, allowed = WorkerEngine(), []
    with collecting(engine, may_draw=lambda: bool(allowed)) as (made, _, _):
        ask(made, 1)
        assert made.begun == 0
        allowed.append(True)
        made.wake()
        assert until(lambda: len(engine.futures) == 1)


def test_it_ends_when_workers_have_made_what_they_had():
    """Or tasks of the old position would be in the way of those of the new one."""
    engine = WorkerEngine()
    with collecting(engine) as (made, thread, stop):
        ask(made, 2)
        assert until(lambda: len(engine.futures) == 2)
        stop()
        engine.futures[0].set_result("made")
        thread.join(0.2)
        assert thread.is_alive()
        engine.futures[1].set_exception(KeyError("nobody asks"))
        thread.join(PATIENCE)
        assert not thread.is_alive()
        assert len(made) == 0


def test_an_engine_without_workers_does_more_than_receive():
    engine = engine_of(NumberReader(3))
    assert not engine.only_receives
    engine.close()
