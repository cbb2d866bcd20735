"""The loop over steps: their order, what is held around each, the end of values, and failures."""

import contextlib

import pytest
from engine.tasks.identities import sample_ids
from support.nodes import batch, node_of, rows, source_node

from jdali.engine.failure import NodeFailure
from jdali.engine.make import PreparedStep, make
from jdali.engine.steps.runner import StepContext
from jdali.engine.steps.values import Values
from jdali.engine.workers.pool import Pool
from jdali.graph import WHOLE_BATCH, Graph


@pytest.fixture
def pool():
    made = Pool(1)
    yield made
    made.close()


class Chain:
    """Two operators after a source, each of which adds 1; the second reads what the first made."""

    def __init__(self):
        graph = Graph()
        self.data = source_node(graph, "data").outputs[0]
        self.first = node_of(graph, "copy", self.data)
        self.second = node_of(graph, "copy", self.first.outputs[0])
        self.env, self.parts = Values({self.data: batch(1, 2)}), {WHOLE_BATCH: sample_ids(2)}
        self.held, self.log = [], []

    def make(self, pool, *, fails=None):
        steps = []
        for number, node in enumerate([self.first, self.second]):

            def run(env, ids, context, node=node):
                self.log.append((node, [*self.held]))
                if node is fails:
                    raise NodeFailure.of(node, ValueError("no"))
                env[node.outputs[0]] = batch(*(row + 1 for row in rows(env[node.inputs[0]])))

            steps.append(PreparedStep((node,), run, last_uses=node.inputs, number=number))
        make(steps, self.env, self.parts, StepContext(pool), enter=self._hold)

    @contextlib.contextmanager
    def _hold(self, step):
        self.held.append(step.number)
        yield
        self.held.remove(step.number)


def test_steps_run_in_order_and_values_end_with_their_last_use(pool):
    chain = Chain()
    chain.make(pool)
    assert chain.log == [(chain.first, [0]), (chain.second, [1])]
    assert rows(chain.env[chain.second.outputs[0]]) == [3, 4]
    assert list(chain.env) == [chain.second.outputs[0]]


def test_a_failure_knows_its_step_and_ends_the_batch(pool):
    chain = Chain()
    with pytest.raises(NodeFailure) as caught:
        chain.make(pool, fails=chain.first)
    assert caught.value.step == (chain.first,)
    assert [node for node, _ in chain.log] == [chain.first]
    assert list(chain.env) == [chain.data]
