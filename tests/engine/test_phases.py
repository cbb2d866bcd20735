"""Names of the parts of a pipeline whose time is counted."""

from support.nodes import engine_of, node_of
from support.numbers import NumberReader

from jdali._sources import SourceFeed
from jdali.engine.engine import Timing


def kinds(source, after=None):
    engine = engine_of(source, after=after)
    try:
        externals = [node for node, one in engine.sources.items() if isinstance(one, SourceFeed)]
        return [(part.kind, part.name) for part in Timing(engine.plan, externals).parts]
    finally:
        engine.close()


def test_a_reader_and_a_step_behind_it():
    found = kinds(NumberReader(4), lambda graph, value: node_of(graph, "copy", value).outputs[0])
    assert [kind for kind, _ in found] == ["source", "reading", "host", "device"]
    assert found[0][1] == "order of the samples"
    assert found[2][1] == "copy"
    assert found[3][1] == "waiting for nothing"


def test_a_source_of_the_user_is_the_first_part():
    assert kinds(SourceFeed([[0] * 3]))[:2] == [
        ("source", "source"),
        ("samples", "external_source"),
    ]  # its name, and its operator
