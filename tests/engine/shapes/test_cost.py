"""The cost model: elements of values, and time that is linear in them."""

import numpy as np
import pytest
from support.nodes import node_of, source_node

from jdali.engine.shapes import cost
from jdali.graph import Graph, compiled, step_of


@pytest.fixture
def stage():
    graph = Graph()
    return step_of(node_of(graph, "flip", source_node(graph).outputs[0]))


def test_elements_of_empty_values_and_numbers_count_as_one():
    counted = cost.elements([np.array([[2, 3], [0, 5]]), np.zeros((2, 0), np.int64)])
    assert counted.tolist() == [[6, 1], [5, 1]]


def test_large_sizes_do_not_overflow():
    assert cost.elements([np.full((1, 4), 2**20, np.int64)])[0, 0] == 2.0**80


def test_values_are_inputs_and_then_outputs(stage):
    assert [id(v) for v in cost.values_of(stage)] == [id(stage.inputs[0]), id(stage.nodes[0].outputs[0])]


def test_time_on_a_cpu_is_that_of_the_operator_and_of_copies(stage):
    op = compiled(stage.nodes[0])
    assert op.free_padding == "none"
    true, padded = np.array([[100.0, 100.0]]), np.array([[160.0, 160.0]])
    (seconds,) = cost.StageCost(stage, "cpu").seconds(true, padded)
    # It reads and writes padded elements, what is copied in has none, and what is written lies in new memory.
    expected = op.nanoseconds * (160 + 160) + 0.2 * 100 + 0.2 * 160
    assert seconds == pytest.approx(expected * 1e-9, rel=1e-12)


def test_time_on_an_accelerator_is_that_of_memory(stage):
    true, padded = np.array([[100.0, 100.0]]), np.array([[160.0, 160.0]])
    (seconds,) = cost.StageCost(stage, "gpu").seconds(true, padded)
    assert seconds == pytest.approx((0.002 * 320 + 0.02 * 160) * 1e-9, rel=1e-12)
