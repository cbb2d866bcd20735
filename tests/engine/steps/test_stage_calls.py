"""Calls of a stage's operators: prepared arguments, seeds, sizes from one operator to the next, refusals."""

import functools

import numpy as np
import pytest
from engine.identities import sample_ids
from support.nodes import batch, node_of, rows, source_node

from jdali._batches import Rising
from jdali._numerics.random import seed_words
from jdali._operators.call import Converted
from jdali._system.devices import host_device
from jdali.engine.failure import NodeFailure
from jdali.engine.steps.program import ProgramBudget
from jdali.engine.steps.stage import StageRunner
from jdali.engine.steps.stage_calls import StageCalls, prepared_args, seed_of
from jdali.engine.steps.values import Values
from jdali.engine.workers import Pool
from jdali.graph import Graph, make_plan, step_of


@pytest.fixture
def cropped_and_flipped():
    """The value of a source, and a stage that crops and flips it."""
    graph = Graph()
    (data,) = source_node(graph).outputs
    crop = node_of(graph, "crop", data, crop=(5, 3))
    flip = node_of(graph, "flip", crop.outputs[0], horizontal=1)
    *_, stage = make_plan(graph.nodes, [flip.outputs[0]], one_device=True).steps
    assert stage.nodes == (crop, flip)
    return data, stage


def plan(stage, data, samples):
    env = Values({data: batch(*samples, layout="HWC")})
    calls = StageCalls(stage, 1)
    keys = functools.partial(calls.keys, sample_ids(len(samples)))
    return calls.plan({data: env[data].spec}, env, len(samples), {}, keys)


def test_an_operator_is_planned_for_the_sizes_that_the_one_before_makes(cropped_and_flipped):
    data, stage = cropped_and_flipped
    calls = plan(stage, data, [np.zeros((9, 9, 1), np.uint8), np.zeros((7, 8, 2), np.uint8)])
    assert [call.outputs[0].extents.tolist() for call in calls] == [[[5, 3, 1], [5, 3, 2]]] * 2
    assert {call.outputs[0].dtype for call in calls} == {np.dtype(np.uint8)}


def test_a_refusal_names_the_operator_and_the_sample(cropped_and_flipped):
    data, stage = cropped_and_flipped
    with pytest.raises(NodeFailure) as caught:
        plan(stage, data, [np.zeros((9, 9, 1)), np.zeros((2, 9, 1))])
    assert caught.value.node is stage.nodes[0]
    assert set(caught.value.failures) == {1}


def test_constants_are_converted_once_and_values_of_the_graph_are_left_out():
    graph = Graph()
    (data,) = source_node(graph).outputs
    (angle,) = source_node(graph, "angles").outputs
    constant = prepared_args(node_of(graph, "rotate", data, angle=30, keep_size=True))
    assert constant["keep_size"] == Converted(True)
    assert (constant["angle"].value, constant["angle"].value.dtype) == (30, np.float32)
    assert "angle" not in prepared_args(node_of(graph, "rotate", data, angle=angle))


def test_seeds_are_the_operators_own_or_the_pipelines_with_a_stream_a_node():
    graph = Graph()
    node = source_node(graph)
    own = source_node(graph, "own")
    own.seed = 7
    words, stream = seed_of(node, 3)
    assert (words.tolist(), stream) == (seed_words(3).tolist(), node.id + 1)
    words, stream = seed_of(own, 3)
    assert (words.tolist(), stream) == (seed_words(7).tolist(), 0)


# --- values that rise with what batches need ------------------------------------------------------
def test_a_stage_never_goes_back_to_less():
    random = np.random.default_rng(3)
    small, alike, large = (random.integers(0, 256, (n, 20, 1)).astype(np.uint8) for n in (19, 20, 60))

    def run(samples):
        graph = Graph()
        (data,) = source_node(graph).outputs
        node = node_of(graph, "resize", data, size=(21, 21))
        runner = StageRunner(step_of(node), seed=1, max_batch=1, device=host_device(), budget=ProgramBudget())
        values, pool = [], Pool(1)
        for sample in samples:
            env = Values({data: batch(sample, layout="HWC")})
            runner.run(env, sample_ids(1), pool)
            values += rows(env[node.outputs[0]])
        pool.close()
        return values, [rising_of(key) for key in runner.programs]

    first, risen = run([small, large, small, alike])
    # The third batch has the plan of the first one, and its program; the last one has a program with room for more.
    assert len(risen) == 3
    assert risen[0].value < risen[1].value == risen[2].value <= risen[0].most
    alone, varying = run([alike])
    assert varying == risen[:1]
    assert alone == first[3:]
    assert first[0] == first[2]


def rising_of(key):
    """The one `Rising` value in the key of a program."""
    (call,) = key[0].calls
    (value,) = (value for _, value in call.static if isinstance(value, Rising))
    return value
