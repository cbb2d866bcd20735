"""Running sources: the samples that were drawn are read, and what the user gave is handed over.

Errors say which samples failed.
"""

import threading

import numpy as np
import pytest
from engine.identities import sample_ids
from support.nodes import rows, source_node
from support.numbers import NumberReader

from jdali._batches import Provenance
from jdali.engine.failure import NodeFailure
from jdali.engine.steps.reader_op import ReaderRunner, SourceRunner, policy_of, read
from jdali.engine.steps.values import Values
from jdali.engine.task import BatchTask, SourceData
from jdali.engine.workers import Pool, ThreadPolicy
from jdali.readers.order.epochs import SampleRefs
from jdali.tensors import TensorList

NODE = source_node()
IN_POOL = ThreadPolicy(tries_here=False)


@pytest.fixture
def pool():
    made = Pool(2)
    yield made
    made.close()


def task(refs=None, data=None):
    return BatchTask(sample_ids(2), np.ones(2, bool), refs or {}, data or {})


def test_a_reader_reads_what_was_drawn_and_not_the_identities(pool):
    node = source_node()
    env = Values()
    env.drawn[node] = Provenance.named(["file 4", "file 2"])
    refs = {"source": SampleRefs(np.zeros(2, np.uint32), np.array([4, 2]), np.zeros(2, bool))}
    env.task = task(refs)
    ReaderRunner(node, node.op, NumberReader(9)).run(env, sample_ids(2), pool)
    value = env[node.outputs[0]]
    assert rows(value) == [[4], [2]]
    assert list(value.provenance) == ["file 4", "file 2"]


def test_readers_that_are_often_cheap_may_be_brief():
    node, reader = source_node(), NumberReader(9)
    assert not ReaderRunner(node, node.op, reader).policy.may_be_brief
    reader.often_cheap = True
    assert ReaderRunner(node, node.op, reader).policy.may_be_brief


def test_a_source_hands_over_each_output_with_its_layout(pool):
    node = source_node(outputs=2)
    env = Values()
    env.drawn[node] = Provenance.nowhere(2)
    outputs = [np.array([[1]]), np.array([[2, 3]])], [np.array(5), np.array(6)]
    env.task = task(data={"source": SourceData(outputs, ("HW", ""))})
    SourceRunner(node).run(env, sample_ids(2), pool)
    first, second = (env[value] for value in node.outputs)
    assert (rows(first), first.layout()) == ([[[1]], [[2, 3]]], "HW")
    assert (rows(second), second.layout()) == ([5, 6], "")


def numbers(columns):
    (column,) = columns
    return [sample.item() for sample in TensorList.from_store(column, "cpu").to_samples()]


@pytest.mark.parametrize("tries_here", [False, True], ids=["in the pool", "where it is cheaper"])
def test_samples_come_in_the_order_of_their_indices(pool, tries_here):
    indices, policy = np.arange(200)[::-1], ThreadPolicy(tries_here=tries_here)
    found = read(NODE, NumberReader(200), indices, pool, policy)
    assert numbers(found) == indices.tolist()


def test_failures_are_by_position(pool):
    with pytest.raises(NodeFailure) as caught:
        read(NODE, NumberReader(9, bad=(4, 8)), np.array([3, 4, 5, 8]), pool, IN_POOL)
    assert {i: str(e) for i, e in caught.value.failures.items()} == {
        1: "number 4 is bad", 3: "number 8 is bad",
    }  # fmt: skip
    assert caught.value.is_of_samples


def test_a_batch_of_several_types_is_a_failure_of_the_reader(pool):
    class Mixed(NumberReader):
        def load(self, index):
            return (np.zeros(1, [np.int16, np.int32][index]),)

    with pytest.raises(NodeFailure, match="same data type") as caught:
        read(NODE, Mixed(2), np.array([0, 1]), pool, IN_POOL)
    assert not caught.value.is_of_samples


def threads_of(pool, monkeypatch, done):
    """The threads that read ten samples of which the policy reads `done` groups here, and what it learned."""
    threads, policy, noted = [], ThreadPolicy(), []
    monkeypatch.setattr(policy, "note_pool", lambda seconds, samples: noted.append(samples))

    def work_here(function, samples):
        assert samples == [1, 9]
        for i in range(done):
            function(i)
        return done

    monkeypatch.setattr(policy, "work_here", work_here)
    reader = NumberReader(10, delay=lambda number: threads.append(threading.current_thread().name))
    reader.often_cheap = True
    found = read(NODE, reader, np.arange(10), pool, policy)
    assert numbers(found) == list(range(10))
    return {name.startswith("jdali-worker") for name in threads}, noted


def test_the_policy_decides_what_is_read_in_this_thread(pool, monkeypatch):
    assert threads_of(pool, monkeypatch, 0) == ({True}, [10])
    assert threads_of(pool, monkeypatch, 1) == ({True, False}, [9])
    assert threads_of(pool, monkeypatch, 2) == ({False}, [])


def test_a_pool_that_is_here_leaves_nothing_to_decide(pool, monkeypatch):
    for name in ("work_here", "note_pool"):
        monkeypatch.setattr(ThreadPolicy, name, lambda *_: pytest.fail("it was asked"))
    found = read(NODE, NumberReader(9), np.array([3, 4]), pool.here(), ThreadPolicy())
    assert numbers(found) == [3, 4]


def test_only_readers_that_are_often_cheap_are_read_from_here():
    reader = NumberReader(9)
    assert (policy_of(reader).tries_here, policy_of(reader).may_be_brief) == (False, False)
    reader.often_cheap = True
    assert (policy_of(reader).tries_here, policy_of(reader).may_be_brief) == (True, True)
