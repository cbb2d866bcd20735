"""Running sources: the samples that were drawn are read, and what the user gave is handed over."""

import numpy as np
import pytest
from engine.tasks.identities import sample_ids
from support.nodes import rows, source_node
from support.numbers import NumberReader

from jdali._batches import Provenance
from jdali.engine.steps.reader_op import ReaderRunner, SourceRunner
from jdali.engine.steps.runner import StepContext
from jdali.engine.steps.values import Values
from jdali.engine.tasks.batch_task import BatchTask, SourceData
from jdali.engine.workers.pool import Pool
from jdali.readers.order.epochs import SampleRefs


@pytest.fixture
def pool():
    made = Pool(1)
    yield made
    made.close()


def task(refs=None, data=None):
    return BatchTask(sample_ids(2), np.ones(2, bool), refs or {}, data or {})


def test_a_reader_reads_what_was_drawn_and_not_the_identities(pool):
    node = source_node()
    env = Values()
    env.drawn[node] = Provenance.named(["file 4", "file 2"])
    refs = {"source": SampleRefs(np.zeros(2, np.uint32), np.array([4, 2]), np.zeros(2, bool))}
    ReaderRunner(node, node.op, NumberReader(9)).run(env, sample_ids(2), StepContext(pool, None, task(refs)))
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
    context = StepContext(pool, None, task(data={"source": SourceData(outputs, ("HW", ""))}))
    SourceRunner(node).run(env, sample_ids(2), context)
    first, second = (env[value] for value in node.outputs)
    assert (rows(first), first.layout()) == ([[[1]], [[2, 3]]], "HW")
    assert (rows(second), second.layout()) == ([5, 6], "")
