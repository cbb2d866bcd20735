"""Compiled stages: values, programs by padded shape, seeds, and errors of `setup`."""

import numpy as np
import pytest
from engine.identities import sample_ids
from support.nodes import batch, node_of, rows, source_node

from jdali._numerics.random import seed_words
from jdali._system.devices import host_device
from jdali.engine.failure import NodeFailure
from jdali.engine.steps.program import ProgramBudget
from jdali.engine.steps.stage import StageRunner
from jdali.engine.steps.values import Values
from jdali.engine.workers import Pool
from jdali.graph import Graph, step_of


@pytest.fixture
def pool():
    made = Pool(1)
    yield made
    made.close()


def stage_of(operator, **args):
    """A runner of one operator, and the value of its input."""
    graph = Graph()
    (data,) = source_node(graph).outputs
    node = node_of(graph, operator, data, **args)
    runner = StageRunner(step_of(node), seed=1, max_batch=3, device=host_device(), budget=ProgramBudget())
    return runner, data, node.outputs[0]


def test_samples_keep_their_positions_and_programs_serve_again(pool):
    runner, data, value = stage_of("flip", horizontal=1)
    small, other = np.arange(6).reshape(2, 3, 1), np.arange(6, 12).reshape(2, 3, 1)
    large = np.arange(100).reshape(10, 10, 1)
    for samples in ([small, large, other], [large, small, other], [other, other, large]):
        env = Values({data: batch(*samples, layout="HWC")})
        runner.run(env, sample_ids(3), pool)
        assert rows(env[value]) == [sample[:, ::-1].tolist() for sample in samples]
    assert 1 <= len(runner.programs) <= 2
    assert sum(program.samples for program in runner.programs.values()) == 9


def test_a_sample_that_setup_refuses_is_the_failure_of_its_operator(pool):
    runner, data, value = stage_of("crop", crop=(5, 5))
    env = Values({data: batch(np.zeros((9, 9, 1)), np.zeros((2, 9, 1)), layout="HWC")})
    with pytest.raises(NodeFailure) as caught:
        runner.run(env, sample_ids(2), pool)
    assert caught.value.node is value.source
    assert set(caught.value.failures) == {1}
    assert not runner.programs


def test_seeds_change_and_nothing_is_compiled():
    runner, _, value = stage_of("noise.gaussian")
    stream = value.source.id + 1
    assert runner.calls.seed_array.tolist() == [[*seed_words(1), stream]]
    runner.set_seed(5)
    assert runner.calls.seed_array.tolist() == [[*seed_words(5), stream]]
    runner.set_seed(6, 9)
    assert runner.calls.seed_array.tolist() == [[*seed_words(6), 9]]
