"""The runner of a step follows from the kind of its operator alone."""

import types

import pytest
from support.nodes import node_of, source_node
from support.numbers import NumberReader

from jdali._sources import SourceFeed
from jdali._system.devices import host_device
from jdali.engine.steps.adapters import runner_of
from jdali.engine.steps.host_batch_op import HostBatchOpRunner
from jdali.engine.steps.host_op import HostOpRunner, IndexOpRunner
from jdali.engine.steps.program import ProgramBudget
from jdali.engine.steps.reader_op import ReaderRunner, SourceRunner
from jdali.engine.steps.stage import StageRunner
from jdali.graph import Graph, HostStep, step_of


def make(step, **options):
    return runner_of(step, seed=1, device=host_device(), max_batch=2, budget=ProgramBudget(), **options)


@pytest.mark.parametrize(
    ("operator", "runner"),
    [
        ("flip", StageRunner),
        ("normalize", StageRunner),
        ("copy", IndexOpRunner),
        ("peek_image_shape", HostOpRunner),
        ("decoders.image", HostBatchOpRunner),
    ],
)
def test_runners_of_operators(operator, runner):
    graph = Graph()
    node = node_of(graph, operator, source_node(graph).outputs[0])
    assert type(make(step_of(node))) is runner


def test_what_gives_the_samples_says_how_they_come():
    step = HostStep(source_node(), 0)
    assert type(make(step, source=SourceFeed([]))) is SourceRunner
    assert type(make(step, source=NumberReader(3))) is ReaderRunner


def test_a_kind_that_it_does_not_know():
    node = source_node()
    node.op = types.SimpleNamespace(name="strange")
    with pytest.raises(TypeError, match="strange: the engine cannot run a SimpleNamespace"):
        make(HostStep(node, 0))
