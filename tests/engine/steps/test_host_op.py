"""Operators of one sample on the host: arguments of each sample, order and errors."""

import threading

import numpy as np
import pytest
from engine.identities import sample_ids
from support.nodes import batch, node_of, rows, source_node
from support.pictures import noise, png

from jdali._operators.record import REGISTRY
from jdali._system.devices import host_device
from jdali.engine.failure import NodeFailure
from jdali.engine.steps.adapters import runner_of
from jdali.engine.steps.host_op import HostOpRunner
from jdali.engine.steps.program import ProgramBudget
from jdali.engine.steps.values import Values
from jdali.engine.workers import Pool
from jdali.graph import Graph, step_of


@pytest.fixture
def pool():
    made = Pool(2)
    yield made
    made.close()


def peek(*encoded):
    """A node of `peek_image_shape`, with values for its input."""
    graph = Graph()
    (data,) = source_node(graph).outputs
    node = node_of(graph, "peek_image_shape", data)
    return node, Values({data: batch(*encoded)})


def bitmap(height, width):
    """The header of a BMP file."""
    header = np.zeros(54, np.uint8)
    header[:2] = list(b"BM")
    header[14] = 40
    header[18:26] = np.array([width, height], "<i4").view(np.uint8)
    header[26], header[28] = 1, 24
    return header


def run(node, env, pool):
    count = len(env[node.data_inputs[0]])
    HostOpRunner(node, node.op, seed=1).run(env, sample_ids(count), pool)
    return rows(env[node.outputs[0]])


def test_each_sample_by_itself_in_order(pool):
    assert run(*peek(bitmap(5, 7), bitmap(2, 3), bitmap(9, 1)), pool) == [[5, 7, 3], [2, 3, 3], [9, 1, 3]]


def test_all_samples_that_failed_are_named(pool):
    node, env = peek(np.zeros(9, np.uint8), bitmap(2, 3), np.ones(9, np.uint8))
    with pytest.raises(NodeFailure) as caught:
        run(node, env, pool)
    assert set(caught.value.failures) == {0, 2}
    assert caught.value.node is node


def test_operators_with_effects_run_in_order_in_one_thread(pool):
    calls = []

    def function(value):
        calls.append((int(value), threading.get_ident()))
        return value + 1

    graph = Graph()
    (data,) = source_node(graph).outputs
    node = graph.add(
        REGISTRY["python_function"],
        (data,),
        {"function": function},
        device="cpu",
        num_outputs=1,
        where="file.py:2",
    )
    runner = HostOpRunner(node, node.op, seed=1)
    env = Values({data: batch(*range(20))})
    runner.run(env, sample_ids(20), pool)
    assert rows(env[node.outputs[0]]) == list(range(1, 21))
    assert calls == [(i, threading.get_ident()) for i in range(20)]
    assert runner.at_once == 1


def test_a_plan_serves_again_for_the_same_sizes_only(pool):
    """Of a decoder, whose windows follow from the sizes in the headers."""
    graph = Graph()
    (data,) = source_node(graph).outputs
    node = node_of(graph, "decoders.image_crop", data, crop=(2, 5))
    runner = runner_of(step_of(node), seed=1, device=host_device(), max_batch=2, budget=ProgramBudget(None))
    for heights in ([4, 4], [4, 4], [4, 6], [6], [4, 4]):
        pictures = [noise(height, 5, 3) for height in heights]
        env = Values({data: batch(*(np.frombuffer(png(picture), np.uint8) for picture in pictures))})
        runner.run(env, sample_ids(len(heights)), pool)
        wanted = [picture[len(picture) // 2 - 1 : len(picture) // 2 + 1] for picture in pictures]
        np.testing.assert_equal(env[node.outputs[0]].to_samples(), wanted)
