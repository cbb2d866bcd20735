"""Requests of calls: built from a node, its constants and what is known of the batches that go in."""

import numpy as np
import pytest
from support.nodes import node_of, source_node

from jdali._batches import BatchSpec
from jdali._operators.call import Constant, plan_call
from jdali.graph.node import Graph
from jdali.graph.request import request_of


def spec(*shapes, dtype=np.uint8, layout=""):
    return BatchSpec(np.array(shapes, np.int64).reshape(len(shapes), -1), np.dtype(dtype), layout)


def scalars(count):
    return BatchSpec(np.zeros((count, 0), np.int64), np.dtype(np.float32))


@pytest.fixture
def sources():
    graph = Graph()
    return graph, source_node(graph, "one").outputs[0], source_node(graph, "other").outputs[0]


def test_arguments_are_values_or_traced(sources):
    graph, image, angle = sources
    node = node_of(graph, "brightness", image, brightness=angle, brightness_shift=0.5)
    images = spec((4, 4, 3), (5, 5, 3), layout="HWC")
    values = np.float32([1, 2])
    args = {"brightness_shift": Constant(0.5)}
    known = request_of(node, 2, args=args, specs={image: images}, values={"brightness": values})
    assert known.args["brightness"].values is values
    assert (known.args["brightness_shift"], dict(known.traced)) == (args["brightness_shift"], {})
    traced = request_of(node, 2, args=args, specs={image: images, angle: scalars(2)})
    assert list(traced.args) == ["brightness_shift"]
    assert traced.traced["brightness"].shape == (2, 0)
    for request in (known, traced):
        assert (request.op, request.specs, request.batch_size) == (node.op, [images], 2)
        assert plan_call(request).outputs[0].extents.tolist() == [[4, 4, 3], [5, 5, 3]]


def test_constant_inputs_are_the_same_for_all_samples(sources):
    graph, image, _ = sources
    offset = np.array([1, 2, 3], np.int16)
    node = node_of(graph, "math.add", image, offset)
    request = request_of(node, 2, args={}, specs={image: spec((4, 3), (2, 3))}, constants={"before": image})
    assert [s.extents.tolist() for s in request.specs] == [[[4, 3], [2, 3]], [[3], [3]]]
    assert request.specs[1].dtype == np.int16
    name = node.op.input(1).name
    assert request.input_values[name].tolist() == [[1, 2, 3]] * 2
    assert request.constants[name] is offset
    assert request.constants["before"] is image


def test_an_input_that_is_an_argument_has_its_values(sources):
    graph, image, matrix = sources
    node = node_of(graph, "warp_affine", image, matrix)
    name, values = node.op.input(1).name, np.zeros((1, 2, 3), np.float32)
    specs = {image: spec((4, 4, 3), layout="HWC"), matrix: spec((2, 3), dtype=np.float32)}
    assert request_of(node, 1, args={}, specs=specs, values={name: values}).input_values[name] is values
    assert request_of(node, 1, args={}, specs=specs).input_values == {}


def test_arguments_by_frame_are_known_by_their_layout(sources):
    graph, image, factor = sources
    node = node_of(graph, "hue", image, hue=factor)
    frames = {image: spec((2, 4, 4, 3), layout="FHWC"), factor: spec((2,), dtype=np.float32, layout="F")}
    values = {"hue": np.float32([[1, 2]])}
    assert request_of(node, 1, args={}, specs=frames, values=values).by_frame == ["hue"]
    assert request_of(node, 1, args={}, specs={image: frames[image]}, values=values).by_frame == []
    assert request_of(node, 1, args={}, specs=frames | {factor: scalars(1)}).by_frame == []


def test_contents_stand_for_the_first_input(sources):
    graph, encoded, _ = sources
    node = node_of(graph, "brightness", encoded)
    contents = spec((4, 4, 3), layout="HWC")
    request = request_of(node, 1, args={}, specs={encoded: spec((100,))}, contents=contents)
    assert request.specs == [contents]
