"""Reading a batch: what was read already is not read again, and errors say which samples failed."""

import numpy as np
import pytest
from support.nodes import source_node
from support.numbers import NumberReader

from jdali.engine.failure import NodeFailure
from jdali.engine.recovery.memo import Memo
from jdali.engine.steps.reading import cost_of, read
from jdali.engine.workers.pool import Cost, Pool
from jdali.tensors import TensorList

NODE = source_node()


@pytest.fixture
def pool():
    made = Pool(2)
    yield made
    made.close()


def numbers(columns):
    (column,) = columns
    return [sample.item() for sample in TensorList.from_store(column, "cpu").to_samples()]


def epochs(*values):
    return np.array(values, np.uint32)


@pytest.mark.parametrize("cost", [None, Cost], ids=["in the pool", "where it is cheaper"])
def test_samples_come_in_the_order_of_their_indices(pool, cost):
    indices = np.arange(200)[::-1]
    cost = None if cost is None else cost()
    found = read(NODE, NumberReader(200), np.zeros(200, np.uint32), indices, pool, cost=cost)
    assert numbers(found) == indices.tolist()


def test_what_was_read_is_not_read_again(pool):
    asked = []
    reader, memo = NumberReader(9, delay=asked.append), Memo()
    read(NODE, reader, epochs(0, 0, 0), np.array([3, 4, 5]), pool, memo)
    found = read(NODE, reader, epochs(0, 0, 1), np.array([5, 7, 3]), pool, memo)  # 3 in another epoch
    assert numbers(found) == [5, 7, 3]
    assert sorted(asked) == [3, 3, 4, 5, 7]


def test_failures_are_by_position_and_good_samples_are_kept(pool):
    asked = []
    reader, memo = NumberReader(9, bad=(4, 8), delay=asked.append), Memo()
    read(NODE, reader, epochs(0), np.array([3]), pool, memo)
    with pytest.raises(NodeFailure) as caught:
        read(NODE, reader, epochs(0, 0, 0, 0), np.array([3, 4, 5, 8]), pool, memo)
    assert {i: str(e) for i, e in caught.value.failures.items()} == {
        1: "number 4 is bad", 3: "number 8 is bad",
    }  # fmt: skip
    assert caught.value.is_of_samples
    assert numbers(read(NODE, reader, epochs(0, 0), np.array([5, 3]), pool, memo)) == [5, 3]
    assert sorted(asked) == [3, 4, 5, 8]


def test_a_batch_of_several_types_is_a_failure_of_the_reader(pool):
    class Mixed(NumberReader):
        def load(self, index):
            return (np.zeros(1, [np.int16, np.int32][index]),)

    with pytest.raises(NodeFailure, match="same data type") as caught:
        read(NODE, Mixed(2), epochs(0, 0), np.array([0, 1]), pool)
    assert not caught.value.is_of_samples


def test_only_readers_that_are_often_cheap_have_a_cost():
    reader = NumberReader(9)
    assert cost_of(reader) is None
    reader.often_cheap = True
    assert isinstance(cost_of(reader), Cost)
