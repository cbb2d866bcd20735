"""What a batch that is made again does not read or compute twice."""

import numpy as np
import pytest
from engine.tasks.identities import sample_ids
from support.nodes import node_of, rows, source_node

from jdali.engine.recovery.memo import Kept, Memo, follows_its_position
from jdali.engine.tasks.sample_ids import SampleIds
from jdali.graph import Graph
from jdali.readers.base import stores
from jdali.tensors import TensorList


def listed(column):
    return rows(TensorList.from_store(column, "cpu"))


def columns(*numbers):
    return stores([(np.array([n]), np.array([n, -n])) for n in numbers], 2)


def test_kept_samples_are_selected_by_what_they_are():
    kept = Kept.nothing(2)
    kept.add(["a", "b"], columns(1, 2))
    kept.add(["c"], columns(3))
    first, second = kept.select(["c", "a", "c"])
    assert listed(first) == [[3], [1], [3]]
    assert listed(second) == [[3, -3], [1, -1], [3, -3]]
    with pytest.raises(KeyError):
        kept.select(["d"])


def test_a_sample_is_worked_on_once_up_to_another_in_its_position():
    graph = Graph()
    one, other = source_node(graph, "one"), source_node(graph, "other")
    memo, ids, calls = Memo(), sample_ids(3), []

    def work(i):
        calls.append(i)
        return 10 * i

    for _ in range(2):
        assert [memo.remembering(one, ids, work)(i) for i in range(3)] == [0, 10, 20]
    assert calls == [0, 1, 2]
    memo.remembering(other, ids, work)(0)  # another operator
    assert calls == [0, 1, 2, 0]
    memo.forget({1})
    branch = SampleIds(ids.epoch[1:], ids.index[1:], ids.position[1:])  # positions 1 and 2
    assert memo.remembering(one, branch, work)(1) == 20
    assert calls == [0, 1, 2, 0]
    memo.remembering(one, branch, work)(0)
    assert calls == [0, 1, 2, 0, 0]


def test_batches_forget_positions_and_reads_do_not():
    memo = Memo()
    memo.batches[0], memo.read[0] = Kept.nothing(2), Kept.nothing(2)
    memo.batches[0].add([0, 1], columns(5, 6))
    memo.read[0].add([(0, 5), (0, 6)], columns(5, 6))
    memo.forget({0})
    assert set(memo.batches[0].rows) == {1}
    assert set(memo.read[0].rows) == {(0, 5), (0, 6)}


def test_what_mixes_positions_is_not_kept():
    graph = Graph()
    (data,) = source_node(graph).outputs
    flipped = node_of(graph, "flip", data)
    assert follows_its_position(flipped)
    permuted = node_of(graph, "permute_batch", data, indices=[1, 0])
    assert not follows_its_position(permuted)
    assert not follows_its_position(node_of(graph, "flip", permuted.outputs[0]))
    assert not follows_its_position(node_of(graph, "flip", data, horizontal=permuted.outputs[0]))
