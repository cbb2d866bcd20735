"""Calls of a stage's operators: prepared arguments, seeds, sizes from one operator to the next, refusals."""

import functools

import numpy as np
import pytest
from engine.tasks.identities import sample_ids
from support.nodes import batch, node_of, source_node

from jdali._numerics.random import seed_words
from jdali.engine.failure import NodeFailure
from jdali.engine.steps.stage_calls import StageCalls, prepared_args, seed_of
from jdali.engine.steps.values import Values
from jdali.graph import Graph, make_plan


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
    assert constant["keep_size"] is True
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
