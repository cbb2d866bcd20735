"""The life of a pipeline, for each time at which batches may be made: running, at an end, moved, closed."""

import contextlib

import numpy as np
import pytest
from support.faults import PATIENCE
from support.nodes import engine_of, rows
from support.numbers import NumberReader

from jdali._sources import SourceFeed
from jdali.engine.flow.drawing import When
from jdali.engine.flow.ready_queue import Room
from jdali.engine.flow.runtime import Runtime

pytestmark = pytest.mark.parametrize("when", When, ids=lambda when: when.name)


@contextlib.contextmanager
def running(source, when, **options):
    runtime = Runtime(engine_of(source), Room(2, 1 << 30, is_strict=False), when, **options)
    try:
        yield runtime
    finally:
        runtime.close(PATIENCE)
    assert not runtime.threads


def first_number(runtime):
    runtime.wait()
    with runtime.turn:
        result = runtime.take()
    return rows(result.outputs[0])[0][0]


def test_batches_come_in_order_scheduled_or_not(when):
    with running(NumberReader(100), when) as runtime:
        assert not runtime.started
        for scheduled in range(2):
            runtime.schedule(scheduled)
        assert [first_number(runtime) for _ in range(4)] == [0, 3, 6, 9]
        assert runtime.started
        assert runtime.ahead == (runtime.room is not None) == when.name.startswith("AHEAD")


def test_a_state_goes_back_and_what_was_made_is_thrown_away(when):
    with running(NumberReader(100), when) as runtime:
        runtime.wait()
        state = runtime.take().state
        assert [first_number(runtime) for _ in range(2)] == [3, 6]
        runtime.schedule()
        runtime.set_state(state)
        assert [first_number(runtime) for _ in range(2)] == [3, 6]


def test_an_end_stays_up_to_the_reset(when):
    with running(SourceFeed([np.array([[5]] * 3)], cycle="raise"), when) as runtime:
        for _ in range(2):
            assert first_number(runtime) == 5
            for _ in range(2):
                with pytest.raises(StopIteration):
                    first_number(runtime)
            assert runtime.reset()
        assert first_number(runtime) == 5


def test_an_error_comes_once_and_the_next_batch_after_it(when):
    with running(NumberReader(100, bad=(4,)), when) as runtime:
        assert first_number(runtime) == 0
        with pytest.raises(RuntimeError, match="number 4 is bad"):
            first_number(runtime)
        assert first_number(runtime) == 6


def test_closed_and_asked_by_its_own_threads(when):
    with running(NumberReader(100), when) as runtime:
        with runtime.engine.pool.serving, pytest.raises(RuntimeError, match="would wait for itself forever"):
            runtime.wait()
        assert first_number(runtime) == 0
        runtime.close()
        runtime.close()
        for ask in (runtime.wait, runtime.schedule):
            with pytest.raises(RuntimeError, match="the pipeline is closed"):
                ask()
