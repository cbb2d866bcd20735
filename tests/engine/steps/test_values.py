"""Values of a batch: their memory, what they are made of, and as arguments of operators."""

import numpy as np
import pytest
from support.nodes import batch, node_of, source_node

from jdali import SampleError
from jdali._batches import Provenance
from jdali._operators.record import REGISTRY
from jdali.engine.steps.values import Values, argument_values, bytes_of, input_values
from jdali.graph import Graph
from jdali.tensors import TensorList


@pytest.fixture
def graph():
    return Graph()


def named(*names):
    samples = [np.zeros(2, np.uint8) for _ in names]
    return TensorList.from_samples(samples, "", "cpu", Provenance.named(names))


def test_memory_that_is_shared_counts_once(graph):
    one, other = source_node(graph, "a").outputs[0], source_node(graph, "b").outputs[0]
    whole = TensorList.from_dense(np.zeros((4, 3), np.float32))
    assert bytes_of([whole, whole.select(np.array([1, 0]))]) == 48
    env = Values({one: whole, other: batch(np.zeros(5, np.uint8))})
    env.note_bytes()
    assert env.most_bytes == 48 + 5


def test_origins_stay_known_of_what_was_dropped(graph):
    (data,), (other,) = source_node(graph, "a").outputs, source_node(graph, "b").outputs
    flip = node_of(graph, "flip", data, horizontal=other)
    env = Values({data: named("x", "y"), other: named("p", "q")})
    env.scaled[data] = None
    env.drop([data, other])
    assert data not in env
    assert data not in env.scaled
    made_of = env.made_of(flip)
    assert made_of[1] == "y"  # data give the name
    assert made_of.files(1) == ["y", "q"]
    assert env.made_of(source_node(graph, "c")) is None


def test_sources_give_what_was_drawn(graph):
    node, drawn = source_node(graph), Provenance.named("ab")
    env = Values()
    env.drawn[node] = drawn
    assert env.made_of(node_of(graph, "flip", node.outputs[0])) is drawn


def test_values_of_arguments():
    op = REGISTRY["brightness"]
    np.testing.assert_array_equal(
        argument_values(batch(*np.float32([0.5, 2.0])), op, "brightness"), [0.5, 2.0]
    )
    with pytest.raises(TypeError, match="takes a tensor of float32, got int64"):
        argument_values(batch(1, 2), op, "brightness")
    ragged = argument_values(batch(np.float32([1.0]), np.float32([2.0, 3.0])), op, "brightness")
    assert [one.tolist() for one in ragged] == [[1.0], [2.0, 3.0]]


def test_arrays_stand_for_arguments(graph):
    (value,) = source_node(graph).outputs
    env = Values()
    env.arrays[value] = np.float32([3.0])
    assert env.of_argument(value, REGISTRY["brightness"], "brightness").tolist() == [3.0]


def test_inputs_that_are_arguments_are_alike():
    op = REGISTRY["flip"]
    np.testing.assert_array_equal(input_values(batch([1, 2], [3, 4]), op, "x"), [[1, 2], [3, 4]])
    with pytest.raises(SampleError, match="sample 1 has shape") as caught:
        input_values(batch([1, 2], [3, 4, 5]), op, "x")
    assert caught.value.sample == 1
