"""Graphs on their way to another process: the same nodes under the same numbers, operators by name."""

import pickle

import numpy as np

import jdali
from jdali import fn
from jdali._operators.record import REGISTRY
from jdali._sources import SourceFeed
from jdali.graph.fingerprints import describe
from jdali.graph.node import WHOLE_BATCH, Graph
from jdali.graph.records import record_graph, reduced_operator


def nodes_of(pipe):
    return pipe.graph.nodes


@jdali.pipeline_def(batch_size=2, num_threads=1, seed=1, enable_conditionals=True)
def define():
    encoded, label = fn.readers.file(files=["a.jpg"], name="pictures")
    picture = fn.decoders.image(encoded) + np.float32([1, 2, 3])
    if fn.random.coin_flip(seed=5):
        if label > 3:
            picture = fn.flip(picture)
    else:
        picture = fn.rotate(picture, angle=fn.random.uniform(range=(0.0, 9.0)))
    return picture, label, fn.external_source(source=lambda: 1, name="numbers", num_outputs=1)[0]


class _Pickler(pickle.Pickler):
    reducer_override = staticmethod(reduced_operator)


def received(nodes):
    import io

    file = io.BytesIO()
    _Pickler(file).dump(record_graph(nodes, lambda runtime: runtime.remake()))
    graph = Graph()
    pickle.loads(file.getvalue()).add_to(graph)
    return graph.nodes


def test_nodes_are_the_same():
    nodes = nodes_of(define())
    copies = received(nodes)
    assert describe(copies, {}) == describe(nodes, {})
    for node, copy in zip(nodes, copies, strict=True):
        assert copy is not node
        assert copy.op is node.op
        for name in ("id", "name", "named", "device", "seed", "where", "preserve"):
            assert getattr(copy, name) == getattr(node, name)
        assert [o.name for o in copy.outputs] == [o.name for o in node.outputs]
        assert [v.source.id for v in copy.data_inputs] == [v.source.id for v in node.data_inputs]
        assert {k: v.source.id for k, v in copy.arg_inputs.items()} == {
            k: v.source.id for k, v in node.arg_inputs.items()
        }


def test_branches_are_the_same():
    def branches(nodes):
        numbers = {WHOLE_BATCH: 0}
        found = []
        for node in nodes:
            domain, path = node.domain, []
            while domain is not WHOLE_BATCH:
                path.append((domain.predicate.source.id, domain.predicate.index, domain.branch, domain.share))
                domain = domain.parent
            found.append((numbers.setdefault(node.domain, len(numbers)), path))
        return found

    nodes = nodes_of(define())
    assert branches(received(nodes)) == branches(nodes)
    assert len({number for number, _ in branches(nodes)}) > 3


def test_what_feeds_a_source_stays_where_it_is():
    source = next(node for node in received(nodes_of(define())) if node.name == "numbers")
    assert isinstance(source.runtime, SourceFeed)
    assert source.runtime.is_fed
    assert source.runtime.name == "numbers"


def test_a_parallel_function_runs_where_it_is_sent():
    pipe = jdali.Pipeline(batch_size=2, num_threads=1)
    with pipe:
        value = fn.external_source(name="in")
        pipe.set_outputs(fn.python_function(value, function=len, parallel=True))
    node = received(nodes_of(pipe))[-1]
    assert node.args["function"] is node.runtime
    assert node.runtime.each([[np.zeros(3)]]) == ([3], {})


def test_operators_go_by_name():
    assert reduced_operator(5) is NotImplemented
    make, arguments = reduced_operator(REGISTRY["flip"])
    assert arguments[0] == "flip"
    assert make(*arguments) is REGISTRY["flip"]
