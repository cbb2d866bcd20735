"""Outlines of stages: equal where the same is computed, and without the graph."""

import gc
import weakref

import numpy as np
from support.nodes import node_of, source_node

from jdali.engine.steps.outline import STAGE, Slot, StageOutline
from jdali.graph import WHOLE_BATCH, Graph, Stage


def stage_of(*steps, before=0, constant=None):
    """A chain of operators on one input, in a graph with `before` other nodes."""
    graph = Graph()
    for i in range(before):
        source_node(graph, f"other{i}")
    (value,) = inputs = source_node(graph).outputs
    nodes = []
    for name, args in steps:
        nodes.append(node_of(graph, name, value, *([] if constant is None else [constant]), **args))
        (value,) = nodes[-1].outputs
    return Stage(0, 0, "cpu", WHOLE_BATCH, tuple(nodes), inputs, (value,))


def test_slots_say_where_values_come_from():
    graph = Graph()
    (image,), (angle,) = source_node(graph).outputs, source_node(graph, "angle").outputs
    flipped = node_of(graph, "flip", image)
    turned = node_of(graph, "rotate", flipped.outputs[0], angle=angle)
    stage = Stage(0, 0, "cpu", WHOLE_BATCH, (flipped, turned), (image,), turned.outputs)
    outline = StageOutline.of(stage)
    assert [o.inputs for o in outline.operators] == [(Slot(STAGE, 0),), (Slot(0, 0),)]
    assert outline.operators[1].arguments == (("angle", None),)  # its values are handed over
    assert (outline.inputs, outline.outputs) == (1, (Slot(1, 0),))


def test_stages_of_other_graphs_have_the_same_outline():
    steps = [("flip", {"horizontal": 1}), ("noise.gaussian", {})]
    one, other = StageOutline.of(stage_of(*steps)), StageOutline.of(stage_of(*steps, before=3))
    assert one == other
    assert hash(one) == hash(other)
    assert one.random == (1,)
    assert one != StageOutline.of(stage_of(*reversed(steps)))


def test_constants_are_compared_by_value_and_type():
    def outline(constant):
        return StageOutline.of(stage_of(("stack", {}), constant=constant))

    assert outline(np.ones(2, np.int32)) == outline(np.ones(2, np.int32))
    assert outline(np.ones(2, np.int32)) != outline(np.zeros(2, np.int32))
    assert outline(np.ones(2, np.int32)) != outline(np.ones(2, np.float32))


def test_an_outline_keeps_no_node():
    stage = stage_of(("flip", {}))
    outline, node = StageOutline.of(stage), weakref.ref(stage.nodes[0])
    del stage
    gc.collect()
    assert node() is None
    assert outline.operators[0].op.name == "flip"
