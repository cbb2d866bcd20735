"""Stages on several devices: which ones, and how their samples are shared out."""

import jax
import pytest
from support.nodes import node_of, source_node

from jdali._batches import BatchSplit
from jdali._sources import SourceFeed
from jdali._system.devices import host_device
from jdali.engine.steps.adapters import runner_of
from jdali.engine.steps.program import ProgramBudget
from jdali.engine.steps.sharded import Spread, spread_stages
from jdali.graph import Graph, make_plan

DEVICES = jax.devices()


def split(*parts):
    return BatchSplit(len(parts), tuple((i, tuple(DEVICES[d] for d in held)) for i, held in enumerate(parts)))


def test_parts_are_alike():
    spread = Spread.over(split((0,), (1,)), 6)
    assert spread.per_part == 3
    assert str(spread) == "2 devices, 2 parts of 3 samples"
    copied = Spread.over(split((0, 1), (2, 3)), 6)
    assert str(copied) == "4 devices, 2 parts of 3 samples, each computed on 2 devices"


@pytest.mark.parametrize(
    ("parts", "rows"),
    [(split((0,), (1,)), 5), (split((0, 1), (2,)), 6), (split(), 6)],
    ids=["rows", "devices", "none"],
)
def test_what_cannot_be_shared_out_evenly_stays(parts, rows):
    assert Spread.over(parts, rows) is None


def chosen(define, splits, batch_size=4):
    """Names of the operators of stages that run on several devices."""
    graph = Graph()
    outputs = define(graph, source_node(graph).outputs[0])
    plan = make_plan(graph.nodes, outputs, one_device=True)
    options = {
        "seed": 1,
        "device": host_device(),
        "max_batch": batch_size,
        "budget": ProgramBudget(),
        "source": SourceFeed([]),
    }
    runners = [runner_of(step, **options) for step in plan.steps]
    spread_stages(plan, runners, batch_size, splits)
    return [
        " ".join(node.op.name for node in step.nodes)
        for step, runner in zip(plan.steps, runners, strict=True)
        if "parts" in str(getattr(runner, "where", ""))
    ]


def flip(graph, value):
    return [node_of(graph, "flip", value).outputs[0]]


def flip_of_normalized(graph, value):
    return flip(graph, node_of(graph, "normalize", value, batch=True).outputs[0])


def test_stages_run_where_their_outputs_are_wanted():
    two = split((0,), (1,))
    assert chosen(flip, [two]) == ["flip"]
    assert chosen(flip, [None]) == []
    assert chosen(flip, [two], batch_size=3) == []


def test_what_needs_the_whole_batch_in_one_array_does_not():
    assert chosen(flip_of_normalized, [split((0,), (1,))]) == ["flip"]
