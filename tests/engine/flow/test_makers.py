"""Threads that make batches: in order, with errors in their turn, and as many as may be begun."""

import contextlib

import pytest
from support.faults import PATIENCE, until
from support.nodes import engine_of, rows
from support.numbers import NumberReader

from jdali.engine.flow.finishing import Finishing
from jdali.engine.flow.makers import IN_FLIGHT, Makers
from jdali.engine.flow.ready_queue import ReadyQueue


@contextlib.contextmanager
def making(engine, draw, may_draw=lambda: True):
    made, stops = ReadyQueue(None, when_asked=True), []
    makers = Makers(engine, made, draw, may_draw, lambda: bool(stops), Finishing())
    threads = makers.threads()
    for thread in threads:
        thread.start()
    try:
        yield made
    finally:
        stops.append(True)
        made.wake()
        makers.wake()
        for thread in threads:
            thread.join(PATIENCE)
        engine.close()
    assert len(threads) == IN_FLIGHT
    assert not any(thread.is_alive() for thread in threads)


def taken(made, count):
    for _ in range(count):
        made.ask()
    assert until(lambda: len(made) == count)
    return [made.take() for _ in range(count)]


def first_numbers(results):
    return [rows(result.outputs[0])[0][0] for result in results]


def test_batches_come_in_the_order_of_their_draws():
    engine = engine_of(NumberReader(30))
    with making(engine, engine.draw) as made:
        assert first_numbers(taken(made, 8)) == [0, 3, 6, 9, 12, 15, 18, 21]
        assert made.begun == 8  # no more than were asked for


@pytest.mark.parametrize("error", [StopIteration, KeyError])
def test_an_error_of_a_draw_comes_in_its_turn(error):
    engine, draws = engine_of(NumberReader(30)), iter(range(9))

    def draw():
        if next(draws) == 1:
            raise error
        return engine.draw()

    with making(engine, draw) as made:
        first, second, third = taken(made, 3)
        assert first_numbers([first, third]) == [0, 3]
        assert type(second) is error


def test_an_error_of_a_step_comes_in_its_turn():
    engine = engine_of(NumberReader(30, bad=(4,)))
    with making(engine, engine.draw) as made:
        first, second, third = taken(made, 3)
        assert first_numbers([first, third]) == [0, 6]
        assert "number 4 is bad" in str(second)


def test_nothing_is_drawn_where_the_sources_have_nothing():
    engine = engine_of(NumberReader(30))
    allowed = []
    with making(engine, engine.draw, lambda: bool(allowed)) as made:
        made.ask()
        assert made.begun == 0
        allowed.append(True)
        made.wake()
        assert until(lambda: len(made) == 1)
