"""Batches from another position, while the pipeline goes on from its own."""

import numpy as np
import pytest
from support.nodes import engine_of, rows
from support.numbers import NumberReader

from jdali._sources import SourceFeed
from jdali.iterator.replay import PipelineTwin


@pytest.fixture
def engine():
    made = engine_of(NumberReader(10))
    yield made
    made.close()


def numbers(result):
    return [row[0] for row in rows(result.outputs[0])]


def test_it_has_a_position_of_its_own(engine):
    twin = PipelineTwin(engine)
    twin.skip(2)
    assert numbers(twin.take_result()) == [6, 7, 8]
    state = twin.shared_state()
    assert numbers(engine.make(engine.draw())) == [0, 1, 2]
    assert numbers(twin.take_result()) == [9, 0, 1]
    twin.set_state(state)
    assert numbers(twin.take_result()) == [9, 0, 1]


def test_one_sample_by_its_index(engine):
    twin = PipelineTwin(engine)
    assert numbers(twin.sample(7, epoch=3)) == [7]
    with pytest.raises(IndexError, match="index 10 is not in the data set of 10 samples"):
        twin.sample(10, epoch=0)
    assert numbers(twin.take_result()) == [0, 1, 2]


def test_an_end_stays_up_to_the_reset():
    engine = engine_of(SourceFeed([np.array([[5]] * 3)], cycle="raise"))
    twin = PipelineTwin(engine)
    assert numbers(twin.take_result()) == [5, 5, 5]
    for _ in range(2):
        with pytest.raises(StopIteration):
            twin.take_result()
    assert twin.shared_state()["end"] == "reached"
    twin.reset()
    assert numbers(twin.take_result()) == [5, 5, 5]
    with pytest.raises(ValueError, match="use batch_at"):
        twin.sample(0, epoch=0)
    engine.close()
