"""Parts of a graph that run in worker processes: which ones they are, and how their samples are cut."""

from support.nodes import source_node

from jdali._sources import parallel_source
from jdali.graph import Graph


class Served(parallel_source.InWorkers):
    def __init__(self, name):
        self.name = name

    def remote(self):
        return f"remote {self.name}"

    def in_process(self):
        return self


class Workers:
    """In place of the processes."""

    size = 2

    def __init__(self, remote=(), **options):
        self.remote, self.options, self.calls = remote, options, []

    def submit(self, number, method, *arguments, **room):
        self.calls.append((number, method, arguments, room))


def test_only_nodes_that_want_workers_get_them(monkeypatch):
    monkeypatch.setattr(parallel_source, "CallbackWorkers", Workers)
    graph = Graph()
    nodes = [source_node(graph, name) for name in "abc"]
    options = {"workers": 2, "start_method": "spawn", "pickler": None, "timeout": 3.0, "seed": 5}
    assert parallel_source.start_workers(nodes, **options) is None
    nodes[0].runtime, nodes[2].runtime = Served("a"), Served("c")
    pool = parallel_source.start_workers(nodes, **options)
    assert pool.remote == ["remote a", "remote c"]
    assert pool.options == options
    nodes[2].runtime._call("run", 1, 2, samples=3)
    assert pool.calls == [(1, "run", (1, 2), {"samples": 3})]


def test_samples_are_cut_into_some_parts_for_each_worker():
    served = Served("a")
    served.attach(Workers(), 0)
    assert served._parts(0) == []
    assert served._parts(3) == [range(1), range(1, 2), range(2, 3)]
    parts = served._parts(20)  # 20 in 2 workers x 4: 3 samples each
    assert [list(part) for part in parts[-2:]] == [[15, 16, 17], [18, 19]]
    assert sum(map(len, parts)) == 20
